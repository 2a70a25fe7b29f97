#ifndef DYNET_PRODUCTS_H_
#define DYNET_PRODUCTS_H_

// Products as LSTMs need them: of a weight matrix and a few columns, and sums of many outer products. Eigen packs the
// left side at every call, which takes as long as its product with a dozen columns. All matrices are stored by columns;
// `stride` is from one column to the next.

#include <algorithm>

namespace dynet {
namespace products {

// W floats that are added and multiplied at once
template <int W> struct Floats;
template <> struct Floats<1> { typedef float Vector, Unaligned; };
#define DYNET_FLOATS(W) \
  template <> struct Floats<W> { \
    typedef float Vector __attribute__((vector_size(W * sizeof(float)))); \
    typedef float Unaligned __attribute__((vector_size(W * sizeof(float)), aligned(sizeof(float)))); \
  };
DYNET_FLOATS(4)
DYNET_FLOATS(8)
DYNET_FLOATS(16)
#undef DYNET_FLOATS

// floats in a register; a tile of the result, which stays in registers, is ROWS of them high and COLUMNS wide
#if defined(__AVX512F__)
constexpr int WIDTH = 16, ROWS = 4, COLUMNS = 6;
#elif defined(__AVX__)
constexpr int WIDTH = 8, ROWS = 2, COLUMNS = 6;
#else
constexpr int WIDTH = 4, ROWS = 2, COLUMNS = 4;
#endif

// columns of the left side that are gone through for the whole result, so that they stay in the cache
constexpr int DEPTH = 256;

// The right side of a product, which has its element (k, j) at v[k * row + j * column].
struct Right {
  const float* v;
  long row, column;
  Right at(long k, long j) const { return {v + k * row + j * column, row, column}; }
};

// y += a * b for R * W rows and N columns
template <int W, int R, int N>
void add_tile(int inner, const float* a, long a_stride, Right b, float* y, long y_stride) {
  typedef typename Floats<W>::Vector Vector;
  typedef typename Floats<W>::Unaligned Unaligned;
  auto vector = [](const float* p) -> const Unaligned& { return *reinterpret_cast<const Unaligned*>(p); };
  Vector sums[N][R];
  for (int j = 0; j < N; ++j)
    for (int r = 0; r < R; ++r) sums[j][r] = vector(y + j * y_stride + r * W);
  for (int k = 0; k < inner; ++k, a += a_stride, b.v += b.row) {
    Vector of_a[R];
    for (int r = 0; r < R; ++r) of_a[r] = vector(a + r * W);
    for (int j = 0; j < N; ++j)
      for (int r = 0; r < R; ++r) sums[j][r] += of_a[r] * b.v[j * b.column];
  }
  for (int j = 0; j < N; ++j)
    for (int r = 0; r < R; ++r) *reinterpret_cast<Unaligned*>(y + j * y_stride + r * W) = sums[j][r];
}

// the same for any number of columns
template <int W, int R, int N = COLUMNS>
void add_tiles(int inner, int n, const float* a, long a_stride, Right b, float* y, long y_stride) {
  for (; n >= N; n -= N, b = b.at(0, N), y += N * y_stride) add_tile<W, R, N>(inner, a, a_stride, b, y, y_stride);
  if constexpr (N > 1) add_tiles<W, R, N - 1>(inner, n, a, a_stride, b, y, y_stride);
}

// the same for any number of rows: tiles are as high as those that are left allow
template <int W = WIDTH, int R = ROWS>
void add_rows(int m, int inner, int n, const float* a, long a_stride, Right b, float* y, long y_stride) {
  for (; m >= W * R; m -= W * R, a += W * R, y += W * R) add_tiles<W, R>(inner, n, a, a_stride, b, y, y_stride);
  if constexpr (R > 1) add_rows<W, 1>(m, inner, n, a, a_stride, b, y, y_stride);
  else if constexpr (W > 4) add_rows<W / 2, 1>(m, inner, n, a, a_stride, b, y, y_stride);
  else if constexpr (W > 1) add_rows<1, 1>(m, inner, n, a, a_stride, b, y, y_stride);
}

// y += a * b; a has m x inner elements, b inner x n
inline void add_product(int m, int inner, int n, const float* a, long a_stride, Right b, float* y, long y_stride) {
  for (; inner > 0; inner -= DEPTH, a += DEPTH * a_stride, b = b.at(DEPTH, 0))
    add_rows(m, std::min(inner, DEPTH), n, a, a_stride, b, y, y_stride);
}

// to = from', which has m x n elements; in squares, each of which fits into the fastest cache on both sides
inline void transpose(int m, int n, const float* from, long from_stride, float* to, long to_stride) {
  constexpr int SIDE = 16;
  for (int j = 0; j < n; j += SIDE)
    for (int i = 0; i < m; i += SIDE)
      for (int k = i; k < std::min(m, i + SIDE); ++k)
        for (int l = j; l < std::min(n, j + SIDE); ++l) to[k * to_stride + l] = from[l * from_stride + k];
}

} // namespace products
} // namespace dynet

#endif
