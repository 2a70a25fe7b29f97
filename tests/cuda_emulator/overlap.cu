#include "planted.h"

int main(int argc, char**) {
  float* numbers = on_gpu(counting(64));
  cudaMemcpy(numbers + (argc > 1 ? 16 : 32), numbers, 32 * sizeof(float), cudaMemcpyDeviceToDevice);
  return fetched(numbers, 64)[63] != 31.f;
}
