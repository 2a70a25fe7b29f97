#include "planted.h"

__global__ void one_more(float* numbers) { numbers[blockIdx.x * blockDim.x + threadIdx.x] += 1.f; }

int main(int argc, char**) {
  float* numbers = on_gpu(counting(2048));
  one_more<<<1, 2048>>>(numbers);
  if (argc == 1) cudaGetLastError();
  one_more<<<2, 1024>>>(numbers);
  cudaDeviceSynchronize();
  return cudaGetLastError() != cudaSuccess;
}
