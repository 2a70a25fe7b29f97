#include "planted.h"

int main(int argc, char**) {
  float *numbers = on_gpu(counting(10)), *others = on_gpu(counting(11));
  cudaFree(numbers);
  if (argc == 1) cudaFree(others);
}
