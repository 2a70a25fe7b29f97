#include "dynet/tensor-eigen.h"
#include "dynet/nodes-coupled-lstm.h"

#include "dynet/nodes-impl-macros.h"
#ifdef __CUDACC__
#include "dynet/cuda.h"
#endif

using namespace std;

namespace dynet {

namespace coupled_lstm {

enum Arg { X2I, H2I, C2I, BI, X2O, H2O, C2O, BO, X2C, H2C, BC, X, STATE };

// A block of n columns of m rows, the columns `stride` floats apart.
struct Block {
  float* v;
  unsigned m, n, stride;
};

// Where everything of n steps side by side lies: a state is [h; c], the rest is in the auxiliary memory.
struct Layout {
  Layout(unsigned hidden, unsigned input, bool dropped, const vector<const Tensor*>& xs, const Tensor& fx, void* aux)
      : n(fx.d.bd), hidden(hidden), input(input), has_state(xs.size() > STATE) {
    float* next = static_cast<float*>(aux);
    auto take = [&](unsigned rows) { Block b = {next, rows, n, rows}; next += size_t(rows) * n; return b; };
    i = take(hidden), o = take(hidden), g = take(hidden), t = take(hidden);
    di = take(hidden), d_o = take(hidden), dg = take(hidden), dc = take(hidden);
    x = {xs[X]->v, input, n, xs[X]->d.rows()};
    if (dropped) mask = take(input), x = take(input);
    h_new = half(fx, 0), c_new = half(fx, 1);
    if (has_state) h = half(*xs[STATE], 0), c = half(*xs[STATE], 1);
  }
  Block half(const Tensor& state, unsigned which) const {
    return {state.v + size_t(which) * hidden, hidden, n, 2 * hidden};
  }
  unsigned n, hidden, input;
  bool has_state;
  Block i, o, g, t;         // gates, candidate, tanh of the new cell
  Block di, d_o, dg, dc;    // derivatives of their logits, and of the cell before but for its share through o
  Block mask, x;            // x as read: dropped where there is dropout
  Block h, c, h_new, c_new;
};

inline Block block(const Tensor& t) { return {t.v, t.d.rows(), t.d.cols() * t.d.bd, t.d.rows()}; }

#ifdef __CUDACC__

inline void multiply_add(const Device_GPU& dev, bool ta, const Block& a, bool tb, const Block& b, const Block& y) {
  CUBLAS_CHECK(cublasSgemm(dev.cublas_handle, ta ? CUBLAS_OP_T : CUBLAS_OP_N, tb ? CUBLAS_OP_T : CUBLAS_OP_N,
                           y.m, y.n, ta ? a.m : a.n, dev.kSCALAR_ONE, a.v, a.stride, b.v, b.stride,
                           dev.kSCALAR_ONE, y.v, y.stride));
}

// every kernel has a thread for each of the m x n elements
template <class F>
__global__ void each_kernel(F f, unsigned m, unsigned n) {
  size_t k = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (k < size_t(m) * n) f(unsigned(k % m), unsigned(k / m));
}

template <class F>
void each(const Device_GPU& dev, unsigned m, unsigned n, F f) {
  unsigned threads = 128, blocks = unsigned((size_t(m) * n + threads - 1) / threads);
  each_kernel<<<blocks, threads, 0, dev.estream->stream()>>>(f, m, n);
  CUDA_CHECK(cudaGetLastError());
}

__device__ inline float& at(const Block& b, unsigned r, unsigned k) { return b.v[size_t(k) * b.stride + r]; }
__device__ inline float sigmoid(float a) { return 1.f / (1.f + expf(-a)); }

void fill(const Device_GPU& dev, const Block& bias, const Block& y) {
  each(dev, y.m, y.n, [=] __device__(unsigned r, unsigned k) { at(y, r, k) = bias.v[r]; });
}
void drop(const Device_GPU& dev, const Block& from, const Block& mask, const Block& to) {
  each(dev, to.m, to.n, [=] __device__(unsigned r, unsigned k) { at(to, r, k) = at(from, r, k) * at(mask, r, k); });
}
void add_masked(const Device_GPU& dev, const Block& from, const Block& mask, const Block& to) {
  each(dev, to.m, to.n, [=] __device__(unsigned r, unsigned k) { at(to, r, k) += at(from, r, k) * at(mask, r, k); });
}
void add(const Device_GPU& dev, const Block& from, const Block& to) {
  each(dev, to.m, to.n, [=] __device__(unsigned r, unsigned k) { at(to, r, k) += at(from, r, k); });
}
void zero(const Device_GPU& dev, const Block& y) {
  each(dev, y.m, y.n, [=] __device__(unsigned r, unsigned k) { at(y, r, k) = 0.f; });
}
void add_row_sums(const Device_GPU& dev, const Block& from, const Block& to) {
  each(dev, from.m, 1, [=] __device__(unsigned r, unsigned) {
    float sum = 0.f;
    for (unsigned k = 0; k < from.n; ++k) sum += at(from, r, k);
    to.v[r] += sum;
  });
}
void new_cell(const Device_GPU& dev, const Layout& l) {
  each(dev, l.hidden, l.n, [=] __device__(unsigned r, unsigned k) {
    float i = at(l.i, r, k) = sigmoid(at(l.i, r, k)), g = at(l.g, r, k) = tanhf(at(l.g, r, k));
    at(l.c_new, r, k) = i * g + (l.has_state ? (1.f - i) * at(l.c, r, k) : 0.f);
  });
}
void new_output(const Device_GPU& dev, const Layout& l) {
  each(dev, l.hidden, l.n, [=] __device__(unsigned r, unsigned k) {
    float o = at(l.o, r, k) = sigmoid(at(l.o, r, k)), t = at(l.t, r, k) = tanhf(at(l.c_new, r, k));
    at(l.h_new, r, k) = o * t;
  });
}
void output_gate_gradient(const Device_GPU& dev, const Layout& l, const Block& dh, const Block& dc) {
  each(dev, l.hidden, l.n, [=] __device__(unsigned r, unsigned k) {
    float o = at(l.o, r, k), t = at(l.t, r, k), d = at(dh, r, k);
    at(l.d_o, r, k) = d * t * o * (1.f - o);
    at(l.dc, r, k) = at(dc, r, k) + d * o * (1.f - t * t);
  });
}
void cell_gradient(const Device_GPU& dev, const Layout& l) {
  each(dev, l.hidden, l.n, [=] __device__(unsigned r, unsigned k) {
    float i = at(l.i, r, k), g = at(l.g, r, k), d = at(l.dc, r, k);
    float c = l.has_state ? at(l.c, r, k) : 0.f;
    at(l.di, r, k) = d * (g - c) * i * (1.f - i);
    at(l.dg, r, k) = d * i * (1.f - g * g);
    at(l.dc, r, k) = d * (1.f - i);
  });
}

#else

typedef Eigen::Map<Eigen::MatrixXf, 0, Eigen::OuterStride<> > Matrix;
typedef Eigen::Map<Eigen::ArrayXf> Column;

inline Matrix matrix(const Block& b) { return Matrix(b.v, b.m, b.n, Eigen::OuterStride<>(b.stride)); }
inline Column column(const Block& b, unsigned k) { return Column(b.v + size_t(k) * b.stride, b.m); }

// y += op(a) * op(b)
inline void multiply_add(const Device_CPU&, bool ta, const Block& a, bool tb, const Block& b, const Block& y) {
  if (ta) matrix(y).noalias() += matrix(a).transpose() * matrix(b);
  else if (tb) matrix(y).noalias() += matrix(a) * matrix(b).transpose();
  else matrix(y).noalias() += matrix(a) * matrix(b);
}
void fill(const Device_CPU&, const Block& bias, const Block& y) {
  for (unsigned k = 0; k < y.n; ++k) column(y, k) = column(bias, 0);
}
void drop(const Device_CPU&, const Block& from, const Block& mask, const Block& to) {
  for (unsigned k = 0; k < to.n; ++k) column(to, k) = column(from, k) * column(mask, k);
}
void add_masked(const Device_CPU&, const Block& from, const Block& mask, const Block& to) {
  for (unsigned k = 0; k < to.n; ++k) column(to, k) += column(from, k) * column(mask, k);
}
void add(const Device_CPU&, const Block& from, const Block& to) {
  for (unsigned k = 0; k < to.n; ++k) column(to, k) += column(from, k);
}
void zero(const Device_CPU&, const Block& y) { matrix(y).setZero(); }
void add_row_sums(const Device_CPU&, const Block& from, const Block& to) {
  for (unsigned k = 0; k < from.n; ++k) column(to, 0) += column(from, k);
}
void new_cell(const Device_CPU&, const Layout& l) {
  for (unsigned k = 0; k < l.n; ++k) {
    auto i = column(l.i, k), g = column(l.g, k);
    i = i.logistic();
    g = g.tanh();
    if (l.has_state) column(l.c_new, k) = i * g + (1.f - i) * column(l.c, k);
    else column(l.c_new, k) = i * g;
  }
}
void new_output(const Device_CPU&, const Layout& l) {
  for (unsigned k = 0; k < l.n; ++k) {
    auto o = column(l.o, k), t = column(l.t, k);
    o = o.logistic();
    t = column(l.c_new, k).tanh();
    column(l.h_new, k) = o * t;
  }
}
void output_gate_gradient(const Device_CPU&, const Layout& l, const Block& dh, const Block& dc) {
  for (unsigned k = 0; k < l.n; ++k) {
    auto o = column(l.o, k), t = column(l.t, k), d = column(dh, k);
    column(l.d_o, k) = d * t * o * (1.f - o);
    column(l.dc, k) = column(dc, k) + d * o * (1.f - t * t);
  }
}
void cell_gradient(const Device_CPU&, const Layout& l) {
  for (unsigned k = 0; k < l.n; ++k) {
    auto i = column(l.i, k), g = column(l.g, k), d = column(l.dc, k);
    if (l.has_state) column(l.di, k) = d * (g - column(l.c, k)) * i * (1.f - i);
    else column(l.di, k) = d * g * i * (1.f - i);
    column(l.dg, k) = d * i * (1.f - g * g);
    d *= 1.f - i;
  }
}

#endif

} // namespace coupled_lstm

#ifndef __CUDACC__

string CoupledLSTMStep::as_string(const vector<string>& arg_names) const {
  ostringstream s;
  s << "coupled_lstm_step(" << arg_names[coupled_lstm::X] << ",p=" << p << ')';
  return s.str();
}

Dim CoupledLSTMStep::dim_forward(const vector<Dim>& xs) const {
  using namespace coupled_lstm;
  DYNET_ARG_CHECK(xs.size() == X + 1 || xs.size() == STATE + 1, "CoupledLSTMStep has 12 or 13 arguments, not " << xs.size());
  const unsigned hidden = xs[X2I].rows();
  for (int a : {X2I, X2O, X2C})
    DYNET_ARG_CHECK(xs[a].rows() == hidden && xs[a].cols() == input_dim, "CoupledLSTMStep: bad input weights " << xs[a]);
  for (int a : {H2I, C2I, H2O, C2O, H2C})
    DYNET_ARG_CHECK(xs[a].rows() == hidden && xs[a].cols() == hidden, "CoupledLSTMStep: bad weights " << xs[a]);
  for (int a : {BI, BO, BC})
    DYNET_ARG_CHECK(xs[a].rows() == hidden && xs[a].cols() == 1, "CoupledLSTMStep: bad bias " << xs[a]);
  DYNET_ARG_CHECK(xs[X].cols() == 1 && (xs[X].rows() == input_dim || xs[X].rows() == 2 * input_dim),
                  "CoupledLSTMStep: x has " << xs[X] << ", needs " << input_dim << " rows, or a state of those");
  if (xs.size() > STATE)
    DYNET_ARG_CHECK(xs[STATE].rows() == 2 * hidden && xs[STATE].cols() == 1 && xs[STATE].bd == xs[X].bd,
                    "CoupledLSTMStep: bad state " << xs[STATE] << " for x " << xs[X]);
  return Dim({2 * hidden}, xs[X].bd);
}

size_t CoupledLSTMStep::aux_storage_size() const {
  return (4 * dim.rows() + (p > 0 ? 2 * input_dim : 0)) * size_t(dim.bd) * sizeof(float);
}

int CoupledLSTMStep::autobatch_sig(const ComputationGraph& cg, SigMap& sm) const {
  using namespace coupled_lstm;
  Sig s(nt::coupled_lstm);
  s.add_node(args[X2I]);
  s.add_dim(cg.nodes[args[X]]->dim);
  s.add_int(int(args.size()));
  s.add_float(p);
  return sm.get_idx(s);
}

vector<int> CoupledLSTMStep::autobatch_concat(const ComputationGraph& cg) const {
  vector<int> concat(args.size(), 0);
  for (size_t a = coupled_lstm::X; a < args.size(); ++a) concat[a] = 1;
  return concat;
}

#endif

template <class MyDevice>
void CoupledLSTMStep::forward_dev_impl(const MyDevice& dev, const vector<const Tensor*>& xs, Tensor& fx) const {
  using namespace coupled_lstm;
  const Layout l(fx.d.rows() / 2, input_dim, p > 0, xs, fx, aux_mem);
  auto weights = [&](Arg a) { return block(*xs[a]); };
  if (p > 0) {
    Tensor mask(Dim({input_dim}, l.n), l.mask.v, fx.device, DeviceMempool::FXS);
    TensorTools::randomize_bernoulli(mask, 1.f - p, 1.f / (1.f - p));
    drop(dev, {xs[X]->v, input_dim, l.n, xs[X]->d.rows()}, l.mask, l.x);
  }
  fill(dev, weights(BI), l.i);
  fill(dev, weights(BC), l.g);
  fill(dev, weights(BO), l.o);
  multiply_add(dev, false, weights(X2I), false, l.x, l.i);
  multiply_add(dev, false, weights(X2C), false, l.x, l.g);
  multiply_add(dev, false, weights(X2O), false, l.x, l.o);
  if (l.has_state) {
    multiply_add(dev, false, weights(H2I), false, l.h, l.i);
    multiply_add(dev, false, weights(H2C), false, l.h, l.g);
    multiply_add(dev, false, weights(H2O), false, l.h, l.o);
    multiply_add(dev, false, weights(C2I), false, l.c, l.i);
  }
  new_cell(dev, l);
  multiply_add(dev, false, weights(C2O), false, l.c_new, l.o);
  new_output(dev, l);
}

template <class MyDevice>
void CoupledLSTMStep::backward_dev_impl(const MyDevice& dev,
                                        const vector<const Tensor*>& xs,
                                        const Tensor& fx,
                                        const Tensor& dEdf,
                                        unsigned i,
                                        Tensor& dEdxi) const {
  using namespace coupled_lstm;
  const Layout l(fx.d.rows() / 2, input_dim, p > 0, xs, fx, aux_mem);
  auto weights = [&](Arg a) { return block(*xs[a]); };
  if (i == X2I) {
    // always asked for, as a parameter, and before the others: they find the derivatives of the logits ready
    output_gate_gradient(dev, l, l.half(dEdf, 0), l.half(dEdf, 1));
    multiply_add(dev, true, weights(C2O), false, l.d_o, l.dc);
    cell_gradient(dev, l);
    if (l.has_state) multiply_add(dev, true, weights(C2I), false, l.di, l.dc);
  }
  if (i < X) {
    const Block& d = i <= BI ? l.di : i <= BO ? l.d_o : l.dg;
    const Block y = block(dEdxi);
    if (i == BI || i == BO || i == BC) add_row_sums(dev, d, y);
    else if (i == X2I || i == X2O || i == X2C) multiply_add(dev, false, d, true, l.x, y);
    else if (i == C2O) multiply_add(dev, false, d, true, l.c_new, y);
    else if (l.has_state) multiply_add(dev, false, d, true, i == C2I ? l.c : l.h, y);
  } else if (i == X) {
    const Block y = {dEdxi.v, input_dim, l.n, dEdxi.d.rows()};
    // the gates are read no more: their room serves for the derivative of the dropped x
    Block dx = y;
    if (p > 0) {
      dx = l.x;
      zero(dev, dx);
    }
    multiply_add(dev, true, weights(X2I), false, l.di, dx);
    multiply_add(dev, true, weights(X2O), false, l.d_o, dx);
    multiply_add(dev, true, weights(X2C), false, l.dg, dx);
    if (p > 0) add_masked(dev, dx, l.mask, y);
  } else {
    const Block dh = l.half(dEdxi, 0);
    multiply_add(dev, true, weights(H2I), false, l.di, dh);
    multiply_add(dev, true, weights(H2O), false, l.d_o, dh);
    multiply_add(dev, true, weights(H2C), false, l.dg, dh);
    add(dev, l.dc, l.half(dEdxi, 1));
  }
}
DYNET_NODE_INST_DEV_IMPL(CoupledLSTMStep)

} // namespace dynet
