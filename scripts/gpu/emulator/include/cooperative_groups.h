// Takes the place of CUDA's header of this name: the barrier of all threads of a cooperative
// kernel.
#pragma once

#include "device_code.h"

namespace cooperative_groups {

struct grid_group {
  void sync() const { emulator::grid_barrier(); }
};
inline grid_group this_grid() { return {}; }

}  // namespace cooperative_groups
