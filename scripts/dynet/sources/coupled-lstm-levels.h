#ifndef DYNET_COUPLED_LSTM_LEVELS_H_
#define DYNET_COUPLED_LSTM_LEVELS_H_

// The kernels of a coupled LSTM on a GPU: one for all levels of states in each direction, and one
// for the derivatives of all weights.
// Why: a level took 5 launches in each direction, and a minibatch has hundreds of levels.
// Test: tests/test_gpu_kernels.py::test_levels_of_an_lstm_have_the_derivatives_of_their_loss

#include <cooperative_groups.h>

#include "dynet/coupled-lstm-blocks.h"

namespace dynet {
namespace coupled_lstm {

__device__ inline float& at(const Block& b, unsigned r, unsigned k) { return b.v[size_t(k) * b.stride + r]; }
__device__ inline float sigmoid(float a) { return 1.f / (1.f + expf(-a)); }

// Levels of states, the argument of the kernels below. A block of threads computes some of the
// hidden units alone, each of its warps some columns at a time.
struct Levels {
  Layout l;
  Block h2i, c2i, h2g, h2o, c2o;  // forward each transposed
  const float *bi, *bg, *bo;
  Block states;  // the values of states; in the backward kernel, their derivatives
  Block given;   // the states before the first level, if there are any
  const int* parents;
  const int* ends;  // null if there is one level
  unsigned count;
  __device__ unsigned end(unsigned level) const { return ends ? unsigned(ends[level]) : l.n; }
  __device__ bool goes_on(unsigned level) const { return level > 0 || given.v; }
  // The state before state k.
  __device__ const float* before(unsigned level, unsigned k) const { return level ? &at(states, 0, parents[k]) : &at(given, 0, k); }
};

constexpr unsigned TOGETHER = 4, LEVEL_THREADS = 256, ALL_LANES = 0xffffffff;

__device__ inline unsigned lane() { return threadIdx.x % 32; }
// Whether this lane writes a column: lanes 0, 8, 16 and 24 do, column lane() / 8 each.
__device__ inline bool has_column(unsigned count) { return lane() % 8 == 0 && lane() / 8 < count; }
__device__ inline unsigned units_of_block(unsigned hidden) { return (hidden - blockIdx.x + gridDim.x - 1) / gridDim.x; }

// Calls f(unit, first column, number of columns) for the units and columns of this warp.
template <class F>
__device__ void each_group(unsigned hidden, unsigned begin, unsigned end, F f) {
  const unsigned groups = (end - begin + TOGETHER - 1) / TOGETHER, items = units_of_block(hidden) * groups;
  for (unsigned item = threadIdx.x / 32; item < items; item += blockDim.x / 32) {
    const unsigned first = begin + item % groups * TOGETHER;
    f(blockIdx.x + item / groups * gridDim.x, first, min(TOGETHER, end - first));
  }
}

// The products of a row with some columns; each lane sums a share of them.
struct Sums {
  float of[TOGETHER] = {};
  __device__ void add(const Block& turned, unsigned row, const float* const* columns) {
    for (unsigned p = lane(); p < turned.m; p += 32) {
      const float factor = at(turned, p, row);
      for (unsigned j = 0; j < TOGETHER; ++j) of[j] += factor * columns[j][p];
    }
  }
  // The sum of column lane() / 8. Lanes exchange half of their sums, twice, then add up the rest.
  __device__ float total() const {
    static_assert(TOGETHER == 4, "columns are halved twice");
    const bool upper = lane() & 16, odd = lane() & 8;
    const float even_sum = (upper ? of[2] : of[0]) + __shfl_xor_sync(ALL_LANES, upper ? of[0] : of[2], 16);
    const float odd_sum = (upper ? of[3] : of[1]) + __shfl_xor_sync(ALL_LANES, upper ? of[1] : of[3], 16);
    float sum = (odd ? odd_sum : even_sum) + __shfl_xor_sync(ALL_LANES, odd ? even_sum : odd_sum, 8);
    for (int by = 4; by > 0; by /= 2) sum += __shfl_xor_sync(ALL_LANES, sum, by);
    return sum;
  }
};

// The beginnings of some columns; pointers after the last column repeat it.
struct Columns {
  const float* at[TOGETHER];
  template <class F>
  __device__ Columns(unsigned first, unsigned count, F column) {
    for (unsigned j = 0; j < TOGETHER; ++j) at[j] = column(first + min(j, count - 1));
  }
};
__device__ inline Columns columns_of(const Block& b, unsigned first, unsigned count) {
  return Columns(first, count, [&](unsigned k) { return &at(b, 0, k); });
}

// Computes the gates, except the output gate, and the new cells.
__device__ inline void new_cells(const Levels& s, unsigned level, unsigned r, unsigned first, unsigned count) {
  const Layout& l = s.l;
  float of_i = 0.f, of_g = 0.f, of_o = 0.f;
  if (s.goes_on(level)) {
    const Columns h(first, count, [&](unsigned k) { return s.before(level, k); });
    const Columns c(first, count, [&](unsigned k) { return s.before(level, k) + l.hidden; });
    Sums i, g, o;
    i.add(s.h2i, r, h.at);
    i.add(s.c2i, r, c.at);
    g.add(s.h2g, r, h.at);
    o.add(s.h2o, r, h.at);
    of_i = i.total(), of_g = g.total(), of_o = o.total();
  }
  if (!has_column(count)) return;
  const unsigned k = first + lane() / 8;
  const float i = at(l.i, r, k) = sigmoid(at(l.i, r, k) + s.bi[r] + of_i);
  const float g = at(l.g, r, k) = tanhf(at(l.g, r, k) + s.bg[r] + of_g);
  at(l.o, r, k) += s.bo[r] + of_o;
  float c = i * g;
  if (s.goes_on(level)) {
    const float* before = s.before(level, k);
    c += (1.f - i) * before[l.hidden + r];
    if (l.before.v != s.given.v) at(l.h, r, k) = before[r], at(l.c, r, k) = before[l.hidden + r];
  }
  at(l.c_new, r, k) = c;
}

__device__ inline void new_outputs(const Levels& s, unsigned r, unsigned first, unsigned count) {
  const Layout& l = s.l;
  Sums sums;
  sums.add(s.c2o, r, columns_of(l.c_new, first, count).at);
  const float of_c = sums.total();
  if (!has_column(count)) return;
  const unsigned k = first + lane() / 8;
  const float o = at(l.o, r, k) = sigmoid(at(l.o, r, k) + of_c), t = at(l.t, r, k) = tanhf(at(l.c_new, r, k));
  at(l.h_new, r, k) = o * t;
}

static __global__ void forward_levels(Levels s) {
  const auto grid = cooperative_groups::this_grid();
  for (unsigned level = 0, begin = 0, end = 0; level < s.count; ++level, begin = end) {
    end = s.end(level);
    if (level > 0) grid.sync();
    each_group(s.l.hidden, begin, end, [&](unsigned r, unsigned first, unsigned count) { new_cells(s, level, r, first, count); });
    // each output gate reads all of the new cell
    grid.sync();
    each_group(s.l.hidden, begin, end, [&](unsigned r, unsigned first, unsigned count) { new_outputs(s, r, first, count); });
  }
}

__device__ inline void output_gate_gradients(const Levels& s, unsigned begin, unsigned end) {
  const Layout& l = s.l;
  for (unsigned e = threadIdx.x; e < units_of_block(l.hidden) * (end - begin); e += blockDim.x) {
    const unsigned r = blockIdx.x + e / (end - begin) * gridDim.x, k = begin + e % (end - begin);
    const float o = at(l.o, r, k), t = at(l.t, r, k), d = at(s.states, r, k);
    at(l.d_o, r, k) = d * t * o * (1.f - o);
    at(l.dc, r, k) = at(s.states, l.hidden + r, k) + d * o * (1.f - t * t);
  }
}

// Computes the derivatives of the logits of i and g. It overwrites the gate g with the derivative
// of the cell before, without what reaches that cell through the gates.
__device__ inline void cell_gradients(const Levels& s, unsigned level, unsigned r, unsigned first, unsigned count) {
  const Layout& l = s.l;
  Sums sums;
  sums.add(s.c2o, r, columns_of(l.d_o, first, count).at);
  const float of_o = sums.total();
  if (!has_column(count)) return;
  const unsigned k = first + lane() / 8;
  const float i = at(l.i, r, k), g = at(l.g, r, k), d = at(l.dc, r, k) + of_o;
  const float c = s.goes_on(level) ? at(l.c, r, k) : 0.f;
  at(l.di, r, k) = d * (g - c) * i * (1.f - i);
  at(l.dg, r, k) = d * i * (1.f - g * g);
  at(l.g, r, k) = d * (1.f - i);
}

// Adds what reaches the states before through the gates to their derivatives. For the states before
// the first level it overwrites the gates i and g instead, from where the nodes add it.
__device__ inline void state_gradients(const Levels& s, unsigned level, unsigned r, unsigned first, unsigned count) {
  const Layout& l = s.l;
  Sums h, c;
  const Columns di = columns_of(l.di, first, count);
  h.add(s.h2i, r, di.at);
  h.add(s.h2g, r, columns_of(l.dg, first, count).at);
  h.add(s.h2o, r, columns_of(l.d_o, first, count).at);
  c.add(s.c2i, r, di.at);
  const float of_h = h.total(), of_c = c.total();
  if (!has_column(count)) return;
  const unsigned k = first + lane() / 8;
  const float dc = at(l.g, r, k) + of_c;
  if (level == 0) {
    at(l.i, r, k) = of_h;
    at(l.g, r, k) = dc;
    return;
  }
  atomicAdd(&at(s.states, r, s.parents[k]), of_h);
  atomicAdd(&at(s.states, l.hidden + r, s.parents[k]), dc);
}

static __global__ void backward_levels(Levels s) {
  const auto grid = cooperative_groups::this_grid();
  for (unsigned level = s.count; level-- > 0;) {
    const unsigned begin = level ? s.end(level - 1) : 0, end = s.end(level);
    output_gate_gradients(s, begin, end);
    grid.sync();
    each_group(s.l.hidden, begin, end, [&](unsigned r, unsigned first, unsigned count) { cell_gradients(s, level, r, first, count); });
    if (!s.goes_on(level)) return;
    grid.sync();
    each_group(s.l.hidden, begin, end, [&](unsigned r, unsigned first, unsigned count) { state_gradients(s, level, r, first, count); });
    // the level before reads what this block has added
    __syncthreads();
  }
}

// The derivative y of some weights: the sum of the products d * read' of the table from `begin` to
// `end`.
struct WeightGradient {
  Block y;
  unsigned begin, end;
};
struct WeightGradients {
  WeightGradient of[WEIGHTS];
};
constexpr unsigned TILE = 32, TILE_THREADS = 256;

// A block of threads computes a tile of one matrix, a thread every eighth column of a row of it.
static __global__ void weight_gradients(WeightGradients all, const std::pair<Block, Block>* products) {
  __shared__ float left[TILE][TILE + 1];
  __shared__ float right[TILE][TILE + 1];
  const WeightGradient& g = all.of[blockIdx.y];
  const unsigned tiles = (g.y.m + TILE - 1) / TILE, row = blockIdx.x % tiles * TILE, column = blockIdx.x / tiles * TILE;
  if (column >= g.y.n) return;
  const unsigned r = threadIdx.x % TILE, part = threadIdx.x / TILE;
  constexpr unsigned PARTS = TILE_THREADS / TILE;
  float sums[TILE / PARTS] = {};
  for (unsigned product = g.begin; product < g.end; ++product) {
    const Block d = products[product].first, read = products[product].second;
    for (unsigned first = 0; first < d.n; first += TILE) {
      __syncthreads();
      for (unsigned k = part; k < TILE; k += PARTS) {
        const bool is_there = first + k < d.n;
        left[k][r] = is_there && row + r < g.y.m ? at(d, row + r, first + k) : 0.f;
        right[k][r] = is_there && column + r < g.y.n ? at(read, column + r, first + k) : 0.f;
      }
      __syncthreads();
      for (unsigned k = 0; k < TILE; ++k)
        for (unsigned j = 0; j < TILE / PARTS; ++j) sums[j] += left[k][r] * right[k][part + j * PARTS];
    }
  }
  for (unsigned j = 0; j < TILE / PARTS; ++j)
    if (row + r < g.y.m && column + part + j * PARTS < g.y.n) at(g.y, row + r, column + part + j * PARTS) += sums[j];
}

} // namespace coupled_lstm
} // namespace dynet

#endif
