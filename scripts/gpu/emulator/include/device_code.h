// What code for the GPU finds besides C++: its place among the threads, barriers, shuffles,
// atomics, launches. `nvcc` beside this folder turns `kernel<<<...>>>(...)` into emulator::launch,
// and `__shared__` into shared_memory.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernel.h"

extern uint3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;
constexpr int warpSize = 32;

extern "C" {
void __syncthreads();
void __syncwarp(unsigned mask = 0xffffffff);
}
inline void __threadfence() {}
inline void __threadfence_block() {}

namespace emulator {

// Memory of the block; `variable` tells one declaration from another.
void* shared_memory(const void* variable, std::size_t bytes, std::size_t alignment);
void* dynamic_shared_memory();
// Every access that is atomic is announced, and then done without instrumentation.
void announce_atomic(const void* memory, std::size_t bytes);
// Bits of the value that another lane of the warp gave: lane `from` of those of `mask`.
std::uint64_t exchange(unsigned mask, std::uint64_t bits, int from);
unsigned lane();
void grid_barrier();

// A type that is not deduced.
template <class T>
using Same = std::common_type_t<T>;

template <class T, class F>
__attribute__((noinline, no_sanitize("thread"))) T change(T* memory, F f) {
  announce_atomic(memory, sizeof(T));
  const T old = *memory;
  *memory = f(old);
  return old;
}

template <class T>
T from_lane(unsigned mask, T value, int from) {
  static_assert(sizeof(T) <= 8);
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  bits = exchange(mask, bits, from);
  std::memcpy(&value, &bits, sizeof(T));
  return value;
}

// The lane that `mine` lanes on is asked for, unless it lies outside the part of `width` lanes.
inline int neighbour(int from, int width) {
  const int start = int(lane()) / width * width;
  return from < start || from >= start + width ? int(lane()) : from;
}

}  // namespace emulator

template <class T> T atomicAdd(T* memory, emulator::Same<T> value) { return emulator::change(memory, [=](T old) { return old + value; }); }
template <class T> T atomicSub(T* memory, emulator::Same<T> value) { return emulator::change(memory, [=](T old) { return old - value; }); }
template <class T> T atomicMax(T* memory, emulator::Same<T> value) { return emulator::change(memory, [=](T old) { return old < value ? value : old; }); }
template <class T> T atomicMin(T* memory, emulator::Same<T> value) { return emulator::change(memory, [=](T old) { return value < old ? value : old; }); }
template <class T> T atomicExch(T* memory, emulator::Same<T> value) { return emulator::change(memory, [=](T) { return value; }); }
template <class T> T atomicCAS(T* memory, emulator::Same<T> expected, emulator::Same<T> value) {
  return emulator::change(memory, [=](T old) { return old == expected ? value : old; });
}
inline unsigned atomicInc(unsigned* memory, unsigned limit) {
  return emulator::change(memory, [=](unsigned old) { return old >= limit ? 0 : old + 1; });
}

template <class T> T __shfl_sync(unsigned mask, T value, int from, int width = warpSize) {
  return emulator::from_lane(mask, value, int(emulator::lane()) / width * width + from % width);
}
template <class T> T __shfl_down_sync(unsigned mask, T value, unsigned by, int width = warpSize) {
  return emulator::from_lane(mask, value, emulator::neighbour(int(emulator::lane() + by), width));
}
template <class T> T __shfl_up_sync(unsigned mask, T value, unsigned by, int width = warpSize) {
  return emulator::from_lane(mask, value, emulator::neighbour(int(emulator::lane()) - int(by), width));
}
template <class T> T __shfl_xor_sync(unsigned mask, T value, int by, int width = warpSize) {
  return emulator::from_lane(mask, value, emulator::neighbour(int(emulator::lane()) ^ by, width));
}
// Eigen's half precision names these; no GPU has had them since Volta
int __shfl(int value, int from, int width = warpSize);
int __shfl_up(int value, unsigned by, int width = warpSize);
int __shfl_down(int value, unsigned by, int width = warpSize);
int __shfl_xor(int value, int by, int width = warpSize);

template <class T> T __ldg(const T* memory) { return *memory; }
inline long long __double_as_longlong(double value) { long long bits; std::memcpy(&bits, &value, 8); return bits; }
inline double __longlong_as_double(long long bits) { double value; std::memcpy(&value, &bits, 8); return value; }
inline unsigned __umulhi(unsigned a, unsigned b) { return unsigned(std::uint64_t(a) * b >> 32); }
inline int __float_as_int(float value) { int bits; std::memcpy(&bits, &value, 4); return bits; }
inline float __int_as_float(int bits) { float value; std::memcpy(&value, &bits, 4); return value; }
inline unsigned __float_as_uint(float value) { return unsigned(__float_as_int(value)); }
inline float __uint_as_float(unsigned bits) { return __int_as_float(int(bits)); }
inline double rsqrt(double value) { return 1. / std::sqrt(value); }
inline float rsqrtf(float value) { return 1.f / std::sqrt(value); }
#define EMULATOR_ORDER(T) \
  inline T min(T a, T b) { return b < a ? b : a; } \
  inline T max(T a, T b) { return a < b ? b : a; }
EMULATOR_ORDER(int) EMULATOR_ORDER(unsigned) EMULATOR_ORDER(long) EMULATOR_ORDER(unsigned long)
EMULATOR_ORDER(long long) EMULATOR_ORDER(unsigned long long) EMULATOR_ORDER(float) EMULATOR_ORDER(double)
#undef EMULATOR_ORDER

// Eigen's headers take the kernels' side where they look for EIGEN_CUDA_ARCH and
// EIGEN_CUDA_SDK_VER, and otherwise the
// side of the host: both are in one compilation here, unlike in nvcc's.
#if __has_include(<Eigen/Core>) && defined(EIGEN_USE_GPU)
#include <Eigen/src/Core/util/Macros.h>
#define EIGEN_CUDA_ARCH 900
#include <Eigen/Core>
#define CUDA_VERSION 13000
#endif
