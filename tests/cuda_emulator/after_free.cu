#include "planted.h"

__global__ void one_more(float* numbers) { numbers[threadIdx.x] += 1.f; }

int main(int argc, char**) {
  float* numbers = on_gpu(counting(32));
  if (argc > 1) cudaFreeAsync(numbers, nullptr);
  one_more<<<1, 32>>>(numbers);
  return cudaDeviceSynchronize() != cudaSuccess;
}
