#include "planted.h"

__global__ void scale(float* numbers, const float* by) { numbers[threadIdx.x] *= *by; }

int main(int argc, char**) {
  float *numbers = on_gpu(counting(32)), *two = on_gpu({2.f}), *of_the_host = new float(2.f);
  scale<<<1, 32>>>(numbers, argc > 1 ? of_the_host : two);
  return fetched(numbers, 32)[31] != 62.f;
}
