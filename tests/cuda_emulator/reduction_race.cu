#include "planted.h"

__global__ void add(const float* numbers, float* sum, bool bug) {
  const float number = numbers[blockIdx.x * blockDim.x + threadIdx.x];
  if (bug) *sum += number;
  else atomicAdd(sum, number);
}

int main(int argc, char**) {
  float *numbers = on_gpu(counting(512)), *sum = on_gpu({0.f});
  add<<<4, 128>>>(numbers, sum, argc > 1);
  return fetched(sum, 1)[0] != 511.f * 256.f;
}
