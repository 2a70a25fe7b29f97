// cuBLAS's products by plain loops, and cuRAND's Philox generator.

#include <cmath>

#include "../include/cublas_v2.h"
#include "../include/curand.h"
#include "emulator.h"

struct cublasContext {
  cublasPointerMode_t mode = CUBLAS_POINTER_MODE_HOST;
  cudaStream_t stream = nullptr;
};
struct curandGenerator_st {
  std::uint64_t seed = 0, drawn = 0;
};

namespace emulator {
namespace {

struct Product {
  bool ta, tb;
  int m, n, k;
  const float *a, *b;
  float* c;
  int lda, ldb, ldc;

  // Whether all columns of all three are readable or writable.
  bool touches(float beta) const {
    bool fine = true;
    for (int j = 0; fine && j < (ta ? m : k); ++j) fine = touch(a + std::ptrdiff_t(j) * lda, (ta ? k : m) * sizeof(float), false);
    for (int j = 0; fine && j < (tb ? k : n); ++j) fine = touch(b + std::ptrdiff_t(j) * ldb, (tb ? n : k) * sizeof(float), false);
    for (int j = 0; fine && j < n; ++j) {
      float* column = c + std::ptrdiff_t(j) * ldc;
      fine = (beta == 0.f || touch(column, m * sizeof(float), false)) && touch(column, m * sizeof(float), true);
    }
    return fine;
  }

  void run(float alpha, float beta) const {
    std::vector<float> column(m);
    for (int j = 0; j < n; ++j) {
      std::fill(column.begin(), column.end(), 0.f);
      for (int p = 0; p < k; ++p) {
        const float right = tb ? b[j + std::ptrdiff_t(p) * ldb] : b[p + std::ptrdiff_t(j) * ldb];
        if (ta)
          for (int i = 0; i < m; ++i) column[i] += a[p + std::ptrdiff_t(i) * lda] * right;
        else
          for (int i = 0; i < m; ++i) column[i] += a[i + std::ptrdiff_t(p) * lda] * right;
      }
      float* target = c + std::ptrdiff_t(j) * ldc;
      for (int i = 0; i < m; ++i) target[i] = alpha * column[i] + (beta == 0.f ? 0.f : beta * target[i]);
    }
  }
};

cublasStatus_t multiply(cublasHandle_t handle, Product product, const float* alpha, const float* beta, const long long strides[3], int count) {
  std::lock_guard<std::mutex> alone(gate());
  if (entered()) return CUBLAS_STATUS_EXECUTION_FAILED;
  const Product& p = product;
  if (p.m < 0 || p.n < 0 || p.k < 0 || p.lda < std::max(1, p.ta ? p.k : p.m) || p.ldb < std::max(1, p.tb ? p.n : p.k) || p.ldc < std::max(1, p.m))
    return CUBLAS_STATUS_INVALID_VALUE;
  if (p.m == 0 || p.n == 0 || count == 0) return CUBLAS_STATUS_SUCCESS;
  const bool on_gpu = handle->mode == CUBLAS_POINTER_MODE_DEVICE;
  const float host_alpha = on_gpu ? 0.f : *alpha, host_beta = on_gpu ? 0.f : *beta;
  const long long sa = strides[0], sb = strides[1], sc = strides[2];
  enqueue(handle->stream, "cublasSgemm", [=]() mutable {
    if (on_gpu && !(touch(alpha, sizeof(float), false) && touch(beta, sizeof(float), false))) return;
    const float scale = on_gpu ? *alpha : host_alpha, old = on_gpu ? *beta : host_beta;
    for (int i = 0; i < count; ++i) {
      // the record of accesses treats an element of the batch as a thread
      now.thread = std::uint32_t(i);
      if (!product.touches(old)) return;
      product.run(scale, old);
      product.a += sa, product.b += sb, product.c += sc;
    }
    now.flops = 2ull * product.m * product.n * product.k * count;
    trace("library", now.name);
  });
  return CUBLAS_STATUS_SUCCESS;
}

// Philox 4x32-10: four numbers for each place in the sequence.
void philox(std::uint64_t seed, std::uint64_t place, std::uint32_t words[4]) {
  std::uint32_t key[2] = {std::uint32_t(seed), std::uint32_t(seed >> 32)};
  words[0] = std::uint32_t(place), words[1] = std::uint32_t(place >> 32), words[2] = words[3] = 0;
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t first = 0xD2511F53ull * words[0], second = 0xCD9E8D57ull * words[2];
    const std::uint32_t next[4] = {std::uint32_t(second >> 32) ^ words[1] ^ key[0], std::uint32_t(second),
                                   std::uint32_t(first >> 32) ^ words[3] ^ key[1], std::uint32_t(first)};
    std::copy(next, next + 4, words);
    key[0] += 0x9E3779B9u, key[1] += 0xBB67AE85u;
  }
}

// A number in (0, 1], like cuRAND's.
double uniform(std::uint64_t seed, std::uint64_t place) {
  std::uint32_t words[4];
  philox(seed, place / 4, words);
  return (words[place % 4] + 1.0) / 4294967296.0;
}

template <class F>
curandStatus_t generate(curandGenerator_t generator, float* numbers, std::size_t count, F number) {
  std::lock_guard<std::mutex> alone(gate());
  if (entered()) return CURAND_STATUS_LAUNCH_FAILURE;
  const std::uint64_t seed = generator->seed, first = generator->drawn;
  generator->drawn += count;
  enqueue(nullptr, "curandGenerate", [=] {
    if (!touch(numbers, count * sizeof(float), true)) return;
    for (std::size_t i = 0; i < count; ++i) numbers[i] = float(number(seed, first + i));
    trace("library", now.name);
  });
  return CURAND_STATUS_SUCCESS;
}

}  // namespace
}  // namespace emulator

