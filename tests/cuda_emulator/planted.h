// What the planted bugs share. Each program has its bug only if it gets an argument, and ends with
// 1 if its result is wrong.
#pragma once
#include <cuda_runtime.h>

#include <cstdio>
#include <numeric>
#include <vector>

inline std::vector<float> counting(int n) {
  std::vector<float> numbers(n);
  std::iota(numbers.begin(), numbers.end(), 0.f);
  return numbers;
}

inline float* on_gpu(const std::vector<float>& numbers) {
  float* memory = nullptr;
  cudaMalloc(&memory, numbers.size() * sizeof(float));
  cudaMemcpy(memory, numbers.data(), numbers.size() * sizeof(float), cudaMemcpyHostToDevice);
  return memory;
}

inline std::vector<float> fetched(const float* memory, int n) {
  std::vector<float> numbers(n, -1.f);
  const cudaError_t error = cudaMemcpy(numbers.data(), memory, n * sizeof(float), cudaMemcpyDeviceToHost);
  if (error != cudaSuccess) std::printf("error %d\n", error);
  return numbers;
}
