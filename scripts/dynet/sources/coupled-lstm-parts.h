#ifndef DYNET_COUPLED_LSTM_PARTS_H_
#define DYNET_COUPLED_LSTM_PARTS_H_

// Operations on blocks on the CPU; coupled-lstm-gpu.h has those of GPUs.
// nodes-coupled-lstm.h says why.

#include <cstdint>
#include <vector>

#include "dynet/nodes-coupled-lstm.h"
#ifndef __CUDACC__
#include "dynet/products.h"
#endif

namespace dynet {
namespace coupled_lstm {

inline Block block(const Tensor& t) { return {t.v, t.d.rows(), t.d.cols() * t.d.bd, t.d.rows()}; }

inline Layout layout(const CoupledLSTMWeights& w, real p, const Tensor& x, const Tensor& fx, void* aux) {
  return Layout(w.hidden, w.input, p > 0, block(x), block(fx), static_cast<float*>(aux));
}

#ifndef __CUDACC__

typedef Eigen::Map<Eigen::MatrixXf, 0, Eigen::OuterStride<> > Matrix;
typedef Eigen::Map<Eigen::ArrayXf> Column;

inline Matrix matrix(const Block& b) { return Matrix(b.v, b.m, b.n, Eigen::OuterStride<>(b.stride)); }
inline Column column(const Block& b, unsigned k) { return Column(b.v + size_t(k) * b.stride, b.m); }

// Memory that all nodes share, one after another.
inline void* shared_room(size_t floats) {
  thread_local std::vector<float> shared;
  constexpr std::uintptr_t line = 64;  // bytes of a cache line, to which DyNet aligns, too
  if (shared.size() < floats + line) shared.resize(floats + line);
  return reinterpret_cast<void*>((reinterpret_cast<std::uintptr_t>(shared.data()) + line - 1) & ~(line - 1));
}
// The distinct ones of some numbers below a bound, and the index of each number among these.
struct Distinct {
  explicit Distinct(unsigned bound) : place(bound, -1) {}
  void find(const int* given, unsigned count) {
    for (int number : numbers) place[number] = -1;
    numbers.clear(), places.clear();
    for (unsigned k = 0; k < count; ++k) {
      int& at = place[given[k]];
      if (at < 0) at = int(numbers.size()), numbers.push_back(given[k]);
      places.push_back(at);
    }
  }
  std::vector<int> place, numbers, places;
};
// y += a * b, where a is in panels
inline void multiply_add(const Device_CPU&, const Block& a, const Block& b, const Block& y) {
  products::add_product(products::Panels{a.v, int(a.m), int(a.n)}, y.n, b.v, b.stride, y.v, y.stride);
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
inline void add_from_columns(const Device_CPU&, const int* parents, const Block& from, const Block& to) {
  for (unsigned k = 0; k < to.n; ++k) column(to, k) += column(from, parents[k]);
}
inline void add_to_columns(const Device_CPU&, const int* parents, const Block& from, const Block& to) {
  for (unsigned k = 0; k < from.n; ++k) column(to, parents[k]) += column(from, k);
}
// to = from': squares of registers, then single numbers at the edges
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
// Returns weights a in panels, transposed or not; the first call packs all weights.
inline Block packed(const Device_CPU&, const CoupledLSTMWeights& w, unsigned a, Packing packing) {
  float* room = static_cast<float*>(w.aux_mem);
  for (unsigned b = 0; b < WEIGHTS && w.packing != packing; ++b) {
    const Block& from = w.weights[b];
    if (b == BI || b == BO || b == BC) continue;
    const bool is_turned = packing == TURNED;
    const unsigned m = is_turned ? from.n : from.m, inner = is_turned ? from.m : from.n;
    products::packed(m, inner, room, [&](unsigned row, unsigned rows, float* panel) {
      const Block to = {panel, rows, inner, rows};
      if (is_turned) transpose(from.columns(row, rows), to);
      else matrix(to) = matrix(from.rows(row, rows));
    });
    w.turned[b] = {room, m, inner, m};
    room += size_t(m) * inner;
  }
  w.packing = packing;
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
// Computes the derivatives of the logits of i and g. It overwrites the gate i with 0, and g with
// the derivative of the cell before, without what reaches h and c through the gates.
// `add_to_states` can add that there.
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
