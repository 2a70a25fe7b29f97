// The memory of the emulated GPU: an arena that the host may not touch, with a record of every
// access by word.

#include <execinfo.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>

#include "emulator.h"

namespace emulator {
namespace {

// Memory of at most SMALL bytes is not given back to the system, since that takes long; it is
// reused after a LAP.
constexpr std::size_t SMALL = 64 << 10, LAP = 64 << 20;
constexpr std::size_t PAGE = 4096, ARENA = std::size_t(16) << 30, BLOCK_MEMORY = 64 << 10, LARGE = 2 << 20;

struct Access {
  std::uint32_t thread;
  std::uint32_t barrier : 15, is_atomic : 1, warp_barrier : 16;
};
// The last operations and threads that touched a word; operation 0 means that nobody wrote to it.
struct Word {
  std::uint32_t written_in, read_in;
  Access written, read[2];
};
struct Allocation {
  char* end;
  std::size_t bytes;
  int device;
};

// `words` has no entries of a page that is FRESH, and so all zeros, or that an operation has set to
// zero as a whole.
constexpr std::uint32_t FRESH = ~0u;
struct Page {
  Allocation* owner;
  std::uint32_t set_in;  // that operation; 0 if `words` has the entries of the page
};

char* arena = nullptr;
Word* words = nullptr;
Page* pages = nullptr;
std::map<char*, Allocation> allocations;
std::size_t in_use[64];
char* next_free = nullptr;
char* lap = nullptr;  // next_free at the beginning of this lap
char* highest = nullptr;  // the end of all memory used so far
std::size_t block_used = 0;
Allocation block_allocation;

void* reserve(std::size_t bytes, int protection) {
  void* memory = mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    std::perror("cuda emulator: no address space");
    _exit(1);
  }
  return memory;
}

std::string named(const void* address) {
  char text[160];
  if (static_cast<const char*>(address) - arena < std::ptrdiff_t(BLOCK_MEMORY)) return "shared memory of the block";
  auto after = allocations.upper_bound(static_cast<char*>(const_cast<void*>(address)));
  if (after == allocations.begin()) return "an address below all allocations";
  const auto& [start, allocation] = *--after;
  std::snprintf(text, sizeof text, "byte %td of an allocation of %zu bytes", static_cast<const char*>(address) - start, allocation.bytes);
  return text;
}

void on_fault(int number, siginfo_t* info, void*) {
  if (in_arena(info->si_addr)) {
    char text[256];
    const int length = std::snprintf(text, sizeof text, "cuda emulator: host access: the host touches memory of the GPU, %s\n",
                                     named(info->si_addr).c_str());
    (void)!write(2, text, std::size_t(length));
    void* frames[16];
    backtrace_symbols_fd(frames, backtrace(frames, 16), 2);
  }
  signal(number, SIG_DFL);
}

void start() {
  if (arena) return;
  arena = static_cast<char*>(reserve(ARENA + LARGE, PROT_NONE));
  arena += LARGE - std::size_t(arena) % LARGE;
  words = static_cast<Word*>(reserve(ARENA / 4 * sizeof(Word), PROT_READ | PROT_WRITE));
  pages = static_cast<Page*>(reserve(ARENA / PAGE * sizeof(Page), PROT_READ | PROT_WRITE));
  // large pages are soon protected
  madvise(arena, ARENA, MADV_HUGEPAGE);
  madvise(words, ARENA / 4 * sizeof(Word), MADV_HUGEPAGE);
  // the first pages are the shared memory of the block that runs
  block_allocation = {arena, 0, 0};
  std::fill(pages, pages + BLOCK_MEMORY / PAGE, Page{&block_allocation, 0});
  next_free = highest = arena + BLOCK_MEMORY + PAGE;
  struct sigaction action = {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, nullptr);
}

std::size_t page_number(const char* address) { return std::size_t(address - arena) / PAGE; }
std::size_t in_pages(std::size_t bytes) { return (bytes + PAGE - 1) / PAGE * PAGE; }

// Returns room for some bytes, one page after the last room; at the end of the arena, it begins
// again at the start.
char* place_for(std::size_t bytes) {
  for (int round = 0; round < 2; ++round) {
    for (char* start = next_free; start + bytes + PAGE <= arena + ARENA;) {
      auto after = allocations.lower_bound(start);
      if (after == allocations.end() || after->first >= start + bytes + PAGE) return start;
      start = after->first + in_pages(after->second.bytes) + PAGE;
    }
    next_free = arena + BLOCK_MEMORY + PAGE;
  }
  return nullptr;
}

// Whether nothing orders this access and the thread's present one, both in one kernel.
bool is_unordered(const Access& access) {
  if (access.thread == now.thread) return false;
  std::uint32_t one = access.thread, other = now.thread;
  if (now.is_cooperative) {
    if (one / MOST_THREADS != other / MOST_THREADS) return false;
    one %= MOST_THREADS, other %= MOST_THREADS;
  }
  if (one / now.block_threads != other / now.block_threads) return true;
  if (access.barrier != now.barrier) return false;
  return access.thread / 32 != now.thread / 32 || access.warp_barrier == now.warp_barrier;
}

std::string race_with(const Access& access, const char* did) {
  return "thread " + std::to_string(now.thread) + " and thread " + std::to_string(access.thread) + ", which " + did + " the same word";
}

// The kind of fault of an access to a word, null if there is none.
const char* look(Word& word, bool writes, bool is_atomic, std::string& says) {
  if (word.written_in == 0 && (!writes || is_atomic)) return "uninitialised";
  if (word.written_in == now.operation) {
    // atomic operations begin with a read of a word that others change only atomically
    if (!(word.written.is_atomic && (is_atomic || !writes)) && is_unordered(word.written)) return says = race_with(word.written, "writes"), "race";
  } else if (!is_before(word.written_in)) {
    return "race of streams";
  }
  if (writes && !is_atomic) {
    if (word.read_in == now.operation) {
      for (const Access& read : word.read)
        if (read.thread != ~0u && is_unordered(read)) return says = race_with(read, "reads"), "race";
    } else if (!is_before(word.read_in)) {
      return "race of streams";
    }
  }
  return nullptr;
}

void note(Word& word, bool writes, bool is_atomic) {
  const Access access = {now.thread, now.barrier, is_atomic, now.warp_barrier};
  if (writes) {
    if (word.written_in != now.operation) now.written += 4;
    word.written_in = now.operation;
    word.written = access;
    if (!is_atomic) return;
  }
  if (word.read_in != now.operation) {
    if (word.written_in != now.operation || is_atomic) now.read += 4;
    word.read_in = now.operation;
    word.read[0] = word.read[1] = {~0u, 0, 0, 0};
  }
  // an atomic access does not conflict with a later one; `written` finds a plain write after it
  if (is_atomic) return;
  if (word.read[0].thread != now.thread) word.read[1] = word.read[0];
  word.read[0] = access;
}

}  // namespace

