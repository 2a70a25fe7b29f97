#ifndef DYNET_EXPR_NODES_H_
#define DYNET_EXPR_NODES_H_

// Expressions of our own nodes, for gather.pxi and coupled-lstm.pxi; nodes-coupled-lstm.h says why.

#include <vector>

#include "dynet/expr.h"

namespace dynet {

// A batch of elements of batches of one shape: element k is number elements[k] of argument
// which[k]. Of vectors it has the first `rows` numbers, all for 0.
Expression gather_batch_elems(const std::vector<Expression>& args, const std::vector<unsigned>& which,
                              const std::vector<unsigned>& elements, unsigned rows);

// The weights of one layer of CoupledLSTMBuilder, for all of its steps in a graph. args are those
// of CoupledLSTMWeights.
Expression coupled_lstm_weights(const std::vector<Expression>& args);
// One step; args and p are those of CoupledLSTMStep.
Expression coupled_lstm_step(const std::vector<Expression>& args, real p);
// A forest; the arguments are those of CoupledLSTMForest. A state of the first level has parent -1.
Expression coupled_lstm_forest(const std::vector<Expression>& args, const std::vector<int>& parents,
                               const std::vector<unsigned>& level_ends, real p);
// The states of a search; the arguments are those of CoupledLSTMSearch.
Expression coupled_lstm_search(const std::vector<Expression>& args, const std::vector<int>& reads,
                               const std::vector<int>& parents, const std::vector<unsigned>& level_ends);

}  // namespace dynet

#endif
