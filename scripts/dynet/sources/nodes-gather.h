#ifndef DYNET_NODES_GATHER_H_
#define DYNET_NODES_GATHER_H_

// Batches gathered from batches as one node: `dy.gather_batch_elems` (gather.pxi).
// Why: picking elements, concatenating and sorting them took 70 nodes per round of sampling.
// Test: tests/rnng_dy/test_dynet.py::test_elements_are_gathered_from_batches

#include "dynet/dynet.h"
#include "dynet/nodes-def-macros.h"

namespace dynet {

// A batch of elements of batches: element k is element elements[k] of argument which[k]. If `rows`
// is not 0, it has only the first `rows` numbers of each vector.
struct GatherBatchElements : public Node {
  explicit GatherBatchElements(const std::vector<VariableIndex>& a, const std::vector<unsigned>& which,
                               const std::vector<unsigned>& elements, unsigned rows)
      : Node(a), which(which), elements(elements), rows(rows) {}
  virtual bool supports_multibatch() const override { return true; }
  virtual size_t aux_storage_size() const override;
  virtual bool backward_all(const std::vector<const Tensor*>& xs, const Tensor& fx, const Tensor& dEdf,
                            const std::vector<Tensor*>& dEdxs) const override;
  std::vector<unsigned> which;
  std::vector<unsigned> elements;
  unsigned rows;
  DYNET_NODE_DEFINE_DEV_IMPL()
};

} // namespace dynet

#endif