bool wrong(const char* kind, cudaError_t error, const std::string& says, const void* place) {
  found(kind, error, says, place);
  if (now.in_kernel) abandon();
  return false;
}

bool in_arena(const void* address) { return std::size_t(static_cast<const char*>(address) - arena) < ARENA && arena; }
std::size_t total_bytes() { return std::size_t(setting("CUDA_EMULATOR_MEMORY", 2048)) << 20; }
std::size_t bytes_in_use() { return in_use[device()]; }

char* allocate(std::size_t bytes) {
  start();
  const std::size_t size = in_pages(std::max<std::size_t>(bytes, 1));
  if (bytes_in_use() + size > total_bytes()) return nullptr;
  char* memory = place_for(size);
  if (!memory) return nullptr;
  allocations[memory] = {memory + bytes, bytes, device()};
  const bool is_small = size <= SMALL;
  std::fill(pages + page_number(memory), pages + page_number(memory + size), Page{&allocations[memory], is_small ? 0 : FRESH});
  Word* first = words + (memory - arena) / 4;
  if (is_small) {
    std::memset(first, 0, size / 4 * sizeof(Word));
  } else {
    madvise(first, size / 4 * sizeof(Word), MADV_DONTNEED);
    madvise(memory, size, MADV_DONTNEED);
  }
  in_use[device()] += size;
  next_free = memory + size + PAGE;
  highest = std::max(highest, next_free);
  if (!lap) lap = memory;
  if (next_free > lap + LAP) {
    next_free = arena + BLOCK_MEMORY + PAGE;
    lap = nullptr;
  }
  return memory;
}

