#include "planted.h"
#include <algorithm>

__global__ void square(const float* from, float* to, int n, bool bug) {
  for (int i = blockIdx.x; i < n; i += gridDim.x) {
    to[i] = from[i] * from[i];
    if (bug) break;
  }
}

int main(int argc, char**) {
  const int n = 65540;
  const std::vector<float> numbers = counting(n);
  float *from = on_gpu(numbers), *to = nullptr;
  cudaMalloc(&to, n * sizeof(float));
  square<<<std::min(n, 65535), 1>>>(from, to, n, argc > 1);
  return fetched(to, n)[n - 1] != numbers[n - 1] * numbers[n - 1];
}
