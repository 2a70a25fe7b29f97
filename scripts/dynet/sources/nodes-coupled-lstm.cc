#include "dynet/tensor-eigen.h"
#include "dynet/nodes-coupled-lstm.h"

#include "dynet/nodes-impl-macros.h"
#ifdef __CUDACC__
#include "dynet/cuda.h"
#else
#include "dynet/products.h"
#endif

using namespace std;

namespace dynet {

namespace coupled_lstm {

enum Arg { X2I, H2I, C2I, BI, X2O, H2O, C2O, BO, X2C, H2C, BC, X, STATE };

// A block of n columns of m rows, the columns `stride` floats apart.
struct Block {
  float* v;
  unsigned m, n, stride;
  Block columns(unsigned from, unsigned count) const { return {v + size_t(from) * stride, m, count, stride}; }
};

// Where everything of n steps side by side lies: a state is [h; c], the rest is in the auxiliary memory.
struct Layout {
  Layout(unsigned hidden, unsigned input, bool dropped, const Tensor& x_arg, const Tensor& fx, void* aux)
      : n(fx.d.bd), hidden(hidden), input(input), next(static_cast<float*>(aux)) {
    i = take(hidden), o = take(hidden), g = take(hidden), t = take(hidden);
    di = take(hidden), d_o = take(hidden), dg = take(hidden), dc = take(hidden);
    x_given = x = {x_arg.v, input, n, x_arg.d.rows()};
    if (dropped) mask = take(input), x = take(input);
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
  void go_on_from(const Block& before_h, const Block& before_c) { h = before_h, c = before_c, has_state = true; }
  // some of the steps
  Layout columns(unsigned from, unsigned count) const {
    Layout part = *this;
    part.n = count;
    for (Block* b : {&part.i, &part.o, &part.g, &part.t, &part.di, &part.d_o, &part.dg, &part.dc, &part.mask, &part.x,
                     &part.x_given, &part.h, &part.c, &part.h_new, &part.c_new})
      *b = b->columns(from, count);
    return part;
  }
  unsigned n, hidden, input;
  bool has_state = false;
  float* next;
  Block i, o, g, t;         // gates, candidate, tanh of the new cell
  Block di, d_o, dg, dc;    // derivatives of their logits, and of the cell before but for its share through o
  Block mask = {}, x;       // x as read: dropped where there is dropout
  Block x_given;
  Block h = {}, c = {}, h_new, c_new;
};

// Whether a forest keeps its weights transposed for its backward pass. To transpose them costs on the CPU what the
// multiplications of some levels with more than one state gain.
inline bool is_worth_transposing(const Device* device, const vector<unsigned>& level_ends) {
  return device->type == DeviceType::CPU && level_ends.size() >= 4 && level_ends.back() >= 2 * level_ends.size();
}

// floats that a layout takes from the auxiliary memory for each step
inline size_t floats_of_step(unsigned hidden, unsigned input, bool dropped) {
  return 8 * size_t(hidden) + (dropped ? 2 * size_t(input) : 0);
}

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
// column k of `to` is column parents[k] of `from`
void copy_columns(const Device_GPU& dev, const int* parents, const Block& from, const Block& to) {
  each(dev, to.m, to.n, [=] __device__(unsigned r, unsigned k) { at(to, r, k) = at(from, r, parents[k]); });
}
// column k of `from` is added to column parents[k] of `to`
void add_to_columns(const Device_GPU& dev, const int* parents, const Block& from, const Block& to) {
  each(dev, from.m, from.n, [=] __device__(unsigned r, unsigned k) { atomicAdd(&at(to, r, parents[k]), at(from, r, k)); });
}
const int* place(const Device_GPU& dev, const vector<int>& numbers, float* room) {
  CUDA_CHECK(cudaMemcpyAsync(room, numbers.data(), numbers.size() * sizeof(int), cudaMemcpyHostToDevice,
                             dev.estream->stream()));
  return reinterpret_cast<const int*>(room);
}
// never asked for: cuBLAS multiplies by a transposed matrix as fast as by the matrix
void transpose(const Device_GPU&, const Block&, const Block&) {}
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
  // Eigen is faster where each element of y gets only few products
  constexpr unsigned MANY = 64;
  if (ta) matrix(y).noalias() += matrix(a).transpose() * matrix(b);
  else if (!tb) products::add_product(y.m, a.n, y.n, a.v, a.stride, {b.v, 1, b.stride}, y.v, y.stride);
  else if (a.n >= MANY) products::add_product(y.m, a.n, y.n, a.v, a.stride, {b.v, b.stride, 1}, y.v, y.stride);
  else matrix(y).noalias() += matrix(a) * matrix(b).transpose();
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
void copy_columns(const Device_CPU&, const int* parents, const Block& from, const Block& to) {
  for (unsigned k = 0; k < to.n; ++k) column(to, k) = column(from, parents[k]);
}
void add_to_columns(const Device_CPU&, const int* parents, const Block& from, const Block& to) {
  for (unsigned k = 0; k < from.n; ++k) column(to, parents[k]) += column(from, k);
}
const int* place(const Device_CPU&, const vector<int>& numbers, float*) { return numbers.data(); }
void transpose(const Device_CPU&, const Block& from, const Block& to) {
  products::transpose(from.m, from.n, from.v, from.stride, to.v, to.stride);
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

// The weights among the arguments of a node.
class Weights {
 public:
  explicit Weights(const vector<const Tensor*>& xs) : xs(xs) {}
  Block operator()(unsigned a) const { return block(*xs[a]); }
  // keeps those that multiply states transposed, too
  template <class MyDevice>
  void transpose_recurrent(const MyDevice& dev, float* room) {
    for (unsigned a : RECURRENT) {
      const Block w = (*this)(a);
      turned[a] = {room, w.n, w.m, w.n};
      transpose(dev, w, turned[a]);
      room += size_t(w.m) * w.n;
    }
  }
  // y += transposed weights * b
  template <class MyDevice>
  void multiply_transposed(const MyDevice& dev, unsigned a, const Block& b, const Block& y) const {
    if (turned[a].v) multiply_add(dev, false, turned[a], false, b, y);
    else multiply_add(dev, true, (*this)(a), false, b, y);
  }
  static constexpr unsigned RECURRENT[] = {H2I, C2I, H2O, C2O, H2C};

 private:
  const vector<const Tensor*>& xs;
  Block turned[X] = {};
};

// What the inputs give to the gates of all steps.
template <class MyDevice>
void read_input(const MyDevice& dev, const Weights& w, real p, Device* device, const Layout& l) {
  if (p > 0) {
    Tensor mask(Dim({l.input}, l.n), l.mask.v, device, DeviceMempool::FXS);
    TensorTools::randomize_bernoulli(mask, 1.f - p, 1.f / (1.f - p));
    drop(dev, l.x_given, l.mask, l.x);
  }
  fill(dev, w(BI), l.i);
  fill(dev, w(BC), l.g);
  fill(dev, w(BO), l.o);
  multiply_add(dev, false, w(X2I), false, l.x, l.i);
  multiply_add(dev, false, w(X2C), false, l.x, l.g);
  multiply_add(dev, false, w(X2O), false, l.x, l.o);
}

// The new states of steps side by side.
template <class MyDevice>
void step(const MyDevice& dev, const Weights& w, const Layout& l) {
  if (l.has_state) {
    multiply_add(dev, false, w(H2I), false, l.h, l.i);
    multiply_add(dev, false, w(H2C), false, l.h, l.g);
    multiply_add(dev, false, w(H2O), false, l.h, l.o);
    multiply_add(dev, false, w(C2I), false, l.c, l.i);
  }
  new_cell(dev, l);
  multiply_add(dev, false, w(C2O), false, l.c_new, l.o);
  new_output(dev, l);
}

// The derivatives of the logits and of the cells before, from those of the new states.
template <class MyDevice>
void differentiate(const MyDevice& dev, const Weights& w, const Layout& l, const Block& dh, const Block& dc) {
  output_gate_gradient(dev, l, dh, dc);
  w.multiply_transposed(dev, C2O, l.d_o, l.dc);
  cell_gradient(dev, l);
  if (l.has_state) w.multiply_transposed(dev, C2I, l.di, l.dc);
}

// dh += the derivatives of h before, from those of the logits.
template <class MyDevice>
void add_h_gradient(const MyDevice& dev, const Weights& w, const Layout& l, const Block& dh) {
  w.multiply_transposed(dev, H2I, l.di, dh);
  w.multiply_transposed(dev, H2O, l.d_o, dh);
  w.multiply_transposed(dev, H2C, l.dg, dh);
}

// y += the derivatives of weights or biases a; `with_state` are the steps that go on from a state.
template <class MyDevice>
void add_weight_gradient(const MyDevice& dev, unsigned a, const Layout& l, const Layout& with_state, const Block& y) {
  const bool is_recurrent = a == H2I || a == C2I || a == H2O || a == H2C;
  const Layout& s = is_recurrent ? with_state : l;
  const Block& d = a <= BI ? s.di : a <= BO ? s.d_o : s.dg;
  if (a == BI || a == BO || a == BC) add_row_sums(dev, d, y);
  else if (a == C2O) multiply_add(dev, false, d, true, s.c_new, y);
  else if (!is_recurrent) multiply_add(dev, false, d, true, s.x, y);
  else if (s.n > 0) multiply_add(dev, false, d, true, a == C2I ? s.c : s.h, y);
}

// The derivatives of x as it is given. What was dropped is read no more after this.
template <class MyDevice>
void add_input_gradient(const MyDevice& dev, const Weights& w, real p, const Layout& l, const Block& y) {
  Block dx = y;
  if (p > 0) {
    dx = l.x;
    zero(dev, dx);
  }
  w.multiply_transposed(dev, X2I, l.di, dx);
  w.multiply_transposed(dev, X2O, l.d_o, dx);
  w.multiply_transposed(dev, X2C, l.dg, dx);
  if (p > 0) add_masked(dev, dx, l.mask, y);
}

} // namespace coupled_lstm

#ifndef __CUDACC__

string CoupledLSTMStep::as_string(const vector<string>& arg_names) const {
  ostringstream s;
  s << "coupled_lstm_step(" << arg_names[coupled_lstm::X] << ",p=" << p << ')';
  return s.str();
}

namespace coupled_lstm {

void check_weights(const vector<Dim>& xs, unsigned input_dim) {
  const unsigned hidden = xs[X2I].rows();
  for (int a : {X2I, X2O, X2C})
    DYNET_ARG_CHECK(xs[a].rows() == hidden && xs[a].cols() == input_dim, "coupled LSTM: bad input weights " << xs[a]);
  for (int a : {H2I, C2I, H2O, C2O, H2C})
    DYNET_ARG_CHECK(xs[a].rows() == hidden && xs[a].cols() == hidden, "coupled LSTM: bad weights " << xs[a]);
  for (int a : {BI, BO, BC})
    DYNET_ARG_CHECK(xs[a].rows() == hidden && xs[a].cols() == 1, "coupled LSTM: bad bias " << xs[a]);
  DYNET_ARG_CHECK(xs[X].cols() == 1 && (xs[X].rows() == input_dim || xs[X].rows() == 2 * input_dim),
                  "coupled LSTM: x has " << xs[X] << ", needs " << input_dim << " rows, or a state of those");
}

} // namespace coupled_lstm

Dim CoupledLSTMStep::dim_forward(const vector<Dim>& xs) const {
  using namespace coupled_lstm;
  DYNET_ARG_CHECK(xs.size() == X + 1 || xs.size() == STATE + 1, "CoupledLSTMStep has 12 or 13 arguments, not " << xs.size());
  check_weights(xs, input_dim);
  const unsigned hidden = xs[X2I].rows();
  if (xs.size() > STATE)
    DYNET_ARG_CHECK(xs[STATE].rows() == 2 * hidden && xs[STATE].cols() == 1 && xs[STATE].bd == xs[X].bd,
                    "CoupledLSTMStep: bad state " << xs[STATE] << " for x " << xs[X]);
  return Dim({2 * hidden}, xs[X].bd);
}

size_t CoupledLSTMStep::aux_storage_size() const {
  return coupled_lstm::floats_of_step(dim.rows() / 2, input_dim, p > 0) * dim.bd * sizeof(float);
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

string CoupledLSTMForest::as_string(const vector<string>& arg_names) const {
  ostringstream s;
  s << "coupled_lstm_forest(" << arg_names[coupled_lstm::X] << ",p=" << p << ')';
  return s.str();
}

Dim CoupledLSTMForest::dim_forward(const vector<Dim>& xs) const {
  using namespace coupled_lstm;
  DYNET_ARG_CHECK(xs.size() == X + 1, "CoupledLSTMForest has 12 arguments, not " << xs.size());
  check_weights(xs, input_dim);
  DYNET_ARG_CHECK(parents.size() == xs[X].bd && !level_ends.empty() && level_ends.back() == xs[X].bd,
                  "CoupledLSTMForest: " << parents.size() << " parents for x " << xs[X]);
  for (size_t level = 0; level < level_ends.size(); ++level) {
    const unsigned begin = level ? level_ends[level - 1] : 0;
    DYNET_ARG_CHECK(begin < level_ends[level], "CoupledLSTMForest: level " << level << " has no states");
    for (unsigned k = begin; k < level_ends[level] && level; ++k)
      DYNET_ARG_CHECK(parents[k] >= 0 && unsigned(parents[k]) < begin,
                      "CoupledLSTMForest: state " << k << " cannot go on from " << parents[k]);
  }
  return Dim({2 * xs[X2I].rows()}, xs[X].bd);
}

size_t CoupledLSTMForest::aux_storage_size() const {
  using namespace coupled_lstm;
  const size_t hidden = dim.rows() / 2;
  // also the states before, and the parents
  const size_t floats = (floats_of_step(hidden, input_dim, p > 0) + 2 * hidden + 1) * dim.bd;
  const bool transposed = is_worth_transposing(device, level_ends);
  return (floats + (transposed ? size(Weights::RECURRENT) * hidden * hidden : 0)) * sizeof(float);
}

#endif

template <class MyDevice>
void CoupledLSTMStep::forward_dev_impl(const MyDevice& dev, const vector<const Tensor*>& xs, Tensor& fx) const {
  using namespace coupled_lstm;
  Layout l(fx.d.rows() / 2, input_dim, p > 0, *xs[X], fx, aux_mem);
  if (xs.size() > STATE) l.go_on_from(l.half(*xs[STATE], 0), l.half(*xs[STATE], 1));
  read_input(dev, Weights(xs), p, fx.device, l);
  step(dev, Weights(xs), l);
}

template <class MyDevice>
void CoupledLSTMStep::backward_dev_impl(const MyDevice& dev,
                                        const vector<const Tensor*>& xs,
                                        const Tensor& fx,
                                        const Tensor& dEdf,
                                        unsigned i,
                                        Tensor& dEdxi) const {
  using namespace coupled_lstm;
  Layout l(fx.d.rows() / 2, input_dim, p > 0, *xs[X], fx, aux_mem);
  if (xs.size() > STATE) l.go_on_from(l.half(*xs[STATE], 0), l.half(*xs[STATE], 1));
  const Weights w(xs);
  // always asked for, as a parameter, and before the others: they find the derivatives of the logits ready
  if (i == X2I) differentiate(dev, w, l, l.half(dEdf, 0), l.half(dEdf, 1));
  if (i < X) {
    add_weight_gradient(dev, i, l, l.columns(0, l.has_state ? l.n : 0), block(dEdxi));
  } else if (i == X) {
    add_input_gradient(dev, w, p, l, {dEdxi.v, input_dim, l.n, dEdxi.d.rows()});
  } else {
    add_h_gradient(dev, w, l, l.half(dEdxi, 0));
    add(dev, l.dc, l.half(dEdxi, 1));
  }
}
DYNET_NODE_INST_DEV_IMPL(CoupledLSTMStep)

namespace coupled_lstm {

// The layout of a forest: the states before are put side by side in the auxiliary memory.
struct ForestLayout : Layout {
  ForestLayout(unsigned hidden, unsigned input, bool dropped, const Tensor& x_arg, const Tensor& fx, void* aux)
      : Layout(hidden, input, dropped, x_arg, fx, aux) {
    const Block before_h = take(hidden), before_c = take(hidden);
    go_on_from(before_h, before_c);
    room_of_parents = next;
    room_of_transposed = next + n;
  }
  // a level as steps side by side
  Layout level(unsigned begin, unsigned end) const {
    Layout part = columns(begin, end - begin);
    part.has_state = begin > 0;
    return part;
  }
  float *room_of_parents, *room_of_transposed;
};

} // namespace coupled_lstm

template <class MyDevice>
void CoupledLSTMForest::forward_dev_impl(const MyDevice& dev, const vector<const Tensor*>& xs, Tensor& fx) const {
  using namespace coupled_lstm;
  const ForestLayout l(fx.d.rows() / 2, input_dim, p > 0, *xs[X], fx, aux_mem);
  const int* before = place(dev, parents, l.room_of_parents);
  const Weights w(xs);
  read_input(dev, w, p, fx.device, l);
  unsigned begin = 0;
  for (unsigned end : level_ends) {
    const Layout s = l.level(begin, end);
    if (s.has_state) {
      copy_columns(dev, before + begin, l.h_new, s.h);
      copy_columns(dev, before + begin, l.c_new, s.c);
    }
    step(dev, w, s);
    begin = end;
  }
}

template <class MyDevice>
void CoupledLSTMForest::backward_dev_impl(const MyDevice& dev,
                                          const vector<const Tensor*>& xs,
                                          const Tensor& fx,
                                          const Tensor& dEdf,
                                          unsigned i,
                                          Tensor& dEdxi) const {
  using namespace coupled_lstm;
  const ForestLayout l(fx.d.rows() / 2, input_dim, p > 0, *xs[X], fx, aux_mem);
  Weights w(xs);
  if (i == X2I) {
    // always asked for, as a parameter, and before the others: they find the derivatives of the logits ready
    if (is_worth_transposing(device, level_ends)) w.transpose_recurrent(dev, l.room_of_transposed);
    const int* before = place(dev, parents, l.room_of_parents);
    const Block dh = l.half(dEdf, 0), dc = l.half(dEdf, 1);
    for (size_t level = level_ends.size(); level-- > 0;) {
      const unsigned begin = level ? level_ends[level - 1] : 0, count = level_ends[level] - begin;
      const Layout s = l.level(begin, level_ends[level]);
      differentiate(dev, w, s, dh.columns(begin, count), dc.columns(begin, count));
      if (!s.has_state) continue;
      // the gates of these states are read no more: their room serves for the derivatives of h before
      zero(dev, s.i);
      add_h_gradient(dev, w, s, s.i);
      add_to_columns(dev, before + begin, s.i, dh);
      add_to_columns(dev, before + begin, s.dc, dc);
    }
  }
  if (i < X) add_weight_gradient(dev, i, l, l.columns(level_ends[0], l.n - level_ends[0]), block(dEdxi));
  else add_input_gradient(dev, w, p, l, {dEdxi.v, input_dim, l.n, dEdxi.d.rows()});
}
DYNET_NODE_INST_DEV_IMPL(CoupledLSTMForest)

} // namespace dynet