bool release(void* address) {
  auto found_at = allocations.find(static_cast<char*>(address));
  if (found_at == allocations.end()) return false;
  auto [memory, allocation] = *found_at;
  const std::size_t size = in_pages(std::max<std::size_t>(allocation.bytes, 1));
  std::fill(pages + page_number(memory), pages + page_number(memory + size), Page{});
  if (size > SMALL) madvise(memory, size, MADV_DONTNEED);
  in_use[allocation.device] -= size;
  allocations.erase(found_at);
  return true;
}

void release_all() {
  while (!allocations.empty()) release(allocations.begin()->first);
}

// Protects the memory used so far, in large pages.
static void protect(int protection) {
  mprotect(arena, std::min(ARENA, (std::size_t(highest - arena) + LARGE - 1) / LARGE * LARGE), protection);
}

void unlock() {
  start();
  protect(PROT_READ | PROT_WRITE);
}
void lock() { protect(PROT_NONE); }

static void begin_words(std::size_t page) {
  if (pages[page].set_in != FRESH) std::fill_n(words + page * (PAGE / 4), PAGE / 4, Word{pages[page].set_in, 0, {}, {}});
  pages[page].set_in = 0;
}

// DyNet sets all of its pools to zero, of which a test uses little. Only pages used afterwards take
// memory.
bool fill(void* memory, int value, std::size_t bytes) {
  char *at = static_cast<char*>(memory), *const end = at + bytes;
  for (char* next; at < end; at = next) {
    const std::size_t number = page_number(at);
    Page& page = pages[number];
    next = std::min(end, arena + (number + 1) * PAGE);
    if (value == 0 && page.set_in == FRESH && next - at == PAGE && next <= page.owner->end) {
      page.set_in = now.operation;
      now.written += PAGE;
      now.accessed += PAGE;
    } else {
      if (!touch(at, std::size_t(next - at), true)) return false;
      std::memset(at, value, std::size_t(next - at));
    }
  }
  return true;
}

bool touch(const void* address, std::size_t bytes, bool writes, bool is_atomic, const void* place) {
  const char* start = static_cast<const char*>(address);
  const Allocation* owner = in_arena(address) ? pages[page_number(start)].owner : nullptr;
  if (!owner || start + bytes > owner->end)
    return wrong(owner ? "out of bounds" : "not allocated", cudaErrorIllegalAddress, (writes ? "writes " : "reads ") + named(address), place);
  if (bytes <= 16 && (bytes & (bytes - 1)) == 0 && reinterpret_cast<std::uintptr_t>(address) % bytes)
    return wrong("misaligned", cudaErrorMisalignedAddress, named(address), place);
  if (owner != &block_allocation) now.accessed += bytes;
  for (std::size_t page = page_number(start); page <= page_number(start + bytes - 1); ++page)
    if (pages[page].set_in) begin_words(page);
  std::string says;
  const std::size_t first = std::size_t(start - arena) / 4, last = std::size_t(start + bytes + 3 - arena) / 4;
  for (std::size_t i = first; i < last; ++i) {
    // bytes of one word are not distinguished
    const char* kind = bytes < 4 ? nullptr : look(words[i], writes, is_atomic, says);
    if (kind) return wrong(kind, cudaErrorLaunchFailure, named(arena + 4 * i) + (says.empty() ? "" : ": " + says), place);
    note(words[i], writes, is_atomic);
  }
  return true;
}

char* block_memory(std::size_t bytes) {
  // zero bytes begin a new block
  if (bytes == 0) {
    std::memset(words, 0, block_used / 4 * sizeof(Word));
    block_used = 0;
  }
  char* memory = arena + block_used;
  block_used += (bytes + 15) / 16 * 16;
  block_allocation = {arena + block_used, block_used, 0};
  return block_used > 49152 ? nullptr : memory;
}

// Reports allocations that nobody freed.
struct Leaks {
  ~Leaks() {
    if (!setting("CUDA_EMULATOR_LEAKS", 0)) return;
    for (const auto& entry : allocations) std::fprintf(stderr, "cuda emulator: leak: %zu bytes were not freed\n", entry.second.bytes);
  }
} leaks;

}  // namespace emulator
