#include "planted.h"

__global__ void add_one(float* numbers) { numbers[blockIdx.x * blockDim.x + threadIdx.x] += 1.f; }

int main(int argc, char**) {
  const int n = 1 << 20;
  cudaStream_t first, second;
  cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
  float* numbers = nullptr;
  cudaMalloc(&numbers, n * sizeof(float));
  cudaMemsetAsync(numbers, 0, n * sizeof(float), first);
  if (argc == 1) cudaStreamSynchronize(first);
  add_one<<<n / 1024, 1024, 0, second>>>(numbers);
  cudaStreamSynchronize(second);
  return fetched(numbers, n)[n - 1] != 1.f;
}
