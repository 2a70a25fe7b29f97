// Streams: operations wait in queues until the host asks for their results. Queues advance in a
// shuffled order.

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>

#include "emulator.h"

struct CUstream_st {
  std::size_t number;
  bool waits_for_default;
};
struct CUevent_st {
  emulator::Clock clock;
};

namespace emulator {
namespace {

struct Operation {
  std::uint32_t number;
  Clock before;
  std::string name;
  std::function<void()> run;
};
struct Queue {
  std::deque<Operation> waiting;
  Clock clock;  // the last operation and all before it
  bool waits_for_default = true;
};
std::vector<Queue> queues(1);
std::vector<std::uint8_t> stream_of(1);
Clock host;  // the operations that the host has waited for
std::map<const char*, std::size_t> pinned;

std::size_t number_of(cudaStream_t stream) { return stream ? stream->number : 0; }
std::uint32_t& at(Clock& clock, std::size_t i) {
  if (clock.size() <= i) clock.resize(i + 1);
  return clock[i];
}

bool is_ready(const Queue& queue) {
  if (queue.waiting.empty()) return false;
  const Clock& before = queue.waiting.front().before;
  for (std::size_t s = 0; s < before.size(); ++s)
    if (&queues[s] != &queue && !queues[s].waiting.empty() && queues[s].waiting.front().number <= before[s]) return false;
  return true;
}

void run_one() {
  std::vector<std::size_t> ready;
  for (std::size_t s = 0; s < queues.size(); ++s)
    if (is_ready(queues[s])) ready.push_back(s);
  Queue& queue = queues[ready[random_number() % ready.size()]];
  Operation operation = std::move(queue.waiting.front());
  queue.waiting.pop_front();
  // a GPU that has failed does nothing more
  if (has_failed()) return;
  now = Now();
  now.operation = operation.number;
  now.before = &operation.before;
  now.name = operation.name;
  operation.run();
  now = Now();
}

template <class F>
void run_until(F is_done) {
  if (is_done()) return;
  unlock();
  while (!is_done()) run_one();
  lock();
}

bool is_pinned(const void* address, std::size_t bytes) {
  auto after = pinned.upper_bound(static_cast<const char*>(address));
  return after != pinned.begin() && static_cast<const char*>(address) + bytes <= std::prev(after)->first + std::prev(after)->second;
}

cudaError_t copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream, bool waits) {
  if (bytes == 0) return cudaSuccess;
  const bool to_gpu = in_arena(to), from_gpu = in_arena(from);
  const bool fits = kind == cudaMemcpyDefault || (to_gpu == (kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice) &&
                                                  from_gpu == (kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice));
  if (!fits || !(to_gpu || from_gpu)) return failed(cudaErrorInvalidValue, "cudaMemcpy");
  std::shared_ptr<char[]> taken;
  // memory that is not pinned is read before the call returns
  if (!from_gpu && !is_pinned(from, bytes)) {
    taken.reset(new char[bytes]);
    std::memcpy(taken.get(), from, bytes);
  }
  enqueue(stream, to_gpu ? (from_gpu ? "copy on the GPU" : "copy to the GPU") : "copy to the host", [=] {
    const char *target = static_cast<char*>(to), *source = taken ? taken.get() : static_cast<const char*>(from);
    if (to_gpu && from_gpu && target < source + bytes && source < target + bytes)
      return found("overlap", cudaErrorInvalidValue, "the source and the target of a copy overlap");
    if ((from_gpu && !touch(from, bytes, false)) || (to_gpu && !touch(to, bytes, true))) return;
    std::memmove(to, source, bytes);
    trace("copy", now.name, bytes);
  });
  if ((waits && !(to_gpu && from_gpu)) || (!to_gpu && !is_pinned(to, bytes))) synchronize(stream);
  return entered();
}

cudaError_t set(void* memory, int value, std::size_t bytes, cudaStream_t stream) {
  if (bytes == 0) return cudaSuccess;
  if (!in_arena(memory)) return failed(cudaErrorInvalidValue, "cudaMemset");
  enqueue(stream, "memset", [=] {
    if (!fill(memory, value, bytes)) return;
    trace("memset", now.name, bytes);
  });
  return cudaSuccess;
}

cudaError_t take(void** memory, std::size_t bytes) {
  if (bytes == 0) return *memory = nullptr, cudaSuccess;
  *memory = allocate(bytes);
  if (!*memory) {
    // memory that waits to be freed may make room
    synchronize_all();
    *memory = allocate(bytes);
  }
  return *memory ? cudaSuccess : failed(cudaErrorMemoryAllocation, "cudaMalloc");
}

}  // namespace

void join(Clock& clock, const Clock& other) {
  for (std::size_t s = 0; s < other.size(); ++s) at(clock, s) = std::max(at(clock, s), other[s]);
}

std::uint32_t random_number() {
  static std::uint64_t state = std::uint64_t(setting("CUDA_EMULATOR_SEED", 1)) * 0x9e3779b97f4a7c15u + 1;
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return std::uint32_t(state >> 32);
}

