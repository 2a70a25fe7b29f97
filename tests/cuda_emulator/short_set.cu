#include "planted.h"

__global__ void add_one(float* numbers) { numbers[blockIdx.x * blockDim.x + threadIdx.x] += 1.f; }

int main(int argc, char**) {
  const int n = 1 << 20;
  float* numbers = nullptr;
  cudaMalloc(&numbers, n * sizeof(float));
  cudaMemset(numbers, 0, (argc > 1 ? n / 2 : n) * sizeof(float));
  add_one<<<n / 1024, 1024>>>(numbers);
  return fetched(numbers, n)[n - 1] != 1.f;
}
