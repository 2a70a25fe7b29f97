#ifndef DYNET_NODES_COUPLED_LSTM_H_
#define DYNET_NODES_COUPLED_LSTM_H_

// A layer of CoupledLSTMBuilder as a few nodes: `dy.CoupledLSTMCell` (coupled-lstm.pxi). Its
// weights are one node of a graph. A step is one node, and so is a whole forest: sequences and
// trees that are known in advance.
// Why: DyNet's builder makes a dozen nodes per step.
// Test: tests/rnng_dy/test_dynet.py::test_a_cell_computes_what_the_builder_does

#include "dynet/coupled-lstm-blocks.h"
#include "dynet/dynet.h"
#include "dynet/nodes-def-macros.h"

namespace dynet {

// The weights of one layer of CoupledLSTMBuilder, which all of its steps in a graph share. Each
// step that is differentiated adds the factors of the weights' derivatives to `differentiated`. In
// the end this node multiplies them, all at once.
//
// args: x2i h2i c2i bi x2o h2o c2o bo x2c h2c bc. Nobody reads the node's value.
struct CoupledLSTMWeights : public Node {
  explicit CoupledLSTMWeights(const std::vector<VariableIndex>& a, unsigned hidden, unsigned input)
      : Node(a), hidden(hidden), input(input) {}
  virtual size_t aux_storage_size() const override;
  virtual bool backward_all(const std::vector<const Tensor*>& xs, const Tensor& fx, const Tensor& dEdf,
                            const std::vector<Tensor*>& dEdxs) const override;
  unsigned hidden, input;
  // The forward pass sets the fields below. The weights:
  mutable coupled_lstm::Block weights[coupled_lstm::WEIGHTS];
  // On a GPU, the weights that multiply x, those of i above those of g above those of o.
  mutable coupled_lstm::Block of_input;
  // On a GPU, the weights that multiply states, transposed. On the CPU, all weights in panels.
  mutable coupled_lstm::Block turned[coupled_lstm::WEIGHTS] = {};
  mutable coupled_lstm::Packing packing = coupled_lstm::NONE;
  // The factors of the weights' derivatives, from each step that is differentiated.
  mutable std::vector<coupled_lstm::Differentiated> differentiated;
  DYNET_NODE_DEFINE_DEV_IMPL()
};

// One step of one layer of CoupledLSTMBuilder as a single node.
//
// args: the weights, then x, then the state before (absent at the start, where h = c = 0).
// A state is [h; c] with 2H rows. If x is a state, which has more rows than x2i has columns, the
// step reads its h. With dropout p > 0, every element of x is dropped with probability p, and the
// others are multiplied by 1 / (1 - p).
struct CoupledLSTMStep : public Node {
  explicit CoupledLSTMStep(const std::vector<VariableIndex>& a, const CoupledLSTMWeights& w, real p)
      : Node(a), w(w), p(p) {}
  virtual bool supports_multibatch() const override { return true; }
  virtual size_t aux_storage_size() const override;
  virtual int autobatch_sig(const ComputationGraph &cg, SigMap &sm) const override;
  virtual std::vector<int> autobatch_concat(const ComputationGraph & cg) const override;
  virtual void autobatch_reshape(const ComputationGraph & cg,
                                 const std::vector<VariableIndex> & batch_ids,
                                 const std::vector<int> & concat,
                                 std::vector<const Tensor*>& xs,
                                 Tensor& fx) const override {
    autobatch_reshape_concatonly(cg, batch_ids, concat, xs, fx);
  }
  const CoupledLSTMWeights& w;  // a node of the same graph
  real p;
  mutable bool is_differentiated = false;  // possible once, since it overwrites the gates
  DYNET_NODE_DEFINE_DEV_IMPL()
};

// A layer of CoupledLSTMBuilder over sequences that are known in advance. State k continues state
// parents[k], so sequences that begin alike share their first states. The states are sorted into
// levels. The first level begins at the start or continues a batch of states. The states of any
// other level continue states of the levels before.
//
// args: the weights, then x, with a batch element for each state, then the states before the first
// level (absent at the start, where h = c = 0). The value has a batch element for each state.
struct CoupledLSTMForest : public Node {
  explicit CoupledLSTMForest(const std::vector<VariableIndex>& a, const CoupledLSTMWeights& w, real p,
                             const std::vector<int>& parents, const std::vector<unsigned>& level_ends)
      : Node(a), w(w), p(p), parents(parents), level_ends(level_ends) {}
  virtual bool supports_multibatch() const override { return true; }
  virtual size_t aux_storage_size() const override;
  const CoupledLSTMWeights& w;
  real p;
  mutable bool is_differentiated = false;
  std::vector<int> parents;
  std::vector<unsigned> level_ends;
  DYNET_NODE_DEFINE_DEV_IMPL()
};

// The states of a forest for a search on the CPU, without derivatives. If several states read or
// continue the same vector, the node multiplies this vector once. A state has the same bits,
// whatever other states are computed with it. The node stores nothing but the states; derivatives
// would need five times as much memory.
//
// args: those of a forest, but state k reads element reads[k] of x. In the first level, state k
// continues element parents[k] of the given states.
struct CoupledLSTMSearch : public Node {
  explicit CoupledLSTMSearch(const std::vector<VariableIndex>& a, const CoupledLSTMWeights& w,
                             const std::vector<int>& reads, const std::vector<int>& parents,
                             const std::vector<unsigned>& level_ends)
      : Node(a), w(w), reads(reads), parents(parents), level_ends(level_ends) {}
  virtual bool supports_multibatch() const override { return true; }
  const CoupledLSTMWeights& w;
  std::vector<int> reads, parents;
  std::vector<unsigned> level_ends;
  DYNET_NODE_DEFINE_DEV_IMPL()
};

} // namespace dynet

#endif
