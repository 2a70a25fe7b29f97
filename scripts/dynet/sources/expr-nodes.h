#ifndef DYNET_EXPR_NODES_H_
#define DYNET_EXPR_NODES_H_

// Expressions of the nodes that are ours, for gather.pxi and coupled-lstm.pxi; nodes-coupled-lstm.h says why.

#include <vector>

#include "dynet/expr.h"

namespace dynet {

// A batch of elements of batches of the same shape: which[k] is the argument that element k comes of, elements[k] its
// number in the batch of that argument. Of vectors, `rows` says how many numbers, from the first; 0 for all.
Expression gather_batch_elems(const std::vector<Expression>& args, const std::vector<unsigned>& which,
                              const std::vector<unsigned>& elements, unsigned rows);

// The weights of one layer of CoupledLSTMBuilder, for all of its steps in a graph: args are those of CoupledLSTMWeights.
Expression coupled_lstm_weights(const std::vector<Expression>& args);
// One step, args and p as for CoupledLSTMStep.
Expression coupled_lstm_step(const std::vector<Expression>& args, real p);
// A forest: args, p, parents and level_ends as for CoupledLSTMForest, where a state of the first level has parent -1.
Expression coupled_lstm_forest(const std::vector<Expression>& args, const std::vector<int>& parents,
                               const std::vector<unsigned>& level_ends, real p);
// The states of a search: args, reads, parents and level_ends as for CoupledLSTMSearch.
Expression coupled_lstm_search(const std::vector<Expression>& args, const std::vector<int>& reads,
                               const std::vector<int>& parents, const std::vector<unsigned>& level_ends);

}  // namespace dynet

#endif