bool is_before(std::uint32_t operation) {
  const std::size_t stream = stream_of[operation];
  return operation == 0 || (stream < now.before->size() && (*now.before)[stream] >= operation);
}

void enqueue(cudaStream_t stream, const std::string& name, std::function<void()> run) {
  const std::size_t number = number_of(stream);
  Queue& queue = queues[number];
  join(queue.clock, host);
  // the default stream waits for the others, and the others wait for it
  for (std::size_t s = 0; s < queues.size(); ++s)
    if (s != number && (number == 0 ? queues[s].waits_for_default : s == 0 && queue.waits_for_default)) join(queue.clock, queues[s].clock);
  const std::uint32_t operation = std::uint32_t(stream_of.size());
  stream_of.push_back(std::uint8_t(number));
  queue.waiting.push_back({operation, queue.clock, name, std::move(run)});
  at(queue.clock, number) = operation;
}

void synchronize(cudaStream_t stream) {
  Queue& queue = queues[number_of(stream)];
  run_until([&] { return queue.waiting.empty(); });
  join(host, queue.clock);
  trace("wait", "stream");
}

void synchronize_all() {
  run_until([] { return std::all_of(queues.begin(), queues.end(), [](const Queue& q) { return q.waiting.empty(); }); });
  for (const Queue& queue : queues) join(host, queue.clock);
  trace("wait", "device");
}

}  // namespace emulator

using namespace emulator;

#define ENTER                                  \
  std::lock_guard<std::mutex> alone(gate());   \
  if (cudaError_t error = entered()) return error

cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
  ENTER;
  return take(memory, bytes);
}
cudaError_t cudaMallocAsync(void** memory, std::size_t bytes, cudaStream_t) { return cudaMalloc(memory, bytes); }
cudaError_t cudaFreeAsync(void* memory, cudaStream_t stream) {
  ENTER;
  enqueue(stream, "free", [=] {
    if (!release(memory)) found("double free", cudaErrorInvalidValue, "memory is freed that is not allocated");
  });
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  ENTER;
  return copy(to, from, bytes, kind, stream, false);
}
cudaError_t cudaMemcpyPeerAsync(void* to, int, const void* from, int, std::size_t bytes, cudaStream_t stream) {
  return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream);
}
cudaError_t cudaMemsetAsync(void* memory, int value, std::size_t bytes, cudaStream_t stream) {
  ENTER;
  return set(memory, value, bytes, stream);
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  ENTER;
  event->clock = queues[number_of(stream)].clock;
  return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  ENTER;
  join(queues[number_of(stream)].clock, event->clock);
  return cudaSuccess;
}

extern "C" {
cudaError_t cudaFree(void* memory) {
  ENTER;
  synchronize_all();
  if (cudaError_t error = entered()) return error;
  return !memory || release(memory) ? cudaSuccess : failed(cudaErrorInvalidValue, "cudaFree");
}
cudaError_t cudaMallocHost(void** memory, std::size_t bytes) {
  ENTER;
  *memory = std::malloc(bytes);
  pinned[static_cast<char*>(*memory)] = bytes;
  return cudaSuccess;
}
cudaError_t cudaFreeHost(void* memory) {
  ENTER;
  synchronize_all();
  pinned.erase(static_cast<char*>(memory));
  std::free(memory);
  return entered();
}
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  ENTER;
  return copy(to, from, bytes, kind, nullptr, true);
}
cudaError_t cudaMemset(void* memory, int value, std::size_t bytes) {
  ENTER;
  return set(memory, value, bytes, nullptr);
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  ENTER;
  if (queues.size() == 256) return failed(cudaErrorInvalidValue, "more than 255 streams");
  *stream = new CUstream_st{queues.size(), flags != cudaStreamNonBlocking};
  queues.emplace_back();
  queues.back().waits_for_default = (*stream)->waits_for_default;
  return cudaSuccess;
}
cudaError_t cudaStreamCreate(cudaStream_t* stream) { return cudaStreamCreateWithFlags(stream, 0); }
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  ENTER;
  synchronize(stream);
  delete stream;
  return entered();
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  ENTER;
  synchronize(stream);
  return entered();
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  ENTER;
  return queues[number_of(stream)].waiting.empty() ? cudaSuccess : cudaErrorNotReady;
}
cudaError_t cudaDeviceSynchronize() {
  ENTER;
  synchronize_all();
  return entered();
}
cudaError_t cudaDeviceReset() {
  std::lock_guard<std::mutex> alone(gate());
  synchronize_all();
  release_all();
  forget_errors();
  return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t* event) { return *event = new CUevent_st, cudaSuccess; }
cudaError_t cudaEventDestroy(cudaEvent_t event) { return delete event, cudaSuccess; }
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  ENTER;
  run_until([&] {
    for (std::size_t s = 0; s < event->clock.size(); ++s)
      if (!queues[s].waiting.empty() && queues[s].waiting.front().number <= event->clock[s]) return false;
    return true;
  });
  join(host, event->clock);
  return entered();
}
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  ENTER;
  synchronize_all();
  *total = total_bytes();
  *free = *total - bytes_in_use();
  return entered();
}
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int) { return *pool = nullptr, cudaSuccess; }
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void*) { return entered(); }
}
