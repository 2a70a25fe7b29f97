"""How the kernels for many arrays share the work: their code, run on the host."""

from __future__ import annotations

import subprocess

import pytest

from scripts.dynet import build as cache

PROGRAM = """
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
  std::printf("%d\\n", table.bytes() <= PieceTable<2>::most_bytes(calls, end));
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pieces")
    (folder / "main.cc").write_text(PROGRAM)
    command = ["c++", "-std=c++17", "-O2", f"-I{cache.RECIPE / 'sources'}", "main.cc", "-o", "main"]
    subprocess.run(command, cwd=folder, check=True)
    return str(folder / "main")


@pytest.mark.parametrize(
    ("blocks", "threads", "lengths"),
    [
        (1, 1, [1, 2, 3]),
        (4, 128, [1, 511, 512, 513, 0, 10_000]),
        (3, 7, [5, 1_024, 5]),
        (100, 128, [32] * 20),
        # more than 65,535 blocks of 1,024 threads
        (65_535, 128, [68_000_000, 256]),
    ],
)
def test_every_element_of_every_array_is_met_once(program, blocks, threads, lengths):
    arguments = map(str, (blocks, threads, *lengths))
    done = subprocess.run([program, *arguments], capture_output=True, text=True, check=True)
    times, fits = done.stdout.rsplit(maxsplit=1)
    assert times == f"1:{sum(lengths)}"
    assert fits == "1"
