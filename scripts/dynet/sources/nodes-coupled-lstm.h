#ifndef DYNET_NODES_COUPLED_LSTM_H_
#define DYNET_NODES_COUPLED_LSTM_H_

#include "dynet/dynet.h"
#include "dynet/nodes-def-macros.h"

namespace dynet {

// One step of one layer of CoupledLSTMBuilder as a single node.
//
// args: x2i h2i c2i bi x2o h2o c2o bo x2c h2c bc, then x, then the state before (absent at the start: h = c = 0).
// A state is [h; c], 2H rows; x may have more rows than x2i has columns: a state as x is read as its h.
// With dropout p > 0, every element of x is dropped with probability p and the others scaled by 1 / (1 - p).
struct CoupledLSTMStep : public Node {
  explicit CoupledLSTMStep(const std::vector<VariableIndex>& a, unsigned input_dim, real p)
      : Node(a), input_dim(input_dim), p(p) {}
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
  unsigned input_dim;
  real p;
  DYNET_NODE_DEFINE_DEV_IMPL()
};

// A layer of CoupledLSTMBuilder over sequences that are known in advance, and over trees of them: state k goes on from
// state parents[k], so that beginnings that are alike are computed once. States are sorted into levels: those of the
// first go on from nothing, those of every other one from states of the levels before.
//
// args: the weights as above, then x, with an element in the batch for each state. What it gives has one, too.
struct CoupledLSTMForest : public Node {
  explicit CoupledLSTMForest(const std::vector<VariableIndex>& a, unsigned input_dim, real p,
                             const std::vector<int>& parents, const std::vector<unsigned>& level_ends)
      : Node(a), input_dim(input_dim), p(p), parents(parents), level_ends(level_ends) {}
  virtual bool supports_multibatch() const override { return true; }
  virtual size_t aux_storage_size() const override;
  unsigned input_dim;
  real p;
  std::vector<int> parents;
  std::vector<unsigned> level_ends;
  DYNET_NODE_DEFINE_DEV_IMPL()
};

} // namespace dynet

#endif
