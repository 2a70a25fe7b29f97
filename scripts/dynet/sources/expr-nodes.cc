// Expressions of our own nodes; nodes-coupled-lstm.h says why.

#include "dynet/expr-nodes.h"

#include "dynet/nodes-coupled-lstm.h"
#include "dynet/nodes-gather.h"

namespace dynet {

// An expression of a node F, whose constructor takes the arguments and `rest`.
template <class F, class... Rest>
static Expression expression_of(const std::vector<Expression>& args, const Rest&... rest) {
  std::vector<VariableIndex> ids;
  for (const Expression& e : args) ids.push_back(e.i);
  return Expression(args[0].pg, args[0].pg->add_function<F>(ids, rest...));
}

static const CoupledLSTMWeights& weights_of(const std::vector<Expression>& args) {
  auto weights = dynamic_cast<const CoupledLSTMWeights*>(args.at(0).pg->nodes[args[0].i]);
  DYNET_ARG_CHECK(weights, "the first argument of a coupled LSTM's step is its weights");
  return *weights;
}

Expression gather_batch_elems(const std::vector<Expression>& args, const std::vector<unsigned>& which,
                              const std::vector<unsigned>& elements, unsigned rows) {
  return expression_of<GatherBatchElements>(args, which, elements, rows);
}

Expression coupled_lstm_weights(const std::vector<Expression>& args) {
  const Dim& x2i = args.at(0).dim();
  return expression_of<CoupledLSTMWeights>(args, x2i.rows(), x2i.cols());
}

Expression coupled_lstm_step(const std::vector<Expression>& args, real p) {
  return expression_of<CoupledLSTMStep>(args, weights_of(args), p);
}

Expression coupled_lstm_forest(const std::vector<Expression>& args, const std::vector<int>& parents,
                               const std::vector<unsigned>& level_ends, real p) {
  return expression_of<CoupledLSTMForest>(args, weights_of(args), p, parents, level_ends);
}

Expression coupled_lstm_search(const std::vector<Expression>& args, const std::vector<int>& reads,
                               const std::vector<int>& parents, const std::vector<unsigned>& level_ends) {
  return expression_of<CoupledLSTMSearch>(args, weights_of(args), reads, parents, level_ends);
}

}  // namespace dynet
