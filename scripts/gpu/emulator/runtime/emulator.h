// The interface between the parts of the emulator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "../include/cuda_runtime.h"
#include "../include/kernel.h"

namespace emulator {

// For each stream, the last operation that is known to come before.
using Clock = std::vector<std::uint32_t>;
void join(Clock& clock, const Clock& other);

// Threads that run side by side: those of a block, or of a cooperative kernel, which has a block on
// each multiprocessor.
constexpr unsigned MOST_THREADS = 1024, MULTIPROCESSORS = 4;

// The operation and thread that run now on the emulated GPU. Thread 0 of operation 0 is nobody.
struct Now {
  std::uint32_t operation = 0, thread = 0, block_threads = 1;
  // `thread` also counts the barriers of the grid
  std::uint32_t barrier = 0, warp_barrier = 0, grid_barriers = 0;
  bool in_kernel = false, is_cooperative = false;
  const Clock* before = nullptr;
  std::string name;
  std::uint64_t read = 0, written = 0, flops = 0, threads = 0;  // each byte counts once
  std::uint64_t accessed = 0;  // each access counts
};
extern Now now;

// report.cc
long setting(const char* name, long otherwise);
std::mutex& gate();  // every entry locks it
cudaError_t entered();  // an error that a call returns at once: the sticky one, or that of a fork
cudaError_t failed(cudaError_t error, const char* what);  // sets the last error
void found(const char* kind, cudaError_t error, const std::string& says, const void* place = nullptr);
bool has_failed();
void forget_errors();
// Writes a line of the trace, with the counts of `now`.
void trace(const char* kind, const std::string& name, std::uint64_t bytes = 0);
std::uint64_t launches();
int device();

// memory.cc
bool in_arena(const void* address);
char* allocate(std::size_t bytes);  // null if the GPU's memory is used up
bool release(void* memory);
void release_all();
std::size_t bytes_in_use();
std::size_t total_bytes();
void unlock();
void lock();
// Whether the bytes are the GPU's and initialised; looks for races. Reports what it finds.
bool touch(const void* address, std::size_t bytes, bool writes, bool is_atomic = false, const void* place = nullptr);
bool fill(void* memory, int value, std::size_t bytes);  // memset with the checks of `touch`
// Reports a wrong access; returns false, or ends the kernel.
bool wrong(const char* kind, cudaError_t error, const std::string& says, const void* place);
char* block_memory(std::size_t bytes);  // shared memory, uninitialised

// threads.cc
void run_kernel(const Configuration& configuration, Kernel& kernel);
bool is_thread_memory(const void* address);  // stacks and parameters
[[noreturn]] void abandon();  // ends the kernel that runs

// streams.cc
void enqueue(cudaStream_t stream, const std::string& name, std::function<void()> run);
void synchronize(cudaStream_t stream);
void synchronize_all();
bool is_before(std::uint32_t operation);  // whether what runs now comes after it
std::uint32_t random_number();

}  // namespace emulator
