#include "planted.h"

__global__ void one_more(float* numbers, int n, bool bug) {
  const int i = threadIdx.x;
  if (bug ? i <= n : i < n) numbers[i] += 1.f;
}

int main(int argc, char**) {
  float* numbers = on_gpu(counting(100));
  one_more<<<1, 128>>>(numbers, 100, argc > 1);
  return fetched(numbers, 100)[99] != 100.f;
}
