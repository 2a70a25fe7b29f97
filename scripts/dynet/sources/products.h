#ifndef DYNET_PRODUCTS_H_
#define DYNET_PRODUCTS_H_

// The products of LSTMs: of a weight matrix and a few columns, and sums of many outer products.
// Why: Eigen packs the left side at every call, which takes as long as a dozen columns' product.
// Test: tests/test_dynet_products.py::test_products_are_sums_of_products
// All matrices are stored by columns; `stride` is the distance from one column to the next.

#include <algorithm>
#include <vector>

namespace dynet {
namespace products {

// W floats that are added and multiplied at once. `Unaligned` is such a vector at any address; it
// is a struct because clang forgets the alignment of other types in templates.
template <int W> struct Floats;
template <> struct Floats<1> { typedef float Vector; struct Unaligned { float v; }; };
#define DYNET_FLOATS(W) \
  template <> struct Floats<W> { \
    typedef float Vector __attribute__((vector_size(W * sizeof(float)))); \
    struct __attribute__((packed, may_alias)) Unaligned { Vector v; }; \
  };
DYNET_FLOATS(4)
DYNET_FLOATS(8)
DYNET_FLOATS(16)
#undef DYNET_FLOATS

// WIDTH is the number of floats in a register. A tile of the result stays in registers: it is ROWS
// registers high and COLUMNS columns wide.
#if defined(__AVX512F__)
constexpr int WIDTH = 16, ROWS = 4, COLUMNS = 6;
#elif defined(__AVX__)
constexpr int WIDTH = 8, ROWS = 2, COLUMNS = 6;
#elif defined(__aarch64__)
constexpr int WIDTH = 4, ROWS = 4, COLUMNS = 6;
#else
constexpr int WIDTH = 4, ROWS = 2, COLUMNS = 4;
#endif

// Columns of the left side that are multiplied at a time, so that the cache holds them.
constexpr int DEPTH = 256;

// The right side of a product; v[k * row + j * column] is its element (k, j).
struct Right {
  const float* v;
  long row, column;
};

// A product that is added to a result: of a, m x inner elements, and b, inner x n elements.
struct Factors {
  int inner;
  const float* a;
  long a_stride;
  Right b;
  // The product without the first k columns of a and rows of b.
  Factors from(long k) const { return {inner - int(k), a + k * a_stride, a_stride, {b.v + k * b.row, b.row, b.column}}; }
};

// y += the sum of a * b, for R * W rows and N columns of y that begin at `row` and `column`.
template <int W, int R, int N>
void add_tile(const Factors* product, const Factors* end, long row, long column, float* y, long y_stride) {
  typedef typename Floats<W>::Vector Vector;
  typedef typename Floats<W>::Unaligned Unaligned;
  auto vector = [](const float* p) { return reinterpret_cast<const Unaligned*>(p)->v; };
  y += column * y_stride + row;
  Vector sums[N][R];
  for (int j = 0; j < N; ++j)
    for (int r = 0; r < R; ++r) sums[j][r] = vector(y + j * y_stride + r * W);
  for (; product != end; ++product) {
    const Right right = product->b;
    const long a_stride = product->a_stride;
    const float *a = product->a + row, *b = right.v + column * right.column;
    for (int k = product->inner; k > 0; --k, a += a_stride, b += right.row) {
      Vector of_a[R];
      for (int r = 0; r < R; ++r) of_a[r] = vector(a + r * W);
      for (int j = 0; j < N; ++j)
        for (int r = 0; r < R; ++r) sums[j][r] += of_a[r] * b[j * right.column];
    }
  }
  for (int j = 0; j < N; ++j)
    for (int r = 0; r < R; ++r) reinterpret_cast<Unaligned*>(y + j * y_stride + r * W)->v = sums[j][r];
}

// The same for all columns that begin at `column`.
template <int W, int R, int N = COLUMNS>
void add_tiles(const Factors* begin, const Factors* end, long row, long column, long n, float* y, long y_stride) {
  for (; column + N <= n; column += N) add_tile<W, R, N>(begin, end, row, column, y, y_stride);
  if constexpr (N > 1) add_tiles<W, R, N - 1>(begin, end, row, column, n, y, y_stride);
}

// The same for all rows that begin at `row`, with tiles as high as the rest allows.
template <int W = WIDTH, int R = ROWS>
void add_rows(const Factors* begin, const Factors* end, long row, long m, long n, float* y, long y_stride) {
  // rows of one number go column by column: compilers sum a few columns in another order than many
  for (; row + W * R <= m; row += W * R) add_tiles<W, R, W == 1 ? 1 : COLUMNS>(begin, end, row, 0, n, y, y_stride);
  if constexpr (R > 1) add_rows<W, 1>(begin, end, row, m, n, y, y_stride);
  else if constexpr (W > 4) add_rows<W / 2, 1>(begin, end, row, m, n, y, y_stride);
  else if constexpr (W > 1) add_rows<1, 1>(begin, end, row, m, n, y, y_stride);
}

// y += a * b; a has m x inner elements, b has inner x n.
inline void add_product(int m, int inner, int n, const float* a, long a_stride, Right b, float* y, long y_stride) {
  for (Factors left = {inner, a, a_stride, b}; left.inner > 0; left = left.from(DEPTH)) {
    Factors part = left;
    part.inner = std::min(left.inner, DEPTH);
    add_rows(&part, &part + 1, 0, m, n, y, y_stride);
  }
}

// A matrix that is the left side of many products, in panels of PANEL rows, each by columns without
// gaps. A product with a column or two reads adjacent numbers up to twice as fast.
struct Panels {
  const float* v;
  int m, inner;
};
constexpr int PANEL = WIDTH * ROWS;

// Calls f(first row, rows, panel) for each panel at `v`, which has `row_room` numbers per row.
template <class T, class F>
void each_panel(int m, long row_room, T* v, F f) {
  for (int row = 0; row < m; row += PANEL) f(row, std::min(PANEL, m - row), v + row * row_room);
}

// y += a * b, where the columns of b are `b_stride` apart.
inline void add_product(const Panels& a, int n, const float* b, long b_stride, float* y, long y_stride) {
  each_panel(a.m, a.inner, a.v, [&](int row, int rows, const float* panel) {
    add_product(rows, a.inner, n, panel, rows, {b, 1, b_stride}, y + row, y_stride);
  });
}

// Makes panels at `to` of a matrix; copy(first row, rows, panel) fills each.
template <class F>
Panels packed(int m, int inner, float* to, F copy) {
  each_panel(m, inner, to, copy);
  return {to, m, inner};
}

// y += the sum of products for m x n elements; a tile of y is read once for many small products.
inline void add_products(long m, long n, const std::vector<Factors>& all, float* y, long y_stride) {
  std::vector<Factors> group;
  int depth = 0;
  auto add_group = [&] {
    add_rows(group.data(), group.data() + group.size(), 0, m, n, y, y_stride);
    group.clear();
    depth = 0;
  };
  for (Factors left : all) {
    while (left.inner > 0) {
      group.push_back(left);
      const int taken = group.back().inner = std::min(left.inner, DEPTH - depth);
      left = left.from(taken);
      depth += taken;
      if (depth == DEPTH) add_group();
    }
  }
  if (depth > 0) add_group();
}

} // namespace products
} // namespace dynet

#endif
