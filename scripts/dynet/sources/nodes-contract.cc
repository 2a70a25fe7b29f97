// DyNet's products of a tensor with vectors (contract3d_1d, contract3d_1d_1d), in place of its own file of this name.
// Why: as contractions of Eigen's tensors they took 26 seconds to compile even at -O1. As matrix products they take
// none, and contract3d_1d without a bias no longer adds to what lay in memory.
// Test: tests/rnng_dy/test_dynet_tensors.py::test_a_tensor_times_a_vector

#include "dynet/tensor-eigen.h"
#include "dynet/nodes-contract.h"

#include <limits>
#include <cmath>
#include <stdexcept>

#include "dynet/nodes-impl-macros.h"

using namespace std;

namespace dynet {

#ifndef __CUDACC__

// Element b of the batch, or the only one: A_ijk as a matrix of ij rows and k columns, all else as vectors.
static Eigen::Map<Eigen::VectorXf> element(const Tensor& x, unsigned b) {
  return {x.v + (b % x.d.bd) * x.d.batch_size(), x.d.batch_size()};
}

static Eigen::Map<Eigen::MatrixXf> unfolded(const Tensor& A, unsigned b) {
  return {element(A, b).data(), A.d[0] * A.d[1], A.d[2]};
}

#endif

// ************* InnerProduct3D_1D *************

#ifndef __CUDACC__

string InnerProduct3D_1D::as_string(const vector<string>& arg_names) const {
  ostringstream s;
  s << "dot(" << arg_names[0] << "," << arg_names[1] << ')';
  if (arg_names.size() == 3) s << " + " << arg_names[2];
  return s.str();
}

Dim InnerProduct3D_1D::dim_forward(const vector<Dim>& xs) const {
  if (xs.size() != 2 && xs.size() != 3)
    throw std::invalid_argument("Expected two or three arguments in InnerProduct3D_1D");
  if (xs[0].ndims() != 3 ||
      !LooksLikeVector(xs[1]) ||
      xs[0].size(2) != xs[1].size(0)) {
    ostringstream s; s << "Bad input dimensions in InnerProduct3D_1D: " << xs;
    throw std::invalid_argument(s.str());
  }
  Dim d({xs[0].size(0), xs[0].size(1)}, max(xs[0].bd, xs[1].bd));
  if (xs.size() == 3) d.bd = max(d.bd, xs[2].bd);
  if (xs.size() == 3 && xs[2].single_batch() != d.single_batch()) {
    ostringstream s; s << "Bad bias dimensions in InnerProduct3D_1D: " << xs;
    throw std::invalid_argument(s.str());
  }
  return d;
}

#endif

//   Y_ij = A_ijk * B_k (+ C_ij)
template<class MyDevice>
void InnerProduct3D_1D::forward_dev_impl(const MyDevice & dev, const vector<const Tensor*>& xs, Tensor& fx) const {
#ifdef __CUDACC__
  throw std::runtime_error("InnerProduct3D_1D::forward_dev_impl not supported on CUDA");
#else
  for (unsigned b = 0; b < fx.d.bd; ++b) {
    auto y = element(fx, b);
    y.noalias() = unfolded(*xs[0], b) * element(*xs[1], b);
    if (xs.size() == 3) y += element(*xs[2], b);
  }
#endif
}

template<class MyDevice>
void InnerProduct3D_1D::backward_dev_impl(const MyDevice & dev,
    const vector<const Tensor*>& xs,
    const Tensor& fx,
    const Tensor& dEdf,
    unsigned i,
    Tensor& dEdxi) const {
#ifdef __CUDACC__
  throw std::runtime_error("InnerProduct3D_1D::backward_dev_impl not supported on CUDA");
#else
  for (unsigned b = 0; b < fx.d.bd; ++b) {
    const auto dy = element(dEdf, b);
    if (i == 0) { // dEdA_ijk = dEdf_ij * B_k
      unfolded(dEdxi, b).noalias() += dy * element(*xs[1], b).transpose();
    } else if (i == 1) { // dEdB_k = A_ijk * dEdf_ij
      element(dEdxi, b).noalias() += unfolded(*xs[0], b).transpose() * dy;
    } else { // dEdC
      element(dEdxi, b) += dy;
    }
  }
#endif
}
DYNET_NODE_INST_DEV_IMPL(InnerProduct3D_1D)

// ************* InnerProduct3D_1D_1D *************

#ifndef __CUDACC__

string InnerProduct3D_1D_1D::as_string(const vector<string>& arg_names) const {
  ostringstream s;
  s << "dotdot(" << arg_names[0] << "," << arg_names[1] << "," << arg_names[2] << ')';
  if (arg_names.size() == 4) s << " + " << arg_names[3];
  return s.str();
}

Dim InnerProduct3D_1D_1D::dim_forward(const vector<Dim>& xs) const {
  if (xs.size() != 3 && xs.size() != 4)
    throw std::invalid_argument("Expected three or four arguments in InnerProduct3D_1D");
  if (xs[0].ndims() != 3 ||
      !LooksLikeVector(xs[1]) ||
      !LooksLikeVector(xs[2])) {
    // TODO fix add check
    ostringstream s; s << "Bad input dimensions in InnerProduct3D_1D_1D: " << xs;
    throw std::invalid_argument(s.str());
  }
  Dim d({xs[0].size(0)}, max(max(xs[0].bd, xs[1].bd), xs[2].bd));
  if (xs.size() == 4) d.bd = max(d.bd, xs[3].bd);
  if (xs.size() == 4 && xs[3] != d) {
    ostringstream s; s << "Bad input dimensions in InnerProduct3D_1D_1D: " << xs;
    throw std::invalid_argument(s.str());
  }
  return d;
}

#endif

//   Y_ij = A_ijk * B_k * C_j (+ D_i)
template<class MyDevice>
void InnerProduct3D_1D_1D::forward_dev_impl(const MyDevice & dev, const vector<const Tensor*>& xs, Tensor& fx) const {
#ifdef __CUDACC__
  throw std::runtime_error("InnerProduct3D_1D_1D::forward_dev_impl not supported on CUDA");
#else
  for (unsigned b = 0; b < fx.d.bd; ++b) {
    Eigen::MatrixXf Ab(xs[0]->d[0], xs[0]->d[1]);
    Eigen::Map<Eigen::VectorXf>(Ab.data(), Ab.size()).noalias() = unfolded(*xs[0], b) * element(*xs[1], b);
    auto y = element(fx, b);
    y.noalias() = Ab * element(*xs[2], b);
    if (xs.size() == 4) y += element(*xs[3], b);
  }
#endif
}

template<class MyDevice>
void InnerProduct3D_1D_1D::backward_dev_impl(const MyDevice & dev,
    const vector<const Tensor*>& xs,
    const Tensor& fx,
    const Tensor& dEdf,
    unsigned i,
    Tensor& dEdxi) const {
#ifdef __CUDACC__
  throw std::runtime_error("InnerProduct3D_1D_1D::backward_dev_impl not supported on CUDA");
#else
  for (unsigned b = 0; b < fx.d.bd; ++b) {
    const auto dy = element(dEdf, b);
    // of A_ijk * B_k: its value where C's gradient is asked for, else its gradient dEdf_i * C_j
    Eigen::MatrixXf Ab(xs[0]->d[0], xs[0]->d[1]);
    Eigen::Map<Eigen::VectorXf> flat(Ab.data(), Ab.size());
    if (i == 2) { // dEdC_j = (A_ijk * B_k) * dEdf_i
      flat.noalias() = unfolded(*xs[0], b) * element(*xs[1], b);
      element(dEdxi, b).noalias() += Ab.transpose() * dy;
    } else if (i == 3) { // dEdD
      element(dEdxi, b) += dy;
    } else {
      Ab.noalias() = dy * element(*xs[2], b).transpose();
      if (i == 0) // dEdA_ijk = dEdf_i * C_j * B_k
        unfolded(dEdxi, b).noalias() += flat * element(*xs[1], b).transpose();
      else // dEdB_k = A_ijk * dEdf_i * C_j
        element(dEdxi, b).noalias() += unfolded(*xs[0], b).transpose() * flat;
    }
  }
#endif
}
DYNET_NODE_INST_DEV_IMPL(InnerProduct3D_1D_1D)


} // namespace dynet
