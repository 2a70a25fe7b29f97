#ifndef DYNET_NODES_COUPLED_LSTM_H_
#define DYNET_NODES_COUPLED_LSTM_H_

// A layer of CoupledLSTMBuilder as few nodes: `dy.CoupledLSTMCell` (coupled-lstm.pxi). Its weights are one node of a
// graph; a step is another, and so is a whole forest of sequences and trees that are known in advance.
// Why: DyNet's builder makes a dozen nodes a step.
// Test: tests/rnng_dy/test_dynet.py::test_a_cell_computes_what_the_builder_does

#include "dynet/coupled-lstm-blocks.h"
#include "dynet/dynet.h"
#include "dynet/nodes-def-macros.h"

namespace dynet {

// The weights of one layer of CoupledLSTMBuilder, shared by all of its steps in a graph: each step that is
// differentiated tells it what the derivatives of the weights are made of, and in the end these are made together.
//
// args: x2i h2i c2i bi x2o h2o c2o bo x2c h2c bc. Its value is of no use.
struct CoupledLSTMWeights : public Node {
  explicit CoupledLSTMWeights(const std::vector<VariableIndex>& a, unsigned hidden, unsigned input)
      : Node(a), hidden(hidden), input(input) {}
  virtual size_t aux_storage_size() const override;
  virtual bool backward_all(const std::vector<const Tensor*>& xs, const Tensor& fx, const Tensor& dEdf,
                            const std::vector<Tensor*>& dEdxs) const override;
  unsigned hidden, input;
  // From the forward pass on: where weights are,
  mutable coupled_lstm::Block weights[coupled_lstm::WEIGHTS];
  // on a GPU what multiplies x, stacked, i above g above o;
  mutable coupled_lstm::Block of_input;
  // on a GPU those that multiply states, transposed, and on the CPU all as they were packed last;
  mutable coupled_lstm::Block turned[coupled_lstm::WEIGHTS] = {};
  mutable coupled_lstm::Packing packing = coupled_lstm::NONE;
  // and the steps that are differentiated.
  mutable std::vector<coupled_lstm::Differentiated> differentiated;
  DYNET_NODE_DEFINE_DEV_IMPL()
};

// One step of one layer of CoupledLSTMBuilder as a single node.
//
// args: the weights, then x, then the state before (absent at the start: h = c = 0).
// A state is [h; c], 2H rows; x may have more rows than x2i has columns: a state as x is read as its h.
// With dropout p > 0, every element of x is dropped with probability p and the others scaled by 1 / (1 - p).
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
  const CoupledLSTMWeights& w;  // of the same graph
  real p;
  mutable bool is_differentiated = false;  // which is done once: the gates are not there any more then
  DYNET_NODE_DEFINE_DEV_IMPL()
};

// A layer of CoupledLSTMBuilder over sequences that are known in advance, and over trees of them: state k goes on from
// state parents[k], so that beginnings that are alike are computed once. States are sorted into levels: those of the
// first go on from nothing or from a batch of states, those of every other one from states of the levels before.
//
// args: the weights, then x, with an element in the batch for each state, then those that the first level goes on from
// (absent at the start: h = c = 0). What it gives has an element for each state, too.
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

// The states of a forest for a search on the CPU, which has no derivatives: what several states read or go on from is
// multiplied once. The sums of a state are the same, whichever others are there. It keeps the states alone: what derivatives
// need is five times as much.
//
// args: those of a forest, but x has an element for each vector that is read, of which state k reads reads[k]. In the first
// level, state k goes on from element parents[k] of the states that are given.
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
