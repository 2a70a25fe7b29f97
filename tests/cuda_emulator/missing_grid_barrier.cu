#include <cooperative_groups.h>

#include "planted.h"

__global__ void reverse(float* numbers, float* room, bool bug) {
  const unsigned k = blockIdx.x * blockDim.x + threadIdx.x;
  room[k] = numbers[k];
  if (!bug) cooperative_groups::this_grid().sync();
  numbers[k] = room[511 - k];
}

int main(int argc, char**) {
  float *numbers = on_gpu(counting(512)), *room = on_gpu(counting(512));
  bool bug = argc > 1;
  void* arguments[] = {&numbers, &room, &bug};
  cudaLaunchCooperativeKernel(reverse, 4, 128, arguments);
  return fetched(numbers, 512)[0] != 511.f;
}
