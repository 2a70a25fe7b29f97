#ifndef DYNET_DROPOUT_MASK_H_
#define DYNET_DROPOUT_MASK_H_

// Masks of dropout, which are the same on the CPU and on a GPU.
// Why: the Mersenne twister took 3 to 4 % of a minibatch's time. A GPU ran two kernels per mask,
// and drew other numbers.
// Test:
// tests/rnng_dy/test_dynet.py::test_dropout_of_a_cell_is_fresh_at_every_step_and_keeps_the_mean

#include <cmath>
#include <cstdint>
#include <random>

#include <Eigen/Core>

#include "dynet/globals.h"

namespace dynet {

// SplitMix64 (Steele, Lea and Flood 2014) from a state that DyNet's generator draws. Its numbers
// can be computed in any order.
struct DropoutMask {
  // `scale` with probability p, and 0
  DropoutMask(double p, float scale)
      : start(uint64_t((*rndeng)()) << 32 | uint32_t((*rndeng)())), below(uint64_t(std::ldexp(p, 53))), scale(scale) {}
  EIGEN_DEVICE_FUNC float operator[](size_t k) const {
    uint64_t z = start + (k + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return ((z ^ (z >> 31)) >> 11) < below ? scale : 0.f;
  }
  // The copy tells the compiler that storing values does not change the mask: it can use vectors.
  void fill(float* values, size_t count) const {
    const DropoutMask mask = *this;
    for (size_t k = 0; k < count; ++k) values[k] = mask[k];
  }
  uint64_t start, below;
  float scale;
};

} // namespace dynet

#endif
