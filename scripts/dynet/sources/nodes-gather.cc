// Batches gathered from batches as one node; nodes-gather.h says why.

#include "dynet/tensor-eigen.h"
#include "dynet/nodes-gather.h"

#include "dynet/nodes-impl-macros.h"
#if HAVE_CUDA
#include "dynet/gpu-pieces.h"
#endif

using namespace std;

namespace dynet {

static float* element(const Tensor& batch, unsigned k) { return batch.v + size_t(k) * batch.d.batch_size(); }

#ifndef __CUDACC__

string GatherBatchElements::as_string(const vector<string>& arg_names) const {
  ostringstream s;
  s << "gather_batch_elems(" << arg_names.size() << " batches)";
  return s.str();
}

Dim GatherBatchElements::dim_forward(const vector<Dim>& xs) const {
  DYNET_ARG_CHECK(!xs.empty() && !which.empty() && which.size() == elements.size(),
                  "GatherBatchElements: " << xs.size() << " batches for " << which.size() << " elements");
  Dim dim = xs[0].single_batch();
  for (const Dim& x : xs)
    DYNET_ARG_CHECK(x.single_batch() == dim, "GatherBatchElements: elements of " << x << " among those of " << xs[0]);
  for (size_t k = 0; k < which.size(); ++k)
    DYNET_ARG_CHECK(which[k] < xs.size() && elements[k] < xs[which[k]].bd,
                    "GatherBatchElements: there is no element " << elements[k] << " of batch " << which[k]);
  if (rows > 0) {
    DYNET_ARG_CHECK(dim.nd == 1 && rows <= dim[0], "GatherBatchElements: there are no " << rows << " rows in " << dim);
    dim.set(0, rows);
  }
  dim.bd = which.size();
  return dim;
}

// On a GPU, one kernel copies all elements, another adds their derivatives. Both read a table in
// this memory.
size_t GatherBatchElements::aux_storage_size() const {
#if HAVE_CUDA
  if (device->type == DeviceType::GPU) return gpu::PieceTable<2>::most_bytes(which.size(), dim.size());
#endif
  return 0;
}

bool GatherBatchElements::backward_all(const vector<const Tensor*>& xs, const Tensor& fx, const Tensor& dEdf,
                                       const vector<Tensor*>& dEdxs) const {
#if HAVE_CUDA
  if (device->type == DeviceType::GPU) {
    gpu::PieceTable<2> table;
    for (size_t k = 0; k < which.size(); ++k)
      if (const Tensor* to = dEdxs[which[k]]) table.add({element(dEdf, k), element(*to, elements[k])}, dEdf.d.batch_size());
    gpu::add_pieces(table, aux_mem);
    return true;
  }
#endif
  return false;
}

#endif

template <class MyDevice>
void GatherBatchElements::forward_dev_impl(const MyDevice& dev, const vector<const Tensor*>& xs, Tensor& fx) const {
  const size_t size = fx.d.batch_size();
#ifdef __CUDACC__
  gpu::PieceTable<2> table;
  for (size_t k = 0; k < which.size(); ++k) table.add({element(*xs[which[k]], elements[k]), element(fx, k)}, size);
  gpu::copy_pieces(table, aux_mem);
#else
  for (size_t k = 0; k < which.size(); ++k) {
    const float* from = element(*xs[which[k]], elements[k]);
    copy(from, from + size, element(fx, k));
  }
#endif
}

template <class MyDevice>
void GatherBatchElements::backward_dev_impl(const MyDevice& dev,
                                            const vector<const Tensor*>& xs,
                                            const Tensor& fx,
                                            const Tensor& dEdf,
                                            unsigned i,
                                            Tensor& dEdxi) const {
#ifdef __CUDACC__
  DYNET_RUNTIME_ERR("GatherBatchElements::backward_all does this on a GPU");
#else
  typedef Eigen::Map<Eigen::ArrayXf> Element;
  const size_t size = fx.d.batch_size();
  for (size_t k = 0; k < which.size(); ++k)
    if (which[k] == i) Element(element(dEdxi, elements[k]), size) += Element(element(dEdf, k), size);
#endif
}
DYNET_NODE_INST_DEV_IMPL(GatherBatchElements)

} // namespace dynet
