#ifndef DYNET_COUPLED_LSTM_GPU_H_
#define DYNET_COUPLED_LSTM_GPU_H_

// The computations of a coupled LSTM's nodes on a GPU. Those of the CPU are in
// coupled-lstm-parts.h, the kernels in coupled-lstm-levels.h. nodes-coupled-lstm.cc includes this
// file for nvcc alone; nodes-coupled-lstm.h says why.

#include <algorithm>

#include "dynet/coupled-lstm-levels.h"
#include "dynet/coupled-lstm-parts.h"
#include "dynet/cuda.h"
#include "dynet/dropout-mask.h"

namespace dynet {
namespace coupled_lstm {

// y = op(a) * b, or y += op(a) * b
inline void multiply(const Device_GPU& dev, bool adds, bool ta, const Block& a, const Block& b, const Block& y) {
  CUBLAS_CHECK(cublasSgemm(dev.cublas_handle, ta ? CUBLAS_OP_T : CUBLAS_OP_N, CUBLAS_OP_N, y.m, y.n, ta ? a.m : a.n,
                           dev.kSCALAR_ONE, a.v, a.stride, b.v, b.stride, adds ? dev.kSCALAR_ONE : dev.kSCALAR_ZERO, y.v,
                           y.stride));
}

// Calls f(row, column) in a thread of its own for each of m x n elements.
template <class F>
__global__ void each_kernel(F f, unsigned m, unsigned n) {
  size_t k = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (k < size_t(m) * n) f(unsigned(k % m), unsigned(k / m));
}

template <class F>
inline void each(const Device_GPU& dev, unsigned m, unsigned n, F f) {
  unsigned threads = 128, blocks = unsigned((size_t(m) * n + threads - 1) / threads);
  each_kernel<<<blocks, threads, 0, dev.estream->stream()>>>(f, m, n);
  CUDA_CHECK(cudaGetLastError());
}

inline void add(const Device_GPU& dev, const Block& from, const Block& to) {
  each(dev, to.m, to.n, [=] __device__(unsigned r, unsigned k) { at(to, r, k) += at(from, r, k); });
}

struct Copy {
  Block from, to;
  bool is_turned;
};
struct Copies {
  Copy of[8];
};

// Copies the weights as the kernels read them. `of_input` gets a row for each unit of each gate,
// and the weights of states are transposed.
inline void arrange(const Device_GPU& dev, const CoupledLSTMWeights& w, float* value) {
  Copies copies;
  float* room = static_cast<float*>(w.aux_mem);
  w.of_input = {room, 3 * w.hidden, w.input, 3 * w.hidden};
  room += size_t(3) * w.hidden * w.input;
  unsigned row = 0, number = 0;
  for (unsigned a : {X2I, X2C, X2O}) {
    copies.of[number++] = {w.weights[a], w.of_input.rows(row, w.hidden), false};
    row += w.hidden;
  }
  for (unsigned a : {H2I, C2I, H2O, C2O, H2C}) {
    w.turned[a] = {room, w.hidden, w.hidden, w.hidden};
    room += size_t(w.hidden) * w.hidden;
    copies.of[number++] = {w.weights[a], w.turned[a], true};
  }
  each(dev, w.hidden * std::max(w.hidden, w.input), number, [=] __device__(unsigned e, unsigned k) {
    const Copy& c = copies.of[k];
    if (e == 0 && k == 0) *value = 0.f;
    if (e >= c.from.m * c.from.n) return;
    const unsigned row = e % c.from.m, column = e / c.from.m;
    at(c.to, c.is_turned ? column : row, c.is_turned ? row : column) = at(c.from, row, column);
  });
}

// Computes the products of inputs and weights for the gates of all steps.
inline void read_input(const Device_GPU& dev, const CoupledLSTMWeights& w, real p, const Layout& l) {
  if (p > 0) {
    const DropoutMask drawn(1.f - p, 1.f / (1.f - p));
    each(dev, w.input, l.n, [=] __device__(unsigned r, unsigned k) {
      const float kept = at(l.mask, r, k) = drawn[size_t(k) * l.mask.m + r];
      at(l.x, r, k) = at(l.x_given, r, k) * kept;
    });
  }
  multiply(dev, false, false, w.of_input, l.x, l.gates);
}

// Adds the derivatives of x before dropout.
inline void add_input_gradient(const Device_GPU& dev, const CoupledLSTMWeights& w, real p, const Layout& l, const Block& y) {
  multiply(dev, p == 0, true, w.of_input, l.d, p > 0 ? l.dx : y);
  if (p > 0)
    each(dev, y.m, y.n, [=] __device__(unsigned r, unsigned k) { at(y, r, k) += at(l.dx, r, k) * at(l.mask, r, k); });
}

// The argument of the kernels for steps side by side. Forward, `weights` are the transposed ones.
inline Levels levels_of(const CoupledLSTMWeights& w, const Block* weights, const Layout& l, const Block& states) {
  return {l, weights[H2I], weights[C2I], weights[H2C], weights[H2O], weights[C2O], w.weights[BI].v, w.weights[BC].v,
          w.weights[BO].v, states, l.has_state ? l.before : Block{}, nullptr, nullptr, 1};
}
// The same for a forest, whose first level continues the states `given`, if there are any.
inline Levels levels_of(const CoupledLSTMForest& forest, const Block* weights, const Layout& l, const Block& states,
                        const Block& given, const int* room) {
  Levels levels = levels_of(forest.w, weights, l, states);
  levels.given = given;
  levels.parents = room, levels.ends = room + forest.parents.size();
  levels.count = unsigned(forest.level_ends.size());
  return levels;
}

// Copies the table of a forest to the GPU: parents, then the ends of levels.
inline void upload_levels(const Device_GPU& dev, std::vector<int> numbers, const std::vector<unsigned>& ends, int* room) {
  numbers.insert(numbers.end(), ends.begin(), ends.end());
  CUDA_CHECK(cudaMemcpyAsync(room, numbers.data(), numbers.size() * sizeof(int), cudaMemcpyHostToDevice,
                             dev.estream->stream()));
}

// The smallest number of blocks that share the units evenly, at most one per multiprocessor.
inline unsigned blocks_of_levels(const Device_GPU& dev, unsigned hidden) {
  int most = 0;
  CUDA_CHECK(cudaDeviceGetAttribute(&most, cudaDevAttrMultiProcessorCount, dev.cuda_device_id));
  const unsigned units = (hidden + most - 1) / most;
  return (hidden + units - 1) / units;
}

inline void run_forward(const Device_GPU& dev, Levels levels) {
  void* arguments[] = {&levels};
  CUDA_CHECK(cudaLaunchCooperativeKernel(forward_levels, blocks_of_levels(dev, levels.l.hidden), LEVEL_THREADS, arguments, 0,
                                         dev.estream->stream()));
}
inline void run_backward(const Device_GPU& dev, Levels levels) {
  void* arguments[] = {&levels};
  CUDA_CHECK(cudaLaunchCooperativeKernel(backward_levels, blocks_of_levels(dev, levels.l.hidden), LEVEL_THREADS, arguments, 0,
                                         dev.estream->stream()));
}

// Compute the new states of steps side by side, and their derivatives.
inline void step(const Device_GPU& dev, const CoupledLSTMWeights& w, const Layout& l) {
  run_forward(dev, levels_of(w, w.turned, l, {}));
}
inline void differentiate(const Device_GPU& dev, const CoupledLSTMWeights& w, const Layout& l, const Block& states) {
  run_backward(dev, levels_of(w, w.weights, l, states));
}
inline void add_state_gradient(const Device_GPU& dev, const CoupledLSTMWeights&, const Layout& l, const Block& states) {
  add(dev, both(l.i, l.g), states);
}

inline void add_weight_gradients(const Device_GPU& dev, const std::vector<Tensor*>& dEdxs,
                                 const std::vector<Differentiated>& differentiated) {
  WeightGradients all;
  Products products;
  unsigned count = 0, tiles = 0;
  for (unsigned a = 0; a < WEIGHTS; ++a) {
    if (!dEdxs[a]) continue;
    WeightGradient& g = all.of[count++] = {block(*dEdxs[a]), unsigned(products.size()), 0};
    for (const Differentiated& s : differentiated) {
      products.push_back(factors(a, s));
      // biases multiply ones
      if (a == BI || a == BO || a == BC) products.back().second = {dev.kSCALAR_ONE, 1, products.back().first.n, 0};
    }
    g.end = unsigned(products.size());
    tiles = std::max(tiles, (g.y.m + TILE - 1) / TILE * ((g.y.n + TILE - 1) / TILE));
  }
  if (products.empty()) return;
  const size_t bytes = products.size() * sizeof(products[0]);
  AlignedMemoryPool* pool = dev.pools[(int)DeviceMempool::DEDFS];
  auto* room = static_cast<std::pair<Block, Block>*>(pool->allocate(bytes));
  CUDA_CHECK(cudaMemcpyAsync(room, products.data(), bytes, cudaMemcpyHostToDevice, dev.estream->stream()));
  weight_gradients<<<dim3(tiles, count), TILE_THREADS, 0, dev.estream->stream()>>>(all, room);
  CUDA_CHECK(cudaGetLastError());
}

} // namespace coupled_lstm
} // namespace dynet

#endif
