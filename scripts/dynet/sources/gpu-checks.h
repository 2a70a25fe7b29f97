#ifndef DYNET_GPU_CHECKS_H_
#define DYNET_GPU_CHECKS_H_

// Makes errors that CUDA reports exceptions, in Eigen's headers, too. A build with CUDA includes
// this file before all others.
// Why: errors went unnoticed or ended the process, and lack of memory was no MemoryError.
// Test: none without a GPU; `make gpu-check` runs into the limits of one.

#include <string>

#include <cuda_runtime.h>

#include "dynet/except.h"

namespace dynet {

// Throws out_of_memory or cuda_exception.
[[noreturn]] inline void throw_cuda_error(cudaError_t error, const std::string& where) {
  // otherwise the next launch would report this error
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

// Throws for an assertion of Eigen that failed; `error` was reported before it.
__host__ __device__ inline void fail_gpu_expectation(cudaError_t error, const char* expectation) {
#ifndef __CUDA_ARCH__
  throw_cuda_error(error == cudaSuccess ? cudaErrorUnknown : error, expectation);
#endif
}

}  // namespace dynet

// Eigen's own macro does nothing in a release build: a launch that failed would go unnoticed.
#define gpu_assert(COND)                                                 \
  do {                                                                   \
    const cudaError_t reported_before = ::dynet::reported_cuda_error();  \
    if (!(COND)) ::dynet::fail_gpu_expectation(reported_before, #COND);  \
  } while (0)

#endif
