#ifndef DYNET_GPU_STREAM_H_
#define DYNET_GPU_STREAM_H_

// The memory of Eigen's temporary arrays on a GPU, for DyNet's devices.cc.
// Why: cudaMalloc and cudaFree wait for all that runs on the GPU.
// Test: none without a GPU; `make gpu-check` compares the results with the CPU's, and times them.

#include <unsupported/Eigen/CXX11/Tensor>

#include "dynet/cuda.h"

namespace dynet {

// Temporary memory comes from CUDA's own pool, in the order of the stream.
class PooledStreamDevice : public Eigen::GpuStreamDevice {
 public:
  explicit PooledStreamDevice(int device) : Eigen::GpuStreamDevice(device) {
    cudaMemPool_t pool;
    CUDA_CHECK(cudaDeviceGetDefaultMemPool(&pool, device));
    // bytes that the pool keeps while the GPU is idle
    cuuint64_t kept = 64 << 20;
    CUDA_CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &kept));
  }
  static bool is_supported(int device) {
    int supported = 0;
    CUDA_CHECK(cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, device));
    return supported != 0;
  }
  void* allocate(size_t size) const override {
    void* memory = nullptr;
    CUDA_CHECK(cudaMallocAsync(&memory, size, stream()));
    return memory;
  }
  void deallocate(void* memory) const override { CUDA_CHECK(cudaFreeAsync(memory, stream())); }
};

}  // namespace dynet

#endif
