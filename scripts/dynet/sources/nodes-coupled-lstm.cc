// A layer of CoupledLSTMBuilder as few nodes; nodes-coupled-lstm.h says why.

#include <array>
#include <cstdlib>

#include "dynet/tensor-eigen.h"
#include "dynet/coupled-lstm-parts.h"

#include "dynet/nodes-impl-macros.h"

using namespace std;

namespace dynet {

namespace coupled_lstm {

// y += weights a * b
template <class MyDevice>
void multiply(const MyDevice& dev, const CoupledLSTMWeights& w, unsigned a, const Block& b, const Block& y) {
  multiply_add(dev, false, w.weights[a], b, y);
}

// y += transposed weights a * b
template <class MyDevice>
void multiply_transposed(const MyDevice& dev, const CoupledLSTMWeights& w, unsigned a, const Block& b, const Block& y) {
  if (w.is_stacked()) multiply_add(dev, true, w.weights[a], b, y);
  else multiply_add(dev, false, turned(dev, w, a), b, y);
}

// What the inputs give to the gates of all steps.
template <class MyDevice>
void read_input(const MyDevice& dev, const CoupledLSTMWeights& w, real p, Device* device, const Layout& l) {
  if (p > 0) {
    Tensor mask(Dim({w.input}, l.n), l.mask.v, device, DeviceMempool::FXS);
    TensorTools::randomize_bernoulli(mask, 1.f - p, 1.f / (1.f - p));
    drop(dev, l.x_given, l.mask, l.x);
  }
  if (w.is_stacked()) {
    fill(dev, w.biases, l.gates);
    multiply_add(dev, false, w.of_input, l.x, l.gates);
    return;
  }
  fill(dev, w.weights[BI], l.i);
  fill(dev, w.weights[BC], l.g);
  fill(dev, w.weights[BO], l.o);
  multiply(dev, w, X2I, l.x, l.i);
  multiply(dev, w, X2C, l.x, l.g);
  multiply(dev, w, X2O, l.x, l.o);
}

// The new states of steps side by side.
template <class MyDevice>
void step(const MyDevice& dev, const CoupledLSTMWeights& w, const Layout& l) {
  if (l.has_state && w.is_stacked()) {
    multiply_add(dev, false, w.of_state, l.before, l.gates);
  } else if (l.has_state) {
    multiply(dev, w, H2I, l.h, l.i);
    multiply(dev, w, H2C, l.h, l.g);
    multiply(dev, w, H2O, l.h, l.o);
    multiply(dev, w, C2I, l.c, l.i);
  }
  new_cell(dev, l);
  multiply(dev, w, C2O, l.c_new, l.o);
  new_output(dev, l);
}

// The derivatives of the logits, from those of the new states.
template <class MyDevice>
void differentiate(const MyDevice& dev, const CoupledLSTMWeights& w, const Layout& l, const Block& dh, const Block& dc) {
  output_gate_gradient(dev, l, dh, dc);
  multiply_transposed(dev, w, C2O, l.d_o, l.dc);
  cell_gradient(dev, l);
}

// What the derivatives of the logits give to those of the states before: dh above dc.
template <class MyDevice>
void add_state_gradient(const MyDevice& dev, const CoupledLSTMWeights& w, const Layout& l, const Block& dh,
                        const Block& dc) {
  if (w.is_stacked()) {
    multiply_add(dev, true, w.of_state, l.d, both(dh, dc));
    return;
  }
  multiply_transposed(dev, w, H2I, l.di, dh);
  multiply_transposed(dev, w, H2O, l.d_o, dh);
  multiply_transposed(dev, w, H2C, l.dg, dh);
  multiply_transposed(dev, w, C2I, l.di, dc);
}

// The derivatives of x as it is given.
template <class MyDevice>
void add_input_gradient(const MyDevice& dev, const CoupledLSTMWeights& w, real p, const Layout& l, const Block& y) {
  const Block dx = p > 0 ? l.dx : y;
  if (p > 0) zero(dev, dx);
  if (w.is_stacked()) {
    multiply_add(dev, true, w.of_input, l.d, dx);
  } else {
    multiply_transposed(dev, w, X2I, l.di, dx);
    multiply_transposed(dev, w, X2O, l.d_o, dx);
    multiply_transposed(dev, w, X2C, l.dg, dx);
  }
  if (p > 0) add_masked(dev, dx, l.mask, y);
}

inline void differentiate_once(bool& is_differentiated) {
  DYNET_ARG_CHECK(!is_differentiated, "derivatives of a coupled LSTM are asked for twice: renew the graph");
  is_differentiated = true;
}

// The derivatives of what weights or biases a give to in some steps, and what the weights multiply there.
inline pair<Block, Block> factors(unsigned a, const Differentiated& s) {
  const Block& d = a <= BI ? s.di : a <= BO ? s.d_o : s.dg;
  if (a == C2O) return {d, s.c_new};
  if (a != H2I && a != C2I && a != H2O && a != H2C) return {d, s.x};
  const Block& read = a == C2I ? s.c : s.h;
  return {d.columns(s.starts, d.n - s.starts), read.columns(s.starts, d.n - s.starts)};
}

} // namespace coupled_lstm

#ifndef __CUDACC__

string CoupledLSTMWeights::as_string(const vector<string>& arg_names) const {
  return "coupled_lstm_weights(" + arg_names[0] + ')';
}

Dim CoupledLSTMWeights::dim_forward(const vector<Dim>& xs) const {
  using namespace coupled_lstm;
  DYNET_ARG_CHECK(xs.size() == WEIGHTS, "CoupledLSTMWeights has 11 arguments, not " << xs.size());
  for (int a : {X2I, X2O, X2C})
    DYNET_ARG_CHECK(xs[a].rows() == hidden && xs[a].cols() == input, "coupled LSTM: bad input weights " << xs[a]);
  for (int a : {H2I, C2I, H2O, C2O, H2C})
    DYNET_ARG_CHECK(xs[a].rows() == hidden && xs[a].cols() == hidden, "coupled LSTM: bad weights " << xs[a]);
  for (int a : {BI, BO, BC})
    DYNET_ARG_CHECK(xs[a].rows() == hidden && xs[a].cols() == 1, "coupled LSTM: bad bias " << xs[a]);
  return Dim({1});
}

size_t CoupledLSTMWeights::aux_storage_size() const {
  const size_t stacked = 3 * size_t(hidden) * (2 * hidden + input + 1);
  const size_t transposed = size_t(hidden) * (5 * hidden + 3 * input);
  return (is_stacked() ? stacked : transposed) * sizeof(float);
}

bool CoupledLSTMWeights::is_stacked() const {
  // so that what GPUs compute can be tested without one
  static const char* everywhere = getenv("DYNET_STACKED_LSTM");
  return device->type == DeviceType::GPU || (everywhere && everywhere == string("1"));
}

namespace coupled_lstm {

void check_input(const Dim& x, unsigned input) {
  DYNET_ARG_CHECK(x.cols() == 1 && (x.rows() == input || x.rows() == 2 * input),
                  "coupled LSTM: x has " << x << ", needs " << input << " rows, or a state of those");
}

} // namespace coupled_lstm

string CoupledLSTMStep::as_string(const vector<string>& arg_names) const {
  ostringstream s;
  s << "coupled_lstm_step(" << arg_names[coupled_lstm::X] << ",p=" << p << ')';
  return s.str();
}

Dim CoupledLSTMStep::dim_forward(const vector<Dim>& xs) const {
  using namespace coupled_lstm;
  DYNET_ARG_CHECK(xs.size() == X + 1 || xs.size() == STATE + 1, "CoupledLSTMStep has 2 or 3 arguments, not " << xs.size());
  check_input(xs[X], w.input);
  if (xs.size() > STATE)
    DYNET_ARG_CHECK(xs[STATE].rows() == 2 * w.hidden && xs[STATE].cols() == 1 && xs[STATE].bd == xs[X].bd,
                    "CoupledLSTMStep: bad state " << xs[STATE] << " for x " << xs[X]);
  return Dim({2 * w.hidden}, xs[X].bd);
}

size_t CoupledLSTMStep::aux_storage_size() const {
  return coupled_lstm::floats_of_step(w, p > 0) * dim.bd * sizeof(float);
}

int CoupledLSTMStep::autobatch_sig(const ComputationGraph& cg, SigMap& sm) const {
  using namespace coupled_lstm;
  Sig s(nt::coupled_lstm);
  s.add_node(args[SHARED]);
  s.add_dim(cg.nodes[args[X]]->dim);
  s.add_int(int(args.size()));
  s.add_float(p);
  return sm.get_idx(s);
}

vector<int> CoupledLSTMStep::autobatch_concat(const ComputationGraph& cg) const {
  vector<int> concat(args.size(), 1);
  concat[coupled_lstm::SHARED] = 0;
  return concat;
}

string CoupledLSTMForest::as_string(const vector<string>& arg_names) const {
  ostringstream s;
  s << "coupled_lstm_forest(" << arg_names[coupled_lstm::X] << ",p=" << p << ')';
  return s.str();
}

Dim CoupledLSTMForest::dim_forward(const vector<Dim>& xs) const {
  using namespace coupled_lstm;
  DYNET_ARG_CHECK(xs.size() == X + 1 || xs.size() == STATE + 1, "CoupledLSTMForest has 2 or 3 arguments, not " << xs.size());
  check_input(xs[X], w.input);
  DYNET_ARG_CHECK(parents.size() == xs[X].bd && !level_ends.empty() && level_ends.back() == xs[X].bd,
                  "CoupledLSTMForest: " << parents.size() << " parents for x " << xs[X]);
  if (xs.size() > STATE)
    DYNET_ARG_CHECK(xs[STATE].rows() == 2 * w.hidden && xs[STATE].cols() == 1 && xs[STATE].bd == level_ends[0],
                    "CoupledLSTMForest: bad state " << xs[STATE] << " for " << level_ends[0] << " first states");
  for (size_t level = 0; level < level_ends.size(); ++level) {
    const unsigned begin = level ? level_ends[level - 1] : 0;
    DYNET_ARG_CHECK(begin < level_ends[level], "CoupledLSTMForest: level " << level << " has no states");
    for (unsigned k = begin; k < level_ends[level] && level; ++k)
      DYNET_ARG_CHECK(parents[k] >= 0 && unsigned(parents[k]) < begin,
                      "CoupledLSTMForest: state " << k << " cannot go on from " << parents[k]);
  }
  return Dim({2 * w.hidden}, xs[X].bd);
}

size_t CoupledLSTMForest::aux_storage_size() const {
  // also the states before, and the parents
  return (coupled_lstm::floats_of_step(w, p > 0) + 2 * w.hidden + 1) * dim.bd * sizeof(float);
}

#endif

template <class MyDevice>
void CoupledLSTMWeights::forward_dev_impl(const MyDevice& dev, const vector<const Tensor*>& xs, Tensor& fx) const {
  using namespace coupled_lstm;
  TensorTools::zero(fx);
  for (unsigned a = 0; a < WEIGHTS; ++a) weights[a] = block(*xs[a]);
  are_turned = false;
  differentiated.clear();
  if (!is_stacked()) return;
  const unsigned height = 3 * hidden;
  float* room = static_cast<float*>(aux_mem);
  of_state = {room, height, 2 * hidden, height};
  of_input = {of_state.columns(2 * hidden, 0).v, height, input, height};
  biases = {of_input.columns(input, 0).v, height, 1, height};
  zero(dev, of_state);
  unsigned row = 0;
  for (const auto& gate : {array<unsigned, 3>{X2I, H2I, BI}, {X2C, H2C, BC}, {X2O, H2O, BO}}) {
    copy(dev, weights[gate[0]], of_input.rows(row, hidden));
    copy(dev, weights[gate[1]], of_state.rows(row, hidden).columns(0, hidden));
    copy(dev, weights[gate[2]], biases.rows(row, hidden));
    row += hidden;
  }
  copy(dev, weights[C2I], of_state.rows(0, hidden).columns(hidden, hidden));
}

template <class MyDevice>
void CoupledLSTMWeights::backward_dev_impl(const MyDevice& dev,
                                           const vector<const Tensor*>& xs,
                                           const Tensor& fx,
                                           const Tensor& dEdf,
                                           unsigned i,
                                           Tensor& dEdxi) const {
  using namespace coupled_lstm;
  Products products;
  for (const Differentiated& s : differentiated) {
    const auto product = factors(i, s);
    if (product.first.n == 0) continue;
    if (i == BI || i == BO || i == BC) add_row_sums(dev, product.first, block(dEdxi));
    else products.push_back(product);
  }
  add_products(dev, products, block(dEdxi));
  if (i == BC) differentiated.clear();
}
DYNET_NODE_INST_DEV_IMPL(CoupledLSTMWeights)

template <class MyDevice>
void CoupledLSTMStep::forward_dev_impl(const MyDevice& dev, const vector<const Tensor*>& xs, Tensor& fx) const {
  using namespace coupled_lstm;
  is_differentiated = false;
  Layout l(w, p > 0, *xs[X], fx, aux_mem);
  if (xs.size() > STATE) l.go_on_from(block(*xs[STATE]));
  read_input(dev, w, p, fx.device, l);
  step(dev, w, l);
}

template <class MyDevice>
void CoupledLSTMStep::backward_dev_impl(const MyDevice& dev,
                                        const vector<const Tensor*>& xs,
                                        const Tensor& fx,
                                        const Tensor& dEdf,
                                        unsigned i,
                                        Tensor& dEdxi) const {
  using namespace coupled_lstm;
  Layout l(w, p > 0, *xs[X], fx, aux_mem);
  if (xs.size() > STATE) l.go_on_from(block(*xs[STATE]));
  // the weights are always asked for, and first: the others find the derivatives of the logits ready
  if (i == SHARED) {
    differentiate_once(is_differentiated);
    differentiate(dev, w, l, l.half(dEdf, 0), l.half(dEdf, 1));
    w.differentiated.push_back(l.differentiated(l.has_state ? 0 : l.n));
  } else if (i == X) {
    add_input_gradient(dev, w, p, l, {dEdxi.v, w.input, l.n, dEdxi.d.rows()});
  } else {
    add_state_gradient(dev, w, l, l.half(dEdxi, 0), l.half(dEdxi, 1));
    add(dev, l.g, l.half(dEdxi, 1));
  }
}
DYNET_NODE_INST_DEV_IMPL(CoupledLSTMStep)

namespace coupled_lstm {

// The layout of a forest: the states before are put side by side in the auxiliary memory.
struct ForestLayout : Layout {
  ForestLayout(const CoupledLSTMWeights& w, bool dropped, const vector<const Tensor*>& xs, const Tensor& fx, void* aux)
      : Layout(w, dropped, *xs[X], fx, aux), is_given(xs.size() > STATE) {
    go_on_from(take(2 * hidden));
    room_of_parents = next;
  }
  // a level as steps side by side
  Layout level(unsigned begin, unsigned end) const {
    Layout part = columns(begin, end - begin);
    part.has_state = begin > 0 || is_given;
    return part;
  }
  bool is_given;  // what the first level goes on from
  float* room_of_parents;
};

} // namespace coupled_lstm

template <class MyDevice>
void CoupledLSTMForest::forward_dev_impl(const MyDevice& dev, const vector<const Tensor*>& xs, Tensor& fx) const {
  using namespace coupled_lstm;
  is_differentiated = false;
  const ForestLayout l(w, p > 0, xs, fx, aux_mem);
  const int* before = place(dev, parents, l.room_of_parents);
  read_input(dev, w, p, fx.device, l);
  unsigned begin = 0;
  for (unsigned end : level_ends) {
    const Layout s = l.level(begin, end);
    if (begin > 0) copy_columns(dev, before + begin, block(fx), s.before);
    else if (l.is_given) copy(dev, block(*xs[STATE]), s.before);
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
  const ForestLayout l(w, p > 0, xs, fx, aux_mem);
  if (i == X) {
    add_input_gradient(dev, w, p, l, {dEdxi.v, w.input, l.n, dEdxi.d.rows()});
    return;
  }
  if (i == STATE) {
    const Layout s = l.level(0, level_ends[0]);
    add(dev, both(s.i, s.g), block(dEdxi));
    return;
  }
  // the weights are always asked for, and first: x and the states given find the derivatives of the logits ready
  differentiate_once(is_differentiated);
  const int* before = place(dev, parents, l.room_of_parents);
  const Block dh = l.half(dEdf, 0), dc = l.half(dEdf, 1);
  for (size_t level = level_ends.size(); level-- > 0;) {
    const unsigned begin = level ? level_ends[level - 1] : 0, count = level_ends[level] - begin;
    const Layout s = l.level(begin, level_ends[level]);
    differentiate(dev, w, s, dh.columns(begin, count), dc.columns(begin, count));
    if (!s.has_state) continue;
    add_state_gradient(dev, w, s, s.i, s.g);
    if (level > 0) add_to_columns(dev, before + begin, both(s.i, s.g), block(dEdf));
  }
  w.differentiated.push_back(l.differentiated(l.is_given ? 0 : level_ends[0]));
}
DYNET_NODE_INST_DEV_IMPL(CoupledLSTMForest)

} // namespace dynet
