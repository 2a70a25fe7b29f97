#include "gpu-pieces.h"
#include <cstdint>
#include <cstdio>
#include <cstdlib>
using namespace dynet::gpu;

// arguments: blocks, threads, lengths of adjacent arrays; prints how often each element was met
int main(int argc, char** argv) {
  const std::size_t blocks = std::atol(argv[1]), threads = std::atol(argv[2]);
  PieceTable<2> table;
  std::size_t end = 0, calls = 0;
  for (int a = 3; a < argc; ++a, ++calls) {
    const std::size_t length = std::atol(argv[a]);
    // addresses only: nothing is read
    float* start = reinterpret_cast<float*>(4 * end);
    table.add({start, start + 1}, length);
    end += length;
  }
  std::vector<std::uint8_t> met(end);
  for (std::size_t block = 0; block < blocks; ++block)
    for (std::size_t index = 0; index < threads; ++index)
      each_element(table.data(), table.size(), {block, blocks, index, threads},
                   [&](const Piece<2>& piece, std::size_t i) {
        if (piece.at[1] != piece.at[0] + 1 || piece.length > LONGEST_PIECE) std::abort();
        ++met[reinterpret_cast<std::size_t>(piece.at[0] + i) / 4];
      });
  std::size_t times[256] = {};
  for (auto m : met) ++times[m];
  for (int m = 0; m < 256; ++m)
    if (times[m]) std::printf("%d:%zu ", m, times[m]);
  std::printf("%d\n", table.bytes() <= PieceTable<2>::most_bytes(calls, end));
}
