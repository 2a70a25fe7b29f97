#include "planted.h"

__global__ void reverse(float* numbers, bool bug) {
  __shared__ float shared[256];
  shared[threadIdx.x] = numbers[threadIdx.x];
  if (!bug) __syncthreads();
  numbers[threadIdx.x] = shared[255 - threadIdx.x];
}

int main(int argc, char**) {
  float* numbers = on_gpu(counting(256));
  reverse<<<1, 256>>>(numbers, argc > 1);
  return fetched(numbers, 256)[0] != 255.f;
}
