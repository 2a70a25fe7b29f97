#include "planted.h"

__global__ void one_more(float* numbers) { numbers[threadIdx.x] += 1.f; }

int main(int argc, char**) {
  float *numbers = on_gpu(counting(32)), *pinned = nullptr;
  cudaMallocHost(reinterpret_cast<void**>(&pinned), 32 * sizeof(float));
  pinned[31] = 0.f;
  one_more<<<1, 32>>>(numbers);
  cudaMemcpyAsync(pinned, numbers, 32 * sizeof(float), cudaMemcpyDeviceToHost);
  if (argc == 1) cudaDeviceSynchronize();
  return pinned[31] != 32.f;
}
