#ifndef DYNET_COUPLED_LSTM_PARTS_H_
#define DYNET_COUPLED_LSTM_PARTS_H_

// Where everything of a coupled LSTM's step lies, and operations on blocks for each device;
// nodes-coupled-lstm.h says why.

#include "dynet/nodes-coupled-lstm.h"
#ifdef __CUDACC__
#include "dynet/cuda.h"
#else
#include "dynet/products.h"
#endif

namespace dynet {
namespace coupled_lstm {

typedef std::vector<std::pair<Block, Block> > Products;

inline Block block(const Tensor& t) { return {t.v, t.d.rows(), t.d.cols() * t.d.bd, t.d.rows()}; }

// The first of two blocks, one above the other in the same columns, and the second.
inline Block both(const Block& upper, const Block& lower) {
  return {upper.v, upper.m + lower.m, upper.n, upper.stride};
}

// Where everything of n steps side by side lies: a state is [h; c], the rest is in the auxiliary memory.
struct Layout {
  Layout(const CoupledLSTMWeights& w, bool dropped, const Tensor& x_arg, const Tensor& fx, void* aux)
      : n(fx.d.bd), hidden(w.hidden), next(static_cast<float*>(aux)) {
    gates = take(3 * hidden), d = take(3 * hidden);
    i = gates.rows(0, hidden), g = gates.rows(hidden, hidden), o = gates.rows(2 * hidden, hidden);
    di = d.rows(0, hidden), dg = d.rows(hidden, hidden), d_o = d.rows(2 * hidden, hidden);
    t = take(hidden), dc = take(hidden);
    x_given = x = {x_arg.v, w.input, n, x_arg.d.rows()};
    if (dropped) mask = take(w.input), x = take(w.input), dx = take(w.input);
    h_new = half(fx, 0), c_new = half(fx, 1);
  }
  Block take(unsigned rows) {
    Block b = {next, rows, n, rows};
    next += size_t(rows) * n;
    return b;
  }
  Block half(const Tensor& state, unsigned which) const {
    return {state.v + size_t(which) * hidden, hidden, n, 2 * hidden};
  }
  void go_on_from(const Block& state) {
    before = state, h = state.rows(0, hidden), c = state.rows(hidden, hidden), has_state = true;
  }
  // some of the steps
  Layout columns(unsigned from, unsigned count) const {
    Layout part = *this;
    part.n = count;
    for (Block* b : {&part.gates, &part.i, &part.g, &part.o, &part.d, &part.di, &part.dg, &part.d_o, &part.t, &part.dc,
                     &part.mask, &part.x, &part.dx, &part.x_given, &part.before, &part.h, &part.c, &part.h_new,
                     &part.c_new})
      *b = b->columns(from, count);
    return part;
  }
  Differentiated differentiated(unsigned starts) const { return {di, d_o, dg, x, h, c, c_new, starts}; }
  unsigned n, hidden;
  bool has_state = false;
  float* next;
  Block gates, i, g, o;     // see cell_gradient
  Block d, di, dg, d_o;     // derivatives of the logits
  Block t, dc;              // tanh of the new cell, and the derivative of that cell
  Block mask = {}, x;       // x as read: dropped where there is dropout
  Block dx = {}, x_given;
  Block before = {}, h = {}, c = {}, h_new, c_new;
};

// floats that a layout takes from the auxiliary memory for each step
inline size_t floats_of_step(const CoupledLSTMWeights& w, bool dropped) {
  return 8 * size_t(w.hidden) + (dropped ? 3 * size_t(w.input) : 0);
}

#ifdef __CUDACC__

inline void multiply_add(const Device_GPU& dev, bool ta, const Block& a, bool tb, const Block& b, const Block& y) {
  CUBLAS_CHECK(cublasSgemm(dev.cublas_handle, ta ? CUBLAS_OP_T : CUBLAS_OP_N, tb ? CUBLAS_OP_T : CUBLAS_OP_N,
                           y.m, y.n, ta ? a.m : a.n, dev.kSCALAR_ONE, a.v, a.stride, b.v, b.stride,
                           dev.kSCALAR_ONE, y.v, y.stride));
}
// y += op(a) * b
inline void multiply_add(const Device_GPU& dev, bool ta, const Block& a, const Block& b, const Block& y) {
  multiply_add(dev, ta, a, false, b, y);
}
// y += the sum of a * b'
inline void add_products(const Device_GPU& dev, const Products& products, const Block& y) {
  for (auto& ab : products) multiply_add(dev, false, ab.first, true, ab.second, y);
}

// every kernel has a thread for each of the m x n elements
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

__device__ inline float& at(const Block& b, unsigned r, unsigned k) { return b.v[size_t(k) * b.stride + r]; }
__device__ inline float sigmoid(float a) { return 1.f / (1.f + expf(-a)); }

inline void copy(const Device_GPU& dev, const Block& from, const Block& to) {
  each(dev, to.m, to.n, [=] __device__(unsigned r, unsigned k) { at(to, r, k) = at(from, r, k); });
}
inline void fill(const Device_GPU& dev, const Block& bias, const Block& y) {
  each(dev, y.m, y.n, [=] __device__(unsigned r, unsigned k) { at(y, r, k) = bias.v[r]; });
}
inline void drop(const Device_GPU& dev, const Block& from, const Block& mask, const Block& to) {
  each(dev, to.m, to.n, [=] __device__(unsigned r, unsigned k) { at(to, r, k) = at(from, r, k) * at(mask, r, k); });
}
inline void add_masked(const Device_GPU& dev, const Block& from, const Block& mask, const Block& to) {
  each(dev, to.m, to.n, [=] __device__(unsigned r, unsigned k) { at(to, r, k) += at(from, r, k) * at(mask, r, k); });
}
inline void add(const Device_GPU& dev, const Block& from, const Block& to) {
  each(dev, to.m, to.n, [=] __device__(unsigned r, unsigned k) { at(to, r, k) += at(from, r, k); });
}
inline void zero(const Device_GPU& dev, const Block& y) {
  each(dev, y.m, y.n, [=] __device__(unsigned r, unsigned k) { at(y, r, k) = 0.f; });
}
inline void add_row_sums(const Device_GPU& dev, const Block& from, const Block& to) {
  each(dev, from.m, 1, [=] __device__(unsigned r, unsigned) {
    float sum = 0.f;
    for (unsigned k = 0; k < from.n; ++k) sum += at(from, r, k);
    to.v[r] += sum;
  });
}
// column k of `to` is column parents[k] of `from`
inline void copy_columns(const Device_GPU& dev, const int* parents, const Block& from, const Block& to) {
  each(dev, to.m, to.n, [=] __device__(unsigned r, unsigned k) { at(to, r, k) = at(from, r, parents[k]); });
}
// column k of `from` is added to column parents[k] of `to`
inline void add_to_columns(const Device_GPU& dev, const int* parents, const Block& from, const Block& to) {
  each(dev, from.m, from.n, [=] __device__(unsigned r, unsigned k) { atomicAdd(&at(to, r, parents[k]), at(from, r, k)); });
}
inline const int* place(const Device_GPU& dev, const std::vector<int>& numbers, float* room) {
  CUDA_CHECK(cudaMemcpyAsync(room, numbers.data(), numbers.size() * sizeof(int), cudaMemcpyHostToDevice,
                             dev.estream->stream()));
  return reinterpret_cast<const int*>(room);
}
// cuBLAS multiplies by a transposed matrix as fast as by the matrix
inline Block turned(const Device_GPU&, const CoupledLSTMWeights&, unsigned) { return {}; }
inline void new_cell(const Device_GPU& dev, const Layout& l) {
  each(dev, l.hidden, l.n, [=] __device__(unsigned r, unsigned k) {
    float i = at(l.i, r, k) = sigmoid(at(l.i, r, k)), g = at(l.g, r, k) = tanhf(at(l.g, r, k));
    at(l.c_new, r, k) = i * g + (l.has_state ? (1.f - i) * at(l.c, r, k) : 0.f);
  });
}
inline void new_output(const Device_GPU& dev, const Layout& l) {
  each(dev, l.hidden, l.n, [=] __device__(unsigned r, unsigned k) {
    float o = at(l.o, r, k) = sigmoid(at(l.o, r, k)), t = at(l.t, r, k) = tanhf(at(l.c_new, r, k));
    at(l.h_new, r, k) = o * t;
  });
}
inline void output_gate_gradient(const Device_GPU& dev, const Layout& l, const Block& dh, const Block& dc) {
  each(dev, l.hidden, l.n, [=] __device__(unsigned r, unsigned k) {
    float o = at(l.o, r, k), t = at(l.t, r, k), d = at(dh, r, k);
    at(l.d_o, r, k) = d * t * o * (1.f - o);
    at(l.dc, r, k) = at(dc, r, k) + d * o * (1.f - t * t);
  });
}
// In place of the gate i stands 0 then, in that of g the derivative of c before but for what it gives to the gates: what
// the gates give to the derivatives of h and c before can be added there.
inline void cell_gradient(const Device_GPU& dev, const Layout& l) {
  each(dev, l.hidden, l.n, [=] __device__(unsigned r, unsigned k) {
    float i = at(l.i, r, k), g = at(l.g, r, k), d = at(l.dc, r, k);
    float c = l.has_state ? at(l.c, r, k) : 0.f;
    at(l.di, r, k) = d * (g - c) * i * (1.f - i);
    at(l.dg, r, k) = d * i * (1.f - g * g);
    at(l.i, r, k) = 0.f;
    at(l.g, r, k) = d * (1.f - i);
  });
}

#else

typedef Eigen::Map<Eigen::MatrixXf, 0, Eigen::OuterStride<> > Matrix;
typedef Eigen::Map<Eigen::ArrayXf> Column;

inline Matrix matrix(const Block& b) { return Matrix(b.v, b.m, b.n, Eigen::OuterStride<>(b.stride)); }
inline Column column(const Block& b, unsigned k) { return Column(b.v + size_t(k) * b.stride, b.m); }

// y += op(a) * b
inline void multiply_add(const Device_CPU&, bool ta, const Block& a, const Block& b, const Block& y) {
  if (ta) matrix(y).noalias() += matrix(a).transpose() * matrix(b);
  else products::add_product(y.m, a.n, y.n, a.v, a.stride, {b.v, 1, b.stride}, y.v, y.stride);
}
// y += the sum of a * b'
inline void add_products(const Device_CPU&, const Products& all, const Block& y) {
  std::vector<products::Factors> factors;
  for (auto& ab : all)
    factors.push_back({int(ab.first.n), ab.first.v, ab.first.stride, {ab.second.v, ab.second.stride, 1}});
  products::add_products(y.m, y.n, factors, y.v, y.stride);
}
inline void copy(const Device_CPU&, const Block& from, const Block& to) { matrix(to) = matrix(from); }
inline void fill(const Device_CPU&, const Block& bias, const Block& y) {
  for (unsigned k = 0; k < y.n; ++k) column(y, k) = column(bias, 0);
}
inline void drop(const Device_CPU&, const Block& from, const Block& mask, const Block& to) {
  for (unsigned k = 0; k < to.n; ++k) column(to, k) = column(from, k) * column(mask, k);
}
inline void add_masked(const Device_CPU&, const Block& from, const Block& mask, const Block& to) {
  for (unsigned k = 0; k < to.n; ++k) column(to, k) += column(from, k) * column(mask, k);
}
inline void add(const Device_CPU&, const Block& from, const Block& to) {
  for (unsigned k = 0; k < to.n; ++k) column(to, k) += column(from, k);
}
inline void zero(const Device_CPU&, const Block& y) { matrix(y).setZero(); }
inline void add_row_sums(const Device_CPU&, const Block& from, const Block& to) {
  for (unsigned k = 0; k < from.n; ++k) column(to, 0) += column(from, k);
}
inline void copy_columns(const Device_CPU&, const int* parents, const Block& from, const Block& to) {
  for (unsigned k = 0; k < to.n; ++k) column(to, k) = column(from, parents[k]);
}
inline void add_to_columns(const Device_CPU&, const int* parents, const Block& from, const Block& to) {
  for (unsigned k = 0; k < from.n; ++k) column(to, parents[k]) += column(from, k);
}
inline const int* place(const Device_CPU&, const std::vector<int>& numbers, float*) { return numbers.data(); }
// to = from': in squares of registers, what is left at the edges one by one
inline void transpose(const Block& from, const Block& to) {
  namespace packets = Eigen::internal;
  typedef packets::packet_traits<float>::type Packet;
  constexpr unsigned SIDE = packets::unpacket_traits<Packet>::size;
  const unsigned rows = from.m - from.m % SIDE, columns = from.n - from.n % SIDE;
  for (unsigned j = 0; j < columns; j += SIDE)
    for (unsigned i = 0; i < rows; i += SIDE) {
      packets::PacketBlock<Packet, SIDE> square;
      for (unsigned k = 0; k < SIDE; ++k)
        square.packet[k] = packets::ploadu<Packet>(from.v + size_t(j + k) * from.stride + i);
      packets::ptranspose(square);
      for (unsigned k = 0; k < SIDE; ++k) packets::pstoreu(to.v + size_t(i + k) * to.stride + j, square.packet[k]);
    }
  for (unsigned j = 0; j < from.n; ++j)
    for (unsigned i = j < columns ? rows : 0; i < from.m; ++i)
      to.v[size_t(i) * to.stride + j] = from.v[size_t(j) * from.stride + i];
}
// weights a, transposed: all are when the first is asked for
inline Block turned(const Device_CPU&, const CoupledLSTMWeights& w, unsigned a) {
  float* room = static_cast<float*>(w.aux_mem);
  for (unsigned b = 0; b < WEIGHTS && !w.are_turned; ++b) {
    const Block& from = w.weights[b];
    if (b == BI || b == BO || b == BC) continue;
    w.turned[b] = {room, from.n, from.m, from.n};
    transpose(from, w.turned[b]);
    room += size_t(from.m) * from.n;
  }
  w.are_turned = true;
  return w.turned[a];
}
inline void new_cell(const Device_CPU&, const Layout& l) {
  for (unsigned k = 0; k < l.n; ++k) {
    auto i = column(l.i, k), g = column(l.g, k);
    i = i.logistic();
    g = g.tanh();
    if (l.has_state) column(l.c_new, k) = i * g + (1.f - i) * column(l.c, k);
    else column(l.c_new, k) = i * g;
  }
}
inline void new_output(const Device_CPU&, const Layout& l) {
  for (unsigned k = 0; k < l.n; ++k) {
    auto o = column(l.o, k), t = column(l.t, k);
    o = o.logistic();
    t = column(l.c_new, k).tanh();
    column(l.h_new, k) = o * t;
  }
}
inline void output_gate_gradient(const Device_CPU&, const Layout& l, const Block& dh, const Block& dc) {
  for (unsigned k = 0; k < l.n; ++k) {
    auto o = column(l.o, k), t = column(l.t, k), d = column(dh, k);
    column(l.d_o, k) = d * t * o * (1.f - o);
    column(l.dc, k) = column(dc, k) + d * o * (1.f - t * t);
  }
}
inline void cell_gradient(const Device_CPU&, const Layout& l) {
  for (unsigned k = 0; k < l.n; ++k) {
    auto i = column(l.i, k), g = column(l.g, k), d = column(l.dc, k);
    if (l.has_state) column(l.di, k) = d * (g - column(l.c, k)) * i * (1.f - i);
    else column(l.di, k) = d * g * i * (1.f - i);
    column(l.dg, k) = d * i * (1.f - g * g);
    g = d * (1.f - i);
    i = 0.f;
  }
}

#endif

} // namespace coupled_lstm
} // namespace dynet

#endif
