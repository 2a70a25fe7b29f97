#ifndef DYNET_GPU_CHECKS_H_
#define DYNET_GPU_CHECKS_H_

// Included before everything else in a build with CUDA: what CUDA reports becomes an exception, in Eigen's headers too.
// Why: errors went unnoticed or ended the process, and want of memory was no MemoryError.
// Test: none without a GPU; `make gpu-check` runs into the limits of one.

#include <string>

#include <cuda_runtime.h>

#include "dynet/except.h"

namespace dynet {

// Throws out_of_memory or cuda_exception.
[[noreturn]] inline void throw_cuda_error(cudaError_t error, const std::string& where) {
  // left as the last error, it would be taken for one of the next launch
  cudaGetLastError();
  const std::string message = where + ": " + cudaGetErrorString(error);
  if (error == cudaErrorMemoryAllocation) throw out_of_memory(message);
  throw cuda_exception(message);
}

// The error that was last reported, without clearing it; in a kernel there is none.
__host__ __device__ inline cudaError_t reported_cuda_error() {
#ifdef __CUDA_ARCH__
  return cudaSuccess;
#else
  return cudaPeekAtLastError();
#endif
}

// What an expectation of Eigen's that was not met means; `error` is what was reported before.
__host__ __device__ inline void fail_gpu_expectation(cudaError_t error, const char* expectation) {
#ifndef __CUDA_ARCH__
  throw_cuda_error(error == cudaSuccess ? cudaErrorUnknown : error, expectation);
#endif
}

}  // namespace dynet

// Eigen's own one does nothing in a release build: a launch that fails would be one that computes nothing.
#define gpu_assert(COND)                                                 \
  do {                                                                   \
    const cudaError_t reported_before = ::dynet::reported_cuda_error();  \
    if (!(COND)) ::dynet::fail_gpu_expectation(reported_before, #COND);  \
  } while (0)

#endif
