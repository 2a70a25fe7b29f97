// Gradients, their norm and updates by SGD or Adam on a GPU, one kernel each for all parameters.
// Why: DyNet started several kernels for each parameter and each row of a lookup table.
// Builds for the CPU alone leave this file out (scripts/dynet/setup.py).
// Test: tests/test_dynet_pieces.py::test_every_element_of_every_array_is_met_once tries the
// indexing, and `make gpu-check` compares gradients and updates with those of the CPU.

#include "dynet/gpu-parameters.h"

#include <algorithm>
#include <cmath>

#include "dynet/devices.h"
#include "dynet/gpu-pieces.h"
#include "dynet/param-nodes.h"
#include "dynet/training.h"
#include "dynet/weight-decay.h"

using namespace std;

namespace dynet {

namespace gpu {

bool has_all(const ParameterCollectionStorage& parameters) {
  const auto is_here = [](const auto& p) { return p->device == default_device; };
  const auto& dense = parameters.params;
  const auto& tables = parameters.lookup_params;
  return default_device->type == DeviceType::GPU && all_of(dense.begin(), dense.end(), is_here) &&
         all_of(tables.begin(), tables.end(), is_here);
}

float gradient_norm(const ParameterCollectionStorage& parameters) {
  PieceTable<1> table;
  for (const auto& p : parameters.params) table.add({p->g.v}, p->g.d.size());
  for (const auto& p : parameters.lookup_params) {
    if (p->all_updated) table.add({p->all_grads.v}, p->all_grads.d.size());
    else for (unsigned row : p->non_zero_grads) table.add({p->grads[row].v}, p->grads[row].d.size());
  }
  AlignedMemoryPool* scratch = default_device->pools[(int)DeviceMempool::SCS];
  const double squares = squared_norm(table, scratch->allocate(squared_norm_room(table)));
  scratch->free();
  return std::sqrt(squares);
}

}  // namespace gpu

void ParameterNode::gather_grad(const Tensor& g, gpu::PieceTable<2>& table) const {
  float* to = params.p != nullptr ? params.get_storage().g.v : lparams.get_storage().all_grads.v;
  if (g.v == to) return;
  table.add({g.v, to}, g.d.size());
}

void ParameterNode::mark_grad() {
  if (params.p != nullptr)
    params.get_storage().nonzero_grad = true;
  else
    lparams.get_storage().nonzero_grad = lparams.get_storage().all_updated = true;
}

void LookupNode::gather_grad(const Tensor& g, gpu::PieceTable<2>& table) const {
  const vector<Tensor>& grads = params.get_storage().grads;
  const size_t size = g.d.batch_size();
  if (pindex) {
    table.add({g.v, grads[*pindex].v}, size);
  } else {
    for (size_t b = 0; b < pindices->size(); ++b)
      table.add({g.v + b * size, grads[(*pindices)[b]].v}, size);
  }
}

void LookupNode::mark_grad() {
  LookupParameterStorage& storage = params.get_storage();
  storage.nonzero_grad = true;
  if (pindex) storage.non_zero_grads.insert(*pindex);
  else storage.non_zero_grads.insert(pindices->begin(), pindices->end());
}

// Calls step(table, room) with the table that was gathered, and memory of the GPU for it.
template <unsigned N, class F>
static void step_gathered(gpu::PieceTable<N>& gathered, F step) {
  // if this update fails, the next one must not find its pieces
  const gpu::PieceTable<N> table = std::move(gathered);
  gathered.clear();
  if (table.size() == 0) return;
  AlignedMemoryPool* scratch = default_device->pools[(int)DeviceMempool::SCS];
  step(table, scratch->allocate(table.bytes()));
  scratch->free();
}

void Trainer::forget_gathered_gradients() {
  for (const auto& p : model->parameters_list())
    if (p->updated && gathers(p->device)) p->nonzero_grad = false;
  for (const auto& p : model->lookup_parameters_list())
    if (p->updated && gathers(p->device)) {
      p->non_zero_grads.clear();
      p->all_updated = p->nonzero_grad = false;
    }
}

void SimpleSGDTrainer::update_gathered(real gscale) {
  const float rate = learning_rate * gscale / model->get_weight_decay().current_weight_decay();
  step_gathered(gathered, [&](const gpu::PieceTable<2>& table, void* room) { gpu::sgd_step(table, rate, room); });
  forget_gathered_gradients();
}

void AdamTrainer::update_gathered(real gscale) {
  const gpu::AdamStep step = {gscale, beta_1, beta_2, epsilon, corrected_rate()};
  step_gathered(gathered, [&](const gpu::PieceTable<4>& table, void* room) { gpu::adam_step(table, step, room); });
  forget_gathered_gradients();
}

}  // namespace dynet
