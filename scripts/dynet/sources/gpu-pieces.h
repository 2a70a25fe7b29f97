#ifndef DYNET_GPU_PIECES_H_
#define DYNET_GPU_PIECES_H_

// Many arrays in one kernel: the host lists them in pieces, and each block of threads takes one piece after the other.
// Why: DyNet started a kernel for each array, and its kernels for many arrays stopped at 65,535 blocks.
// Test: tests/test_dynet_pieces.py::test_every_element_of_every_array_is_met_once
// Needs neither CUDA nor the rest of DyNet but for the launches, so that the indexing can be tried without a GPU.

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

// Elements of a piece at most: a long array is shared by several blocks, a short one does not hold up many threads.
constexpr std::size_t LONGEST_PIECE = 512;

// As many elements of each of N arrays.
template <unsigned N>
struct Piece {
  float* at[N];
  std::size_t length;
};

// Pieces of groups of N arrays of like length.
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
  // What bytes() is at most after so many calls of add() with so many elements together.
  static std::size_t most_bytes(std::size_t calls, std::size_t elements) {
    return (calls + elements / LONGEST_PIECE) * sizeof(Piece<N>);
  }

 private:
  std::vector<Piece<N>> pieces_;
};

// A thread among those of a kernel.
struct Thread {
  std::size_t block, blocks, index, threads;
};

// Calls f(piece, i) for the elements that are this thread's.
template <unsigned N, class F>
DYNET_ON_GPU inline void each_element(const Piece<N>* pieces, std::size_t count, Thread thread, F f) {
  for (std::size_t p = thread.block; p < count; p += thread.blocks)
    for (std::size_t i = thread.index; i < pieces[p].length; i += thread.threads) f(pieces[p], i);
}

// v[k] = mask[k]
void fill_with(const DropoutMask& mask, float* v, std::size_t count);

// Below: `room` is memory of the GPU for the table, of as many bytes as it has, and free again after the kernel.

// at[1] = at[0]
void copy_pieces(const PieceTable<2>& table, void* room);
// at[1] += at[0]; several at[1] may be the same place, so the order of the additions is not fixed
void add_pieces(const PieceTable<2>& table, void* room);

// Blocks of squared_norm, each with one sum of its own behind the table.
constexpr std::size_t NORM_BLOCKS = 1024;
inline std::size_t squared_norm_room(const PieceTable<1>& table) {
  return table.bytes() + NORM_BLOCKS * sizeof(float);
}
// The sum of the squares of all elements, of the same bits each time. Waits for it.
double squared_norm(const PieceTable<1>& table, void* room);

// value at[0] -= rate * gradient at[1], and the gradient is 0 after it
void sgd_step(const PieceTable<2>& table, float rate, void* room);

// How far one update by Adam goes; gradients are scaled first.
struct AdamStep {
  float scale, beta_1, beta_2, epsilon, rate;
};
// value at[0], gradient at[1], first and second moment at[2] and at[3]; the gradient is 0 after it
void adam_step(const PieceTable<4>& table, AdamStep step, void* room);

}  // namespace gpu
}  // namespace dynet

#endif
