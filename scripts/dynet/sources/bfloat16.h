#ifndef DYNET_BFLOAT16_H_
#define DYNET_BFLOAT16_H_

// Products of bfloat16 numbers with float32 sums, on processors that have AVX512_BF16; products.h calls them if they are
// wanted. An instruction multiplies pairs: two numbers of a row of the left side with two of a column of the right side.
// Why: they are twice as fast as products of float32 numbers.
// Test: tests/test_dynet_products.py::test_products_are_sums_of_products

#include <algorithm>
#include <cstdint>

#if defined(__AVX512F__) && defined(__AVX512VL__) && defined(__AVX512BW__) && (__GNUC__ >= 10 || defined(__clang__))
#define DYNET_HAS_BFLOAT16 1
#include <immintrin.h>
#endif

namespace dynet {
namespace bfloat16 {

// Whether products are to be of bfloat16 numbers; weights that are packed keep the precision that they were packed for.
inline bool is_wanted = false;

#ifndef DYNET_HAS_BFLOAT16

inline bool is_possible() { return false; }

#else

inline bool is_possible() { return __builtin_cpu_supports("avx512bf16"); }

#define DYNET_BFLOAT16 __attribute__((target("avx512bf16")))

typedef std::uint32_t Pair;  // the first number in the lower half
constexpr int WIDTH = 16, ROWS = 4, COLUMNS = 6, PANEL = WIDTH * ROWS;
// Pairs of a right side: pair k of column j is at v[k * row + j * column].
struct Pairs {
  const Pair* v;
  long row, column;
};

inline int pairs_of(int numbers) { return (numbers + 1) / 2; }
inline unsigned mask_of(long left) { return left < WIDTH ? (1u << left) - 1 : 0xffff; }

// Pairs of neighbouring columns of a matrix that has no gaps then. It may be packed in place if it has none before.
DYNET_BFLOAT16 inline Pair* pack_columns(long rows, int columns, const float* from, long stride, Pair* to) {
  const __m512i lower = _mm512_cvtepu16_epi32(_mm256_set_epi16(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0));
  const __m512i alternately = _mm512_or_si512(lower, _mm512_slli_epi32(_mm512_add_epi32(lower, _mm512_set1_epi32(WIDTH)), 16));
  for (int k = 0; k < columns; k += 2, to += rows)
    for (long r = 0; r < rows; r += WIDTH) {
      const __mmask16 mask = mask_of(rows - r);
      const float* p = from + k * stride + r;
      const __m512 first = _mm512_maskz_loadu_ps(mask, p);
      const __m512 second = _mm512_maskz_loadu_ps(k + 1 < columns ? mask : 0, p + stride);
      const __m512i both = (__m512i)_mm512_cvtne2ps_pbh(second, first);
      _mm512_mask_storeu_epi32(to + r, mask, _mm512_permutexvar_epi16(alternately, both));
    }
  return to;
}

// Pairs of numbers within each column.
DYNET_BFLOAT16 inline void pack_rows(int rows, int columns, const float* from, long stride, Pair* to) {
  for (int j = 0; j < columns; ++j, from += stride, to += pairs_of(rows))
    for (int k = 0; k < rows; k += WIDTH) {
      const __m256bh numbers = _mm512_cvtneps_pbh(_mm512_maskz_loadu_ps(mask_of(rows - k), from + k));
      _mm256_mask_storeu_epi32(to + k / 2, mask_of(pairs_of(rows - k)) & 0xff, (__m256i)numbers);
    }
}

// y += a * b for R * WIDTH rows and N columns
template <int R, int N>
DYNET_BFLOAT16 void add_tile(int pairs, const Pair* a, long a_stride, const Pairs& b, float* y, long y_stride) {
  __m512 sums[N][R];
  for (int j = 0; j < N; ++j)
    for (int r = 0; r < R; ++r) sums[j][r] = _mm512_loadu_ps(y + j * y_stride + r * WIDTH);
  const Pair* of_b = b.v;
  for (int k = 0; k < pairs; ++k, a += a_stride, of_b += b.row) {
    __m512bh of_a[R];
    for (int r = 0; r < R; ++r) of_a[r] = (__m512bh)_mm512_loadu_si512(a + r * WIDTH);
    for (int j = 0; j < N; ++j) {
      const __m512bh factor = (__m512bh)_mm512_set1_epi32(of_b[j * b.column]);
      for (int r = 0; r < R; ++r) sums[j][r] = _mm512_dpbf16_ps(sums[j][r], of_a[r], factor);
    }
  }
  for (int j = 0; j < N; ++j)
    for (int r = 0; r < R; ++r) _mm512_storeu_ps(y + j * y_stride + r * WIDTH, sums[j][r]);
}

// the same for n columns
template <int R, int N = COLUMNS>
void add_tiles(int pairs, const Pair* a, long a_stride, Pairs b, int n, float* y, long y_stride) {
  for (; n >= N; n -= N, b.v += N * b.column, y += N * y_stride) add_tile<R, N>(pairs, a, a_stride, b, y, y_stride);
  if constexpr (N > 1) add_tiles<R, N - 1>(pairs, a, a_stride, b, n, y, y_stride);
}

// y += a * b, with a in panels of m rows in all, for each of which `row_room` pairs are there; m is a multiple of WIDTH
inline void add_product(int m, int pairs, const Pair* a, long row_room, const Pairs& b, int n, float* y, long y_stride) {
  for (int row = 0; row < m; row += PANEL, a += PANEL * row_room) {
    const int rows = std::min(PANEL, m - row);
    if (rows == PANEL) add_tiles<ROWS>(pairs, a, rows, b, n, y + row, y_stride);
    for (int r = 0; r < rows && rows < PANEL; r += WIDTH) add_tiles<1>(pairs, a + r, rows, b, n, y + row + r, y_stride);
  }
}

#endif

} // namespace bfloat16
} // namespace dynet

#endif
