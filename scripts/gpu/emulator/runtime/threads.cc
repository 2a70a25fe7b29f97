// Kernels: their blocks run one after the other, their threads are fibres that switch at barriers,
// both in a shuffled order.

#include <sys/mman.h>

#include <algorithm>
#include <deque>
#include <numeric>

#include "../include/device_code.h"
#include "emulator.h"

// Saves the registers and the stack of the caller at *from, and continues those saved in `to`.
extern "C" void emulator_switch(void** from, void* to);
asm(R"(
.text
.globl emulator_switch
.type emulator_switch, @function
emulator_switch:
  push %rbp
  push %rbx
  push %r12
  push %r13
  push %r14
  push %r15
  mov %rsp, (%rdi)
  mov %rsi, %rsp
  pop %r15
  pop %r14
  pop %r13
  pop %r12
  pop %rbx
  pop %rbp
  ret
.size emulator_switch, .-emulator_switch
)");

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;

namespace emulator {
namespace {

constexpr unsigned WARP = 32;
constexpr std::size_t STACK = 256 << 10;

// The numbers below `count` in a shuffled order.
struct Shuffled {
  std::uint64_t count, step, start;
  explicit Shuffled(std::uint64_t count) : count(count), step(1), start(random_number() % count) {
    do step = random_number() % count + 1;
    while (std::gcd(step, count) != 1);
  }
  std::uint64_t operator[](std::uint64_t i) const { return (start + i % count * step) % count; }
};

struct Warp {
  std::uint32_t alive = 0, arrived = 0, mask = 0, passed = 0;
  std::uint64_t bits[2][WARP];
};

struct Block;
struct Fibre {
  void* stack_pointer = nullptr;
  unsigned thread = 0;
  Block* block = nullptr;
};

char* stacks = nullptr;
Fibre fibres[MOST_THREADS];
std::vector<Fibre*> idle;
void* scheduler = nullptr;
Fibre* current = nullptr;

// A block that runs.
struct Block {
  const Kernel* kernel;
  unsigned count, number, next = 0, alive, waiting = 0, barriers = 0;
  Shuffled order;
  std::size_t dynamic_bytes;
  char* dynamic = nullptr;
  bool is_abandoned = false;
  std::vector<std::pair<const void*, void*>> variables;
  std::vector<Fibre*> ready, at_barrier, at_grid_barrier;
  std::vector<Fibre*> at_warp[MOST_THREADS / WARP];
  Warp warps[MOST_THREADS / WARP];
  Block(const Kernel* kernel, unsigned count, unsigned number, std::size_t dynamic_bytes)
      : kernel(kernel), count(count), number(number), alive(count), order(count), dynamic_bytes(dynamic_bytes) {
    for (unsigned t = 0; t < count; ++t) warps[t / WARP].alive |= 1u << t % WARP;
  }
};
Block* block = nullptr;
// The blocks that run side by side: one, or all of a cooperative kernel.
std::deque<Block> side_by_side;

unsigned this_thread() { return current->thread; }
Warp& this_warp() { return block->warps[this_thread() / WARP]; }

void enter_thread() {
  const unsigned t = this_thread();
  threadIdx = {t % blockDim.x, t / blockDim.x % blockDim.y, t / (blockDim.x * blockDim.y)};
  blockIdx = {block->number % gridDim.x, block->number / gridDim.x % gridDim.y, block->number / gridDim.x / gridDim.y};
  now.thread = block->number * block->count + t + now.grid_barriers * MOST_THREADS;
  now.barrier = block->barriers & 0x7fff;
  now.warp_barrier = this_warp().passed & 0xffff;
}

void to_scheduler() {
  now.in_kernel = false;
  emulator_switch(&current->stack_pointer, scheduler);
  enter_thread();
  now.in_kernel = true;
}

void release_waiting(Block& b, std::vector<Fibre*>& waiting) {
  b.ready.insert(b.ready.end(), waiting.begin(), waiting.end());
  waiting.clear();
}

void try_barrier() {
  if (block->at_barrier.empty() || block->at_barrier.size() != block->alive) return;
  ++block->barriers;
  release_waiting(*block, block->at_barrier);
}

void try_warp(unsigned number) {
  Warp& warp = block->warps[number];
  if (!warp.arrived || warp.arrived != (warp.mask & warp.alive)) return;
  warp.arrived = 0;
  ++warp.passed;
  release_waiting(*block, block->at_warp[number]);
}

void run_threads() {
  for (;;) {
    while (block->next < block->count) {
      current->thread = unsigned(block->order[block->next++]);
      enter_thread();
      now.in_kernel = true;
      block->kernel->run_thread();
      now.in_kernel = false;
      --block->alive;
      this_warp().alive &= ~(1u << this_thread() % WARP);
      try_barrier();
      try_warp(this_thread() / WARP);
      if (!block->ready.empty()) break;
    }
    idle.push_back(current);
    emulator_switch(&current->stack_pointer, scheduler);
  }
}

void prepare(Fibre& fibre) {
  char* top = stacks + STACK * std::size_t(&fibre - fibres + 1);
  void** words = reinterpret_cast<void**>(top) - 8;
  // six registers, the address to continue at, and a return address that is never used
  words[6] = reinterpret_cast<void*>(run_threads);
  fibre.stack_pointer = words;
}

void start_fibres() {
  if (!stacks) {
    stacks = static_cast<char*>(mmap(nullptr, STACK * MOST_THREADS, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  }
  idle.clear();
  for (Fibre& fibre : fibres) {
    prepare(fibre);
    idle.push_back(&fibre);
  }
}

// Draws one of the blocks side by side that has threads to run; null if none has.
Block* able_block() {
  const std::size_t count = side_by_side.size(), first = count > 1 ? random_number() % count : 0;
  for (std::size_t i = 0; i < count; ++i) {
    Block& b = side_by_side[(first + i) % count];
    if (!b.ready.empty() || b.next < b.count) return &b;
  }
  return nullptr;
}

// Returns whether all threads of the blocks side by side have ended.
bool run_blocks() {
  block_memory(0);
  for (Block& b : side_by_side)
    if (b.dynamic_bytes) b.dynamic = block_memory(b.dynamic_bytes);
  while ((block = able_block())) {
    Block& b = *block;
    if (!b.ready.empty()) {
      std::swap(b.ready[random_number() % b.ready.size()], b.ready.back());
      current = b.ready.back();
      b.ready.pop_back();
    } else {
      current = idle.back();
      idle.pop_back();
      current->block = block;
    }
    emulator_switch(&scheduler, current->stack_pointer);
    if (b.is_abandoned) return false;
  }
  unsigned alive = 0;
  for (const Block& b : side_by_side) alive += b.alive;
  if (alive == 0) return true;
  found("deadlock", cudaErrorLaunchFailure, std::to_string(alive) + " threads wait at barriers that the others do not reach");
  return false;
}

}  // namespace

bool is_thread_memory(const void* address) {
  if (std::size_t(static_cast<const char*>(address) - stacks) < STACK * MOST_THREADS) return true;
  return std::size_t(static_cast<const char*>(address) - reinterpret_cast<const char*>(block->kernel)) < block->kernel->bytes;
}

void abandon() {
  now.in_kernel = false;
  block->is_abandoned = true;
  void* nowhere;
  emulator_switch(&nowhere, scheduler);
  __builtin_unreachable();
}

void run_kernel(const Configuration& configuration, Kernel& kernel) {
  gridDim = configuration.grid;
  blockDim = configuration.block;
  const std::uint64_t blocks = std::uint64_t(gridDim.x) * gridDim.y * gridDim.z;
  now.block_threads = blockDim.x * blockDim.y * blockDim.z;
  now.threads = blocks * now.block_threads;
  const Shuffled order(blocks);
  if (idle.size() != MOST_THREADS) start_fibres();
  now.is_cooperative = configuration.is_cooperative;
  for (std::uint64_t i = 0; i < blocks; ++i) {
    side_by_side.emplace_back(&kernel, now.block_threads, unsigned(order[i]), configuration.shared);
    if (now.is_cooperative && i + 1 < blocks) continue;
    const bool has_ended = run_blocks();
    side_by_side.clear();
    if (!has_ended) break;
  }
  now.in_kernel = false;
}

void launch_kernel(const char* name, const Configuration& configuration, std::shared_ptr<Kernel> kernel) {
  std::lock_guard<std::mutex> alone(gate());
  if (entered()) return;
  const dim3 &grid = configuration.grid, &threads = configuration.block;
  const bool fits = grid.x && grid.y && grid.z && threads.x && threads.y && threads.z && grid.x <= 0x7fffffff && grid.y <= 65535 &&
                    grid.z <= 65535 && threads.x <= 1024 && threads.y <= 1024 && threads.z <= 64 &&
                    std::uint64_t(threads.x) * threads.y * threads.z <= MOST_THREADS;
  if (!fits) return void(failed(cudaErrorInvalidConfiguration, name));
  if (configuration.is_cooperative && (grid.x * grid.y * grid.z > MULTIPROCESSORS || grid.x * grid.y * grid.z * threads.x * threads.y * threads.z > MOST_THREADS))
    return void(failed(cudaErrorCooperativeLaunchTooLarge, name));
  if (configuration.shared > 49152 || kernel->bytes > 32764) return void(failed(cudaErrorInvalidValue, name));
  enqueue(configuration.stream, name, [=] {
    run_kernel(configuration, *kernel);
    trace("kernel", now.name);
  });
}

void* shared_memory(const void* variable, std::size_t bytes, std::size_t) {
  for (const auto& [key, memory] : block->variables)
    if (key == variable) return memory;
  char* memory = block_memory(bytes);
  if (!memory) {
    found("shared memory", cudaErrorInvalidValue, "a block has more than 49152 bytes");
    abandon();
  }
  block->variables.emplace_back(variable, memory);
  return memory;
}

void* dynamic_shared_memory() { return block->dynamic; }
unsigned lane() { return this_thread() % WARP; }

std::uint64_t exchange(unsigned mask, std::uint64_t bits, int from) {
  Warp& warp = this_warp();
  const unsigned mine = lane(), parity = warp.passed & 1;
  if (!(mask >> mine & 1) || (warp.arrived && warp.mask != mask)) {
    found("divergence", cudaErrorLaunchFailure, "the lanes of a warp do not agree on the mask");
    abandon();
  }
  warp.bits[parity][mine] = bits;
  warp.mask = mask;
  warp.arrived |= 1u << mine;
  block->at_warp[this_thread() / WARP].push_back(current);
  try_warp(this_thread() / WARP);
  to_scheduler();
  return mask >> from & 1 ? warp.bits[parity][from] : bits;
}

void grid_barrier() {
  if (!now.is_cooperative) {
    found("grid barrier", cudaErrorLaunchFailure, "the kernel was not launched as a cooperative one");
    abandon();
  }
  block->at_grid_barrier.push_back(current);
  const auto wait = [](const Block& b) { return b.at_grid_barrier.size() == b.count; };
  if (std::all_of(side_by_side.begin(), side_by_side.end(), wait)) {
    ++now.grid_barriers;
    for (Block& b : side_by_side) release_waiting(b, b.at_grid_barrier);
  }
  to_scheduler();
}

}  // namespace emulator

using namespace emulator;

extern "C" {
void __syncthreads() {
  block->at_barrier.push_back(current);
  try_barrier();
  to_scheduler();
}
void __syncwarp(unsigned mask) { exchange(mask, 0, int(lane())); }
}
