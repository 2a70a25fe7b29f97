#include "planted.h"

__global__ void one_more(float* numbers) { numbers[blockIdx.x] += 1.f; }

// Blocks that wait for each other must all find a place.
int main(int argc, char**) {
  float* numbers = on_gpu(counting(8));
  void* arguments[] = {&numbers};
  const cudaError_t error = cudaLaunchCooperativeKernel(one_more, argc > 1 ? 8 : 4, 1, arguments);
  if (error != cudaSuccess) std::printf("error %d\n", error);
  return fetched(numbers, 8)[3] != 4.f;
}
