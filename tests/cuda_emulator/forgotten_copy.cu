#include "planted.h"

__global__ void one_more(float* numbers) { numbers[threadIdx.x] += 1.f; }

int main(int argc, char**) {
  float* numbers = on_gpu(counting(32));
  one_more<<<1, 32>>>(numbers);
  cudaDeviceSynchronize();
  const float last = argc > 1 ? numbers[31] : fetched(numbers, 32)[31];
  return last != 32.f;
}
