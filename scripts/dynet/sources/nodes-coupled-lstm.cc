// A layer of CoupledLSTMBuilder as a few nodes; nodes-coupled-lstm.h says why.

#include "dynet/tensor-eigen.h"
#include "dynet/coupled-lstm-parts.h"

#include "dynet/nodes-impl-macros.h"
#ifdef __CUDACC__
#include "dynet/coupled-lstm-gpu.h"
#endif

using namespace std;

namespace dynet {

namespace coupled_lstm {

#ifndef __CUDACC__

// y += weights a * b
inline void multiply(const Device_CPU& dev, const CoupledLSTMWeights& w, unsigned a, const Block& b, const Block& y) {
  multiply_add(dev, packed(dev, w, a, STRAIGHT), b, y);
}

// y += transposed weights a * b
inline void multiply_transposed(const Device_CPU& dev, const CoupledLSTMWeights& w, unsigned a, const Block& b,
                                const Block& y) {
  multiply_add(dev, packed(dev, w, a, TURNED), b, y);
}

// gates = biases + products of the input weights and x
inline void multiply_inputs(const Device_CPU& dev, const CoupledLSTMWeights& w, const Block& x, const Block& gates) {
  const unsigned bias_of[] = {BI, BC, BO}, weights_of[] = {X2I, X2C, X2O};
  for (unsigned gate = 0; gate < 3; ++gate) {
    const Block y = gates.rows(gate * w.hidden, w.hidden);
    fill(dev, w.weights[bias_of[gate]], y);
    multiply(dev, w, weights_of[gate], x, y);
  }
}

// gates += products of the weights of states and the states before
inline void multiply_states(const Device_CPU& dev, const CoupledLSTMWeights& w, const Block& states, const Block& gates) {
  const Block h = states.rows(0, w.hidden), i = gates.rows(0, w.hidden);
  multiply(dev, w, H2I, h, i);
  multiply(dev, w, H2C, h, gates.rows(w.hidden, w.hidden));
  multiply(dev, w, H2O, h, gates.rows(2 * w.hidden, w.hidden));
  multiply(dev, w, C2I, states.rows(w.hidden, w.hidden), i);
}

// Computes the gates of all steps from biases and inputs alone.
inline void read_input(const Device_CPU& dev, const CoupledLSTMWeights& w, real p, const Layout& l) {
  if (p > 0) {
    Tensor mask(Dim({w.input}, l.n), l.mask.v, w.device, DeviceMempool::FXS);
    TensorTools::randomize_bernoulli(mask, 1.f - p, 1.f / (1.f - p));
    drop(dev, l.x_given, l.mask, l.x);
  }
  multiply_inputs(dev, w, l.x, l.gates);
}

// Computes the new states of steps side by side, whose gates lack only the new cell.
inline void new_states(const Device_CPU& dev, const CoupledLSTMWeights& w, const Layout& l) {
  new_cell(dev, l);
  multiply(dev, w, C2O, l.c_new, l.o);
  new_output(dev, l);
}

// The same for gates that also lack the states before.
inline void step(const Device_CPU& dev, const CoupledLSTMWeights& w, const Layout& l) {
  if (l.has_state) multiply_states(dev, w, l.before, l.gates);
  new_states(dev, w, l);
}

// Computes the derivatives of the logits from those of the new states.
inline void differentiate(const Device_CPU& dev, const CoupledLSTMWeights& w, const Layout& l, const Block& states) {
  output_gate_gradient(dev, l, states.rows(0, w.hidden), states.rows(w.hidden, w.hidden));
  multiply_transposed(dev, w, C2O, l.d_o, l.dc);
  cell_gradient(dev, l);
}

// Adds what reaches the states before through the logits to their derivatives dh and dc.
inline void add_to_states(const Device_CPU& dev, const CoupledLSTMWeights& w, const Layout& l, const Block& dh,
                          const Block& dc) {
  multiply_transposed(dev, w, H2I, l.di, dh);
  multiply_transposed(dev, w, H2O, l.d_o, dh);
  multiply_transposed(dev, w, H2C, l.dg, dh);
  multiply_transposed(dev, w, C2I, l.di, dc);
}

// Adds the derivatives of the states before, after `differentiate`.
inline void add_state_gradient(const Device_CPU& dev, const CoupledLSTMWeights& w, const Layout& l, const Block& states) {
  const Block dc = states.rows(w.hidden, w.hidden);
  add_to_states(dev, w, l, states.rows(0, w.hidden), dc);
  add(dev, l.g, dc);
}

// Adds the derivatives of x before dropout.
inline void add_input_gradient(const Device_CPU& dev, const CoupledLSTMWeights& w, real p, const Layout& l, const Block& y) {
  const Block dx = p > 0 ? l.dx : y;
  if (p > 0) zero(dev, dx);
  multiply_transposed(dev, w, X2I, l.di, dx);
  multiply_transposed(dev, w, X2O, l.d_o, dx);
  multiply_transposed(dev, w, X2C, l.dg, dx);
  if (p > 0) add_masked(dev, dx, l.mask, y);
}

#endif

inline void differentiate_once(bool& is_differentiated) {
  DYNET_ARG_CHECK(!is_differentiated, "derivatives of a coupled LSTM are asked for twice: renew the graph");
  is_differentiated = true;
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
  return size_t(hidden) * (5 * hidden + 3 * input) * sizeof(float);
}

namespace coupled_lstm {

void check_input(const Dim& x, unsigned input) {
  DYNET_ARG_CHECK(x.cols() == 1 && (x.rows() == input || x.rows() == 2 * input),
                  "coupled LSTM: x has " << x << ", needs " << input << " rows, or a state of those");
}

void check_levels(const char* name, const vector<int>& parents, const vector<unsigned>& level_ends) {
  DYNET_ARG_CHECK(!level_ends.empty() && level_ends.back() == parents.size(),
                  name << ": levels do not end with the last of " << parents.size() << " parents");
  for (size_t level = 0; level < level_ends.size(); ++level) {
    const unsigned begin = level ? level_ends[level - 1] : 0;
    DYNET_ARG_CHECK(begin < level_ends[level], name << ": level " << level << " has no states");
    for (unsigned k = begin; k < level_ends[level] && level; ++k)
      DYNET_ARG_CHECK(parents[k] >= 0 && unsigned(parents[k]) < begin,
                      name << ": state " << k << " cannot go on from " << parents[k]);
  }
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
  return coupled_lstm::floats_of_step(w.hidden, w.input, p > 0) * dim.bd * sizeof(float);
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
  DYNET_ARG_CHECK(parents.size() == xs[X].bd, "CoupledLSTMForest: " << parents.size() << " parents for x " << xs[X]);
  check_levels("CoupledLSTMForest", parents, level_ends);
  if (xs.size() > STATE)
    DYNET_ARG_CHECK(xs[STATE].rows() == 2 * w.hidden && xs[STATE].cols() == 1 && xs[STATE].bd == level_ends[0],
                    "CoupledLSTMForest: bad state " << xs[STATE] << " for " << level_ends[0] << " first states");
  return Dim({2 * w.hidden}, xs[X].bd);
}

size_t CoupledLSTMForest::aux_storage_size() const {
  // a GPU also stores parents and the ends of levels there
  const bool is_on_gpu = device->type == DeviceType::GPU;
  return (coupled_lstm::floats_of_state(w.hidden, w.input, p > 0) + 2 * is_on_gpu) * dim.bd * sizeof(float);
}

string CoupledLSTMSearch::as_string(const vector<string>& arg_names) const {
  return "coupled_lstm_search(" + arg_names[coupled_lstm::X] + ')';
}

Dim CoupledLSTMSearch::dim_forward(const vector<Dim>& xs) const {
  using namespace coupled_lstm;
  DYNET_ARG_CHECK(xs.size() == X + 1 || xs.size() == STATE + 1, "CoupledLSTMSearch has 2 or 3 arguments, not " << xs.size());
  check_input(xs[X], w.input);
  check_levels("CoupledLSTMSearch", parents, level_ends);
  DYNET_ARG_CHECK(reads.size() == parents.size(),
                  "CoupledLSTMSearch: " << reads.size() << " inputs for " << parents.size() << " states");
  for (int k : reads) DYNET_ARG_CHECK(k >= 0 && unsigned(k) < xs[X].bd, "CoupledLSTMSearch: x " << xs[X] << " has no " << k);
  if (xs.size() > STATE) {
    DYNET_ARG_CHECK(xs[STATE].rows() == 2 * w.hidden && xs[STATE].cols() == 1, "CoupledLSTMSearch: bad state " << xs[STATE]);
    for (unsigned k = 0; k < level_ends[0]; ++k)
      DYNET_ARG_CHECK(parents[k] >= 0 && unsigned(parents[k]) < xs[STATE].bd,
                      "CoupledLSTMSearch: state " << k << " cannot go on from " << parents[k] << " of " << xs[STATE]);
  }
  return Dim({2 * w.hidden}, unsigned(parents.size()));
}

#endif

template <class MyDevice>
void CoupledLSTMWeights::forward_dev_impl(const MyDevice& dev, const vector<const Tensor*>& xs, Tensor& fx) const {
  using namespace coupled_lstm;
  for (unsigned a = 0; a < WEIGHTS; ++a) weights[a] = block(*xs[a]);
  differentiated.clear();
#ifdef __CUDACC__
  arrange(dev, *this, fx.v);
#else
  TensorTools::zero(fx);
  packing = NONE;
#endif
}

template <class MyDevice>
void CoupledLSTMWeights::backward_dev_impl(const MyDevice& dev,
                                           const vector<const Tensor*>& xs,
                                           const Tensor& fx,
                                           const Tensor& dEdf,
                                           unsigned i,
                                           Tensor& dEdxi) const {
#ifdef __CUDACC__
  DYNET_RUNTIME_ERR("CoupledLSTMWeights::backward_all does this on a GPU");
#else
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
#endif
}
DYNET_NODE_INST_DEV_IMPL(CoupledLSTMWeights)

#ifdef __CUDACC__
bool CoupledLSTMWeights::backward_all(const vector<const Tensor*>& xs, const Tensor& fx, const Tensor& dEdf,
                                      const vector<Tensor*>& dEdxs) const {
  using namespace coupled_lstm;
  add_weight_gradients(*static_cast<Device_GPU*>(device), dEdxs, differentiated);
  differentiated.clear();
  return true;
}
#elif !HAVE_CUDA
bool CoupledLSTMWeights::backward_all(const vector<const Tensor*>&, const Tensor&, const Tensor&,
                                      const vector<Tensor*>&) const {
  return false;
}
#endif

template <class MyDevice>
void CoupledLSTMStep::forward_dev_impl(const MyDevice& dev, const vector<const Tensor*>& xs, Tensor& fx) const {
  using namespace coupled_lstm;
  is_differentiated = false;
  Layout l = layout(w, p, *xs[X], fx, aux_mem);
  if (xs.size() > STATE) l.go_on_from(block(*xs[STATE]));
  read_input(dev, w, p, l);
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
  Layout l = layout(w, p, *xs[X], fx, aux_mem);
  if (xs.size() > STATE) l.go_on_from(block(*xs[STATE]));
  // DyNet asks for the derivatives of the weights first, and always: this computes those of the
  // logits, which the other arguments need
  if (i == SHARED) {
    differentiate_once(is_differentiated);
    differentiate(dev, w, l, block(dEdf));
    w.differentiated.push_back(l.differentiated(l.has_state ? 0 : l.n));
  } else if (i == X) {
    add_input_gradient(dev, w, p, l, {dEdxi.v, w.input, l.n, dEdxi.d.rows()});
  } else {
    add_state_gradient(dev, w, l, block(dEdxi));
  }
}
DYNET_NODE_INST_DEV_IMPL(CoupledLSTMStep)

namespace coupled_lstm {

// The layout of a forest; copies of the states before lie side by side in the auxiliary memory.
struct ForestLayout : Layout {
  ForestLayout(const CoupledLSTMWeights& w, real p, const vector<const Tensor*>& xs, const Tensor& fx, void* aux)
      : Layout(layout(w, p, *xs[X], fx, aux)), is_given(xs.size() > STATE) {
    go_on_from(take(2 * hidden));
    room_of_levels = reinterpret_cast<int*>(next);
  }
  // The layout of one level, as steps side by side.
  Layout level(unsigned begin, unsigned end) const {
    Layout part = columns(begin, end - begin);
    part.has_state = begin > 0 || is_given;
    return part;
  }
  bool is_given;  // whether there are states before the first level
  int* room_of_levels;
};

} // namespace coupled_lstm

template <class MyDevice>
void CoupledLSTMForest::forward_dev_impl(const MyDevice& dev, const vector<const Tensor*>& xs, Tensor& fx) const {
  using namespace coupled_lstm;
  is_differentiated = false;
  const ForestLayout l(w, p, xs, fx, aux_mem);
  read_input(dev, w, p, l);
#ifdef __CUDACC__
  upload_levels(dev, parents, level_ends, l.room_of_levels);
  run_forward(dev, levels_of(*this, w.turned, l, block(fx), l.is_given ? block(*xs[STATE]) : Block{}, l.room_of_levels));
#else
  unsigned begin = 0;
  for (unsigned end : level_ends) {
    const Layout s = l.level(begin, end);
    if (begin > 0) copy_columns(dev, &parents[begin], block(fx), s.before);
    else if (l.is_given) copy(dev, block(*xs[STATE]), s.before);
    step(dev, w, s);
    begin = end;
  }
#endif
}

template <class MyDevice>
void CoupledLSTMForest::backward_dev_impl(const MyDevice& dev,
                                          const vector<const Tensor*>& xs,
                                          const Tensor& fx,
                                          const Tensor& dEdf,
                                          unsigned i,
                                          Tensor& dEdxi) const {
  using namespace coupled_lstm;
  const ForestLayout l(w, p, xs, fx, aux_mem);
  if (i == X) {
    add_input_gradient(dev, w, p, l, {dEdxi.v, w.input, l.n, dEdxi.d.rows()});
    return;
  }
  if (i == STATE) {
    const Layout s = l.level(0, level_ends[0]);
    add(dev, both(s.i, s.g), block(dEdxi));
    return;
  }
  // DyNet asks for the derivatives of the weights first, and always: this computes those of the
  // logits, which the other arguments need
  differentiate_once(is_differentiated);
#ifdef __CUDACC__
  run_backward(dev, levels_of(*this, w.weights, l, block(dEdf), l.is_given ? block(*xs[STATE]) : Block{}, l.room_of_levels));
#else
  for (size_t level = level_ends.size(); level-- > 0;) {
    const unsigned begin = level ? level_ends[level - 1] : 0, count = level_ends[level] - begin;
    const Layout s = l.level(begin, level_ends[level]);
    differentiate(dev, w, s, block(dEdf).columns(begin, count));
    if (!s.has_state) continue;
    add_to_states(dev, w, s, s.i, s.g);
    if (level > 0) add_to_columns(dev, &parents[begin], both(s.i, s.g), block(dEdf));
  }
#endif
  w.differentiated.push_back(l.differentiated(l.is_given ? 0 : level_ends[0]));
}
DYNET_NODE_INST_DEV_IMPL(CoupledLSTMForest)

template <class MyDevice>
void CoupledLSTMSearch::forward_dev_impl(const MyDevice& dev, const vector<const Tensor*>& xs, Tensor& fx) const {
#ifdef __CUDACC__
  DYNET_RUNTIME_ERR("CoupledLSTMSearch is for the CPU: use CoupledLSTMForest");
#else
  using namespace coupled_lstm;
  const unsigned hidden = w.hidden, inputs = xs[X]->d.bd;
  unsigned begin = 0, widest = 0;
  for (unsigned end : level_ends) widest = max(widest, end - begin), begin = end;
  const size_t of_states = (floats_of_step(hidden, w.input, false) + hidden) * fx.d.bd;
  const size_t of_distinct = size_t(3) * hidden * inputs + size_t(5) * hidden * widest;
  Layout l = layout(w, 0, *xs[X], fx, shared_room(of_states + of_distinct));
  l.c = l.take(hidden);
  const Block of_inputs = l.take(3 * hidden, inputs), before = l.take(2 * hidden, widest), of_before = l.take(3 * hidden, widest);
  multiply_inputs(dev, w, l.x, of_inputs);
  Distinct distinct(max(fx.d.bd, xs.back()->d.bd));
  begin = 0;
  for (unsigned end : level_ends) {
    Layout s = l.columns(begin, end - begin);
    s.has_state = begin > 0 || xs.size() > STATE;
    copy_columns(dev, &reads[begin], of_inputs, s.gates);
    if (s.has_state) {
      distinct.find(&parents[begin], end - begin);
      const unsigned count = unsigned(distinct.numbers.size());
      const Block states = before.columns(0, count), sums = of_before.columns(0, count);
      copy_columns(dev, distinct.numbers.data(), block(begin > 0 ? fx : *xs[STATE]), states);
      zero(dev, sums);
      multiply_states(dev, w, states, sums);
      add_from_columns(dev, distinct.places.data(), sums, s.gates);
      copy_columns(dev, distinct.places.data(), states.rows(hidden, hidden), s.c);
    }
    new_states(dev, w, s);
    begin = end;
  }
#endif
}

template <class MyDevice>
void CoupledLSTMSearch::backward_dev_impl(const MyDevice&, const vector<const Tensor*>&, const Tensor&, const Tensor&,
                                          unsigned, Tensor&) const {
  DYNET_RUNTIME_ERR("CoupledLSTMSearch has no derivatives: use CoupledLSTMForest");
}
DYNET_NODE_INST_DEV_IMPL(CoupledLSTMSearch)

} // namespace dynet
