#include "planted.h"

__global__ void sum(const float* numbers, float* sums, bool bug) {
  float number = numbers[threadIdx.x];
  for (int by = 16; by > 0; by /= 2) number += __shfl_down_sync(0xffffffff, number, by);
  // half of the warps never come to the barrier
  if (!bug || threadIdx.x / 32 % 2 == 0) __syncthreads();
  else __shfl_sync(0xffffffff, number, 0), __syncwarp(threadIdx.x % 32 == 0 ? 1 : 0xffffffff);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = number;
}

int main(int argc, char**) {
  float *numbers = on_gpu(counting(128)), *sums = on_gpu(counting(4));
  sum<<<1, 128>>>(numbers, sums, argc > 1);
  return fetched(sums, 4)[1] != 32 * 47.5f;
}
