#ifndef DYNET_GPU_PIECES_H_
#define DYNET_GPU_PIECES_H_

// Many arrays in one kernel. The host lists them in pieces, and each block of threads takes one
// piece after the other.
// Why: DyNet started a kernel for each array. Its kernels for many arrays stopped at 65,535 blocks.
// Test: tests/test_dynet_pieces.py::test_every_element_of_every_array_is_met_once
// Only the launches need CUDA and the rest of DyNet, so the indexing can be tested without a GPU.

#include <array>
#include <cstddef>
#include <vector>

#ifdef __CUDACC__
#define DYNET_ON_GPU __host__ __device__
#else
#define DYNET_ON_GPU
#endif

namespace dynet {

struct DropoutMask;

namespace gpu {

// The most elements of a piece. Blocks share a long array; a short one occupies few threads.
constexpr std::size_t LONGEST_PIECE = 512;

// The same number of elements of each of N arrays.
template <unsigned N>
struct Piece {
  float* at[N];
  std::size_t length;
};

// Pieces of groups of N arrays; the arrays of a group have the same length.
template <unsigned N>
class PieceTable {
 public:
  void add(const std::array<float*, N>& arrays, std::size_t length) {
    for (std::size_t start = 0; start < length; start += LONGEST_PIECE) {
      Piece<N> piece;
      for (unsigned a = 0; a < N; ++a) piece.at[a] = arrays[a] + start;
      piece.length = length - start < LONGEST_PIECE ? length - start : LONGEST_PIECE;
      pieces_.push_back(piece);
    }
  }
  void clear() { pieces_.clear(); }
  const Piece<N>* data() const { return pieces_.data(); }
  std::size_t size() const { return pieces_.size(); }
  std::size_t bytes() const { return pieces_.size() * sizeof(Piece<N>); }
  // The largest bytes() after this number of calls of add(), with this number of elements in all.
  static std::size_t most_bytes(std::size_t calls, std::size_t elements) {
    return (calls + elements / LONGEST_PIECE) * sizeof(Piece<N>);
  }

 private:
  std::vector<Piece<N>> pieces_;
};

// A thread of a kernel.
struct Thread {
  std::size_t block, blocks, index, threads;
};

// Calls f(piece, i) for the elements of this thread.
template <unsigned N, class F>
DYNET_ON_GPU inline void each_element(const Piece<N>* pieces, std::size_t count, Thread thread, F f) {
  for (std::size_t p = thread.block; p < count; p += thread.blocks)
    for (std::size_t i = thread.index; i < pieces[p].length; i += thread.threads) f(pieces[p], i);
}

// v[k] = mask[k]
void fill_with(const DropoutMask& mask, float* v, std::size_t count);

// In the functions below, `room` is memory of the GPU for the table, of its size in bytes. It is
// free after the kernel.

// at[1] = at[0]
void copy_pieces(const PieceTable<2>& table, void* room);
// at[1] += at[0]. Several at[1] may be the same address, so the order of additions is not fixed.
void add_pieces(const PieceTable<2>& table, void* room);

// Blocks of squared_norm; each has a sum of its own after the table.
constexpr std::size_t NORM_BLOCKS = 1024;
inline std::size_t squared_norm_room(const PieceTable<1>& table) {
  return table.bytes() + NORM_BLOCKS * sizeof(float);
}
// Returns the sum of the squares of all elements, with the same bits each time; waits for the GPU.
double squared_norm(const PieceTable<1>& table, void* room);

// at[0] -= rate * at[1], the gradient, which becomes 0.
void sgd_step(const PieceTable<2>& table, float rate, void* room);

// The numbers of an update by Adam, which first multiplies gradients by `scale`.
struct AdamStep {
  float scale, beta_1, beta_2, epsilon, rate;
};
// Updates the value at[0] by the gradient at[1], which becomes 0, and the moments at[2] and at[3].
void adam_step(const PieceTable<4>& table, AdamStep step, void* room);

}  // namespace gpu
}  // namespace dynet

#endif
