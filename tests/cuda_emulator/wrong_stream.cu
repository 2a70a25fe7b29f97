#include "planted.h"

__global__ void set(float* numbers) { numbers[threadIdx.x] = 7.f; }
__global__ void copy(const float* from, float* to) { to[threadIdx.x] = from[threadIdx.x]; }

int main(int argc, char**) {
  cudaStream_t first, second;
  cudaStreamCreate(&first);
  cudaStreamCreate(&second);
  cudaEvent_t done;
  cudaEventCreate(&done);
  float *from = on_gpu(counting(32)), *to = on_gpu(counting(32));
  set<<<1, 32, 0, first>>>(from);
  cudaEventRecord(done, first);
  if (argc == 1) cudaStreamWaitEvent(second, done);
  copy<<<1, 32, 0, second>>>(from, to);
  return fetched(to, 32)[31] != 7.f;
}