using namespace emulator;

extern "C" {

cublasStatus_t cublasCreate(cublasHandle_t* handle) {
  *handle = new cublasContext;
  return entered() ? CUBLAS_STATUS_NOT_INITIALIZED : CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasDestroy(cublasHandle_t handle) { return delete handle, CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasSetPointerMode(cublasHandle_t handle, cublasPointerMode_t mode) { return handle->mode = mode, CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream) { return handle->stream = stream, CUBLAS_STATUS_SUCCESS; }

cublasStatus_t cublasSgemm(cublasHandle_t handle, cublasOperation_t ta, cublasOperation_t tb, int m, int n, int k, const float* alpha,
                           const float* a, int lda, const float* b, int ldb, const float* beta, float* c, int ldc) {
  return cublasSgemmStridedBatched(handle, ta, tb, m, n, k, alpha, a, lda, 0, b, ldb, 0, beta, c, ldc, 0, 1);
}
cublasStatus_t cublasSgemmStridedBatched(cublasHandle_t handle, cublasOperation_t ta, cublasOperation_t tb, int m, int n, int k,
                                         const float* alpha, const float* a, int lda, long long stride_a, const float* b, int ldb,
                                         long long stride_b, const float* beta, float* c, int ldc, long long stride_c, int count) {
  const long long strides[3] = {stride_a, stride_b, stride_c};
  return multiply(handle, {ta == CUBLAS_OP_T, tb == CUBLAS_OP_T, m, n, k, a, b, c, lda, ldb, ldc}, alpha, beta, strides, count);
}

curandStatus_t curandCreateGenerator(curandGenerator_t* generator, curandRngType_t) { return *generator = new curandGenerator_st, CURAND_STATUS_SUCCESS; }
curandStatus_t curandDestroyGenerator(curandGenerator_t generator) { return delete generator, CURAND_STATUS_SUCCESS; }
curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator, unsigned long long seed) {
  // a seed does not reset the sequence; only the offset does
  return generator->seed = seed, CURAND_STATUS_SUCCESS;
}
curandStatus_t curandSetGeneratorOffset(curandGenerator_t generator, unsigned long long offset) { return generator->drawn = offset, CURAND_STATUS_SUCCESS; }
curandStatus_t curandGenerateUniform(curandGenerator_t generator, float* numbers, std::size_t count) { return generate(generator, numbers, count, uniform); }
curandStatus_t curandGenerateNormal(curandGenerator_t generator, float* numbers, std::size_t count, float mean, float deviation) {
  // numbers are made in pairs
  if (count % 2) return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
  return generate(generator, numbers, count, [=](std::uint64_t seed, std::uint64_t place) {
    const double radius = std::sqrt(-2 * std::log(uniform(seed, place & ~1ull))), angle = 2 * M_PI * uniform(seed, place | 1);
    return mean + deviation * radius * (place % 2 ? std::sin(angle) : std::cos(angle));
  });
}
}
