// The accesses of kernels: with -fsanitize=thread, g++ makes each a call of a function of the
// library that this file replaces.

#include <link.h>

#include "emulator.h"

namespace emulator {
namespace {

std::vector<std::pair<const char*, const char*>> modules;

bool is_of_module(const char* address) {
  for (auto& range : modules)
    if (address >= range.first && address < range.second) {
      // the next access is likely to be of the same one
      std::swap(range, modules.front());
      return true;
    }
  return false;
}

int add_module(dl_phdr_info* info, std::size_t, void*) {
  for (int i = 0; i < info->dlpi_phnum; ++i)
    if (info->dlpi_phdr[i].p_type == PT_LOAD) {
      auto start = reinterpret_cast<const char*>(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
      modules.emplace_back(start, start + info->dlpi_phdr[i].p_memsz);
    }
  return 0;
}

bool is_host_data(const char* address) {
  if (is_of_module(address)) return true;
  // libraries may have been loaded since
  modules.clear();
  dl_iterate_phdr(add_module, nullptr);
  return is_of_module(address);
}

void instrumented(const void* address, std::size_t bytes, bool writes, const void* place) {
  if (in_arena(address)) {
    // protected pages catch the host's own accesses
    if (now.in_kernel) touch(address, bytes, writes, false, place);
  } else if (now.in_kernel && !is_thread_memory(address) && !is_host_data(static_cast<const char*>(address))) {
    wrong("host pointer", cudaErrorIllegalAddress, "a kernel touches memory of the host", place);
  }
}

}  // namespace

void announce_atomic(const void* memory, std::size_t bytes) { touch(memory, bytes, true, true, __builtin_return_address(0)); }

}  // namespace emulator

using emulator::instrumented;

#define ACCESS(NAME, BYTES, WRITES) \
  void __tsan_##NAME##BYTES(const void* address) { instrumented(address, BYTES, WRITES, __builtin_return_address(0)); }
#define ACCESSES(KIND, BYTES) ACCESS(KIND##read, BYTES, false) ACCESS(KIND##write, BYTES, true)
extern "C" {
ACCESSES(, 1) ACCESSES(, 2) ACCESSES(, 4) ACCESSES(, 8) ACCESSES(, 16)
ACCESSES(unaligned_, 2) ACCESSES(unaligned_, 4) ACCESSES(unaligned_, 8) ACCESSES(unaligned_, 16)
ACCESSES(volatile_, 1) ACCESSES(volatile_, 2) ACCESSES(volatile_, 4) ACCESSES(volatile_, 8) ACCESSES(volatile_, 16)
void __tsan_read_range(const void* address, std::size_t bytes) {
  if (bytes) instrumented(address, bytes, false, __builtin_return_address(0));
}
void __tsan_write_range(const void* address, std::size_t bytes) {
  if (bytes) instrumented(address, bytes, true, __builtin_return_address(0));
}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}
void __tsan_init() {}
void __tsan_func_entry(const void*) {}
void __tsan_func_exit() {}
}
