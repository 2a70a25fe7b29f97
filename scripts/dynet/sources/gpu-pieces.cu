// The kernels for many arrays; gpu-pieces.h says why.

#include "dynet/gpu-pieces.h"

#include <algorithm>

#include "dynet/cuda.h"
#include "dynet/dropout-mask.h"

namespace dynet {
namespace gpu {

namespace {

constexpr unsigned THREADS = 128;

__device__ inline Thread this_thread() { return {blockIdx.x, gridDim.x, threadIdx.x, blockDim.x}; }

template <unsigned N, class F>
__global__ void element_kernel(const Piece<N>* pieces, std::size_t count, F f) {
  each_element(pieces, count, this_thread(), f);
}

template <unsigned N>
const Piece<N>* upload(const PieceTable<N>& table, void* room) {
  // the caller may free the table: CUDA copies memory that is not pinned before the call returns
  CUDA_CHECK(cudaMemcpyAsync(room, table.data(), table.bytes(), cudaMemcpyHostToDevice));
  return static_cast<const Piece<N>*>(room);
}

template <unsigned N, class F>
void launch(const PieceTable<N>& table, void* room, F f) {
  if (table.size() == 0) return;
  const Piece<N>* pieces = upload(table, room);
  const unsigned blocks = unsigned(std::min<std::size_t>(table.size(), 65535));
  element_kernel<<<blocks, THREADS>>>(pieces, table.size(), f);
  CUDA_CHECK(cudaGetLastError());
}

__global__ void square_kernel(const Piece<1>* pieces, std::size_t count, float* sums) {
  __shared__ float shared[THREADS];
  float sum = 0.f;
  each_element(pieces, count, this_thread(), [&](const Piece<1>& piece, std::size_t i) {
    const float x = piece.at[0][i];
    sum += x * x;
  });
  shared[threadIdx.x] = sum;
  for (unsigned half = THREADS / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) shared[threadIdx.x] += shared[threadIdx.x + half];
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = shared[0];
}

__global__ void mask_kernel(DropoutMask mask, float* v, std::size_t count) {
  const std::size_t k = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (k < count) v[k] = mask[k];
}

}  // namespace

void fill_with(const DropoutMask& mask, float* v, std::size_t count) {
  if (count == 0) return;
  mask_kernel<<<unsigned((count + THREADS - 1) / THREADS), THREADS>>>(mask, v, count);
  CUDA_CHECK(cudaGetLastError());
}

void copy_pieces(const PieceTable<2>& table, void* room) {
  launch(table, room, [] __device__(const Piece<2>& piece, std::size_t i) { piece.at[1][i] = piece.at[0][i]; });
}

void add_pieces(const PieceTable<2>& table, void* room) {
  launch(table, room, [] __device__(const Piece<2>& piece, std::size_t i) { atomicAdd(piece.at[1] + i, piece.at[0][i]); });
}

double squared_norm(const PieceTable<1>& table, void* room) {
  if (table.size() == 0) return 0.;
  const Piece<1>* pieces = upload(table, room);
  float* sums = reinterpret_cast<float*>(static_cast<char*>(room) + table.bytes());
  const std::size_t blocks = std::min(table.size(), NORM_BLOCKS);
  square_kernel<<<unsigned(blocks), THREADS>>>(pieces, table.size(), sums);
  CUDA_CHECK(cudaGetLastError());
  std::vector<float> of_blocks(blocks);
  CUDA_CHECK(cudaMemcpy(of_blocks.data(), sums, blocks * sizeof(float), cudaMemcpyDeviceToHost));
  double sum = 0.;
  for (float of_block : of_blocks) sum += of_block;
  return sum;
}

void sgd_step(const PieceTable<2>& table, float rate, void* room) {
  launch(table, room, [rate] __device__(const Piece<2>& piece, std::size_t i) {
    piece.at[0][i] -= rate * piece.at[1][i];
    piece.at[1][i] = 0.f;
  });
}

void adam_step(const PieceTable<4>& table, AdamStep step, void* room) {
  launch(table, room, [step] __device__(const Piece<4>& piece, std::size_t i) {
    const float g = piece.at[1][i] * step.scale;
    const float m = piece.at[2][i] = piece.at[2][i] * step.beta_1 + g * (1.f - step.beta_1);
    const float v = piece.at[3][i] = piece.at[3][i] * step.beta_2 + g * g * (1.f - step.beta_2);
    piece.at[0][i] -= m / (sqrtf(v) + step.epsilon) * step.rate;
    piece.at[1][i] = 0.f;
  });
}

}  // namespace gpu
}  // namespace dynet
