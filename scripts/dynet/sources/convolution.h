#ifndef DYNET_CONVOLUTION_H_
#define DYNET_CONVOLUTION_H_

// A convolution in two dimensions as loops, for DyNet's nodes-conv2d.cc.
// Why: contractions of Eigen's tensors, with x, f and y turned about, took 15 seconds to compile even at -O1.
// Test: tests/rnng_dy/test_dynet_tensors.py::test_a_convolution

#include <algorithm>
#include <vector>

#include "dynet/dim.h"

namespace dynet {

// Calls product(of x, of f, of y) with the places in memory of every product of a convolution: y += x * f.
template <class F>
inline void each_product(const Dim& x, const Dim& f, const Dim& y, const std::vector<unsigned>& stride, bool is_valid,
                         F product) {
  const auto padding = [&](unsigned k) {
    return is_valid ? 0 : std::max(0, int((y[k] - 1) * stride[k] + f[k]) - int(x[k])) / 2;
  };
  const unsigned top = padding(0), left = padding(1);
  for (unsigned b = 0; b < y.bd; ++b)
    for (unsigned out = 0; out < f[3]; ++out)
      for (unsigned in = 0; in < f[2]; ++in)
        for (unsigned v = 0; v < f[1]; ++v)
          for (unsigned u = 0; u < f[0]; ++u)
            for (unsigned j = 0; j < y[1]; ++j)
              for (unsigned i = 0; i < y[0]; ++i) {
                // what lies before the first is a large number, too
                const unsigned row = i * stride[0] + u - top, col = j * stride[1] + v - left;
                if (row < x[0] && col < x[1])
                  product(row + x[0] * (col + x[1] * (in + x[2] * b)), u + f[0] * (v + f[1] * (in + f[2] * out)),
                          i + y[0] * (j + y[1] * (out + y[2] * b)));
              }
}

}  // namespace dynet

#endif
