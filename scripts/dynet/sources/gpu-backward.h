#ifndef DYNET_GPU_BACKWARD_H_
#define DYNET_GPU_BACKWARD_H_

// Steps of a backward pass that take one kernel on a GPU, for DyNet's exec.cc. On the CPU they do
// what exec.cc did before.
// Why: a minibatch has thousands of lookups and picked elements; DyNet started a kernel for each.
// Test: tests/test_dynet_pieces.py::test_every_element_of_every_array_is_met_once tries the
// indexing, and `make gpu-check` compares gradients with those of the CPU.

#include <vector>

#include "dynet/devices.h"
#include "dynet/dynet.h"
#include "dynet/param-nodes.h"
#if HAVE_CUDA
#include "dynet/gpu-pieces.h"
#endif

namespace dynet {

// Adds the derivatives of all arguments of a node at once. It returns false if the node computes
// them one by one. derivative(argument) is the tensor to add to, null if it is not needed.
template <class F>
inline bool backward_at_once(const Node& node, const std::vector<const Tensor*>& xs, const Tensor& fx,
                             const Tensor& dEdf, F derivative) {
#if HAVE_CUDA
  if (node.device->type == DeviceType::GPU) {
    std::vector<Tensor*> dEdxs;
    for (VariableIndex arg : node.args) dEdxs.push_back(derivative(arg));
    return node.backward_all(xs, fx, dEdf, dEdxs);
  }
#endif
  return false;
}

// Adds the gradients of parameter nodes to those of their parameters.
inline void accumulate_parameter_gradients(const ComputationGraph& cg, const std::vector<VariableIndex>& ids,
                                           const std::vector<Tensor>& gradients) {
#if HAVE_CUDA
  gpu::PieceTable<2> table;
  Device* device = nullptr;
#endif
  for (VariableIndex i : ids) {
    auto node = static_cast<ParameterNodeBase*>(cg.nodes[i]);
#if HAVE_CUDA
    if (node->device->type == DeviceType::GPU) {
      node->gather_grad(gradients[i], table);
      device = node->device;
      continue;
    }
#endif
    node->accumulate_grad(gradients[i]);
  }
#if HAVE_CUDA
  if (device == nullptr) return;
  gpu::add_pieces(table, device->pools[(int)DeviceMempool::DEDFS]->allocate(table.bytes()));
  for (VariableIndex i : ids)
    if (cg.nodes[i]->device->type == DeviceType::GPU)
      static_cast<ParameterNodeBase*>(cg.nodes[i])->mark_grad();
#endif
}

}  // namespace dynet

#endif
