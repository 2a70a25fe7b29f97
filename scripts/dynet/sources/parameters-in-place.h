#ifndef DYNET_PARAMETERS_IN_PLACE_H_
#define DYNET_PARAMETERS_IN_PLACE_H_

// Reserves memory for a backward pass under autobatching before it begins, for DyNet's exec.cc.
// Why: the pass adds to the gradients of parameters in place, which cannot be undone. So memory
// must not run out on the way.
// Test:
// tests/rnng_dy/test_dynet.py::test_a_graph_that_does_not_fit_raises_and_leaves_room_for_the_next

#include <algorithm>
#include <map>
#include <vector>

#include "dynet/devices.h"
#include "dynet/exec.h"

namespace dynet {

// Reserves room for the derivatives of concatenated arguments; one block exists at a time.
inline void reserve_for_arguments(const std::vector<BatchInfo>& batches, size_t num_batches) {
  std::map<Device*, size_t> most;
  for (size_t i = 0; i < num_batches; ++i)
    for (size_t a = 0; a < batches[i].concat.size() && batches[i].ids.size() > 1; ++a)
      if (batches[i].concat[a] == 1) {
        const Tensor& x = *batches[i].arg_nfxs[a];
        size_t& bytes = most[x.device];
        bytes = std::max(bytes, x.d.size() * sizeof(float));
      }
  for (const auto& of_device : most) {
    AlignedMemoryPool* pool = of_device.first->pools[(int)DeviceMempool::DEDFS];
    const size_t used = pool->used();
    pool->allocate(of_device.second);
    pool->set_used(used);
  }
}

}  // namespace dynet

#endif
