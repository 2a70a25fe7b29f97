// The atomic operations of the host's code in files with kernels: -fsanitize=thread makes calls of
// them.

#include <cstdint>

#define UPDATE(BITS, NAME)                                                                                   \
  std::uint##BITS##_t __tsan_atomic##BITS##_fetch_##NAME(volatile std::uint##BITS##_t* at, std::uint##BITS##_t by, int) { \
    return __atomic_fetch_##NAME(at, by, __ATOMIC_SEQ_CST);                                                  \
  }
#define EXCHANGE(BITS, STRENGTH, IS_WEAK)                                                                    \
  int __tsan_atomic##BITS##_compare_exchange_##STRENGTH(volatile std::uint##BITS##_t* at, std::uint##BITS##_t* expected, \
                                                        std::uint##BITS##_t value, int, int) {               \
    return __atomic_compare_exchange_n(at, expected, value, IS_WEAK, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);    \
  }
#define ATOMICS(BITS)                                                                                        \
  std::uint##BITS##_t __tsan_atomic##BITS##_load(const volatile std::uint##BITS##_t* at, int) {              \
    return __atomic_load_n(at, __ATOMIC_SEQ_CST);                                                            \
  }                                                                                                          \
  void __tsan_atomic##BITS##_store(volatile std::uint##BITS##_t* at, std::uint##BITS##_t value, int) {       \
    __atomic_store_n(at, value, __ATOMIC_SEQ_CST);                                                           \
  }                                                                                                          \
  std::uint##BITS##_t __tsan_atomic##BITS##_exchange(volatile std::uint##BITS##_t* at, std::uint##BITS##_t value, int) { \
    return __atomic_exchange_n(at, value, __ATOMIC_SEQ_CST);                                                 \
  }                                                                                                          \
  UPDATE(BITS, add) UPDATE(BITS, sub) UPDATE(BITS, and) UPDATE(BITS, or) UPDATE(BITS, xor)                   \
  EXCHANGE(BITS, strong, false) EXCHANGE(BITS, weak, true)

extern "C" {
ATOMICS(8) ATOMICS(16) ATOMICS(32) ATOMICS(64)
void __tsan_atomic_thread_fence(int) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
}
