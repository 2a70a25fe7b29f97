// Errors, findings, the trace, and the properties of the emulated GPU.

#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>

#include "emulator.h"

namespace emulator {

Now now;

namespace {

struct State {
  std::mutex gate;
  cudaError_t last = cudaSuccess, sticking = cudaSuccess;
  std::string last_from;
  std::uint64_t last_launch = 0, launches = 0;
  int device = 0;
  pid_t process = getpid();
  FILE* trace = nullptr;
  std::set<std::string> said;
  State() {
    if (const char* path = std::getenv("CUDA_EMULATOR_TRACE")) trace = std::fopen(path, "a");
  }
  ~State() {
    if (last != cudaSuccess && process == getpid())
      std::fprintf(stderr, "cuda emulator: unread error: nobody asked for error %d of %s\n", last, last_from.c_str());
    if (trace) std::fclose(trace);
  }
};
State& state() {
  static State it;
  return it;
}

// The source line of an instruction, if binutils are installed.
std::string source_of(const void* place) {
  Dl_info info;
  if (!place || !dladdr(place, &info) || !info.dli_fname) return "";
  char command[4096], line[4096], answer[8192] = "";
  const auto offset = static_cast<const char*>(place) - static_cast<const char*>(info.dli_fbase) - 1;
  std::snprintf(command, sizeof command, "addr2line -Ce '%s' 0x%tx 2>/dev/null", info.dli_fname, offset);
  if (FILE* asked = popen(command, "r")) {
    if (std::fgets(line, sizeof line, asked) && line[0] != '?') std::snprintf(answer, sizeof answer, " at %s", std::strtok(line, "\n"));
    pclose(asked);
  }
  return answer[0] ? answer : std::string(" in ") + info.dli_fname;
}

int visible_devices() {
  const int devices = int(setting("CUDA_EMULATOR_DEVICES", 1));
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  if (!visible) return devices;
  int count = 0;
  // the list ends at the first number without a GPU
  for (char* next; *visible; visible = *next ? next + 1 : next, ++count) {
    const long number = std::strtol(visible, &next, 10);
    if (next == visible || number < 0 || number >= devices) break;
  }
  return count;
}

}  // namespace

long setting(const char* name, long otherwise) {
  const char* value = std::getenv(name);
  return value && *value ? std::atol(value) : otherwise;
}

std::mutex& gate() { return state().gate; }
bool has_failed() { return state().sticking != cudaSuccess; }
int device() { return state().device; }
void forget_errors() { state().last = state().sticking = cudaSuccess; }

cudaError_t entered() {
  // CUDA does not work in a process that was forked from one that uses it
  if (getpid() != state().process) return cudaErrorInitializationError;
  return state().sticking;
}

cudaError_t failed(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return error;
  state().last = error;
  state().last_from = what;
  state().last_launch = state().launches;
  return error;
}

void found(const char* kind, cudaError_t error, const std::string& says, const void* place) {
  const std::string where = now.name.empty() ? "" : " (" + now.name + ")";
  const std::string line = std::string(kind) + ": " + says + where + source_of(place);
  if (state().said.insert(line).second) std::fprintf(stderr, "cuda emulator: %s\n", line.c_str());
  if (state().sticking == cudaSuccess) state().sticking = error;
}

void trace(const char* kind, const std::string& name, std::uint64_t bytes) {
  if (std::strcmp(kind, "kernel") == 0 || std::strcmp(kind, "library") == 0) ++state().launches;
  if (!state().trace) return;
  std::fprintf(state().trace, "%s\t%s\t%zu\t%zu\t%zu\t%zu\t%zu\t%zu\t%u\n", kind, name.c_str(), std::size_t(bytes), std::size_t(now.threads),
               std::size_t(now.read), std::size_t(now.written), std::size_t(now.flops), std::size_t(now.accessed), now.grid_barriers);
  std::fflush(state().trace);
}

}  // namespace emulator

using namespace emulator;

extern "C" {

cudaError_t cudaPeekAtLastError() {
  if (cudaError_t error = entered()) return error;
  return state().last;
}

cudaError_t cudaGetLastError() {
  if (cudaError_t error = entered()) return error;
  State& s = state();
  const cudaError_t error = s.last;
  if (error != cudaSuccess && s.launches > s.last_launch)
    std::fprintf(stderr, "cuda emulator: stale error: error %d is of %s, %zu launches ago\n", error, s.last_from.c_str(),
                 std::size_t(s.launches - s.last_launch));
  s.last = cudaSuccess;
  return error;
}

const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
    case cudaSuccess: return "no error";
    case cudaErrorInvalidValue: return "invalid argument";
    case cudaErrorMemoryAllocation: return "out of memory";
    case cudaErrorInitializationError: return "initialization error";
    case cudaErrorInvalidConfiguration: return "invalid configuration argument";
    case cudaErrorNoDevice: return "no CUDA-capable device is detected";
    case cudaErrorInvalidDevice: return "invalid device ordinal";
    case cudaErrorIllegalAddress: return "an illegal memory access was encountered";
    case cudaErrorMisalignedAddress: return "misaligned address";
    case cudaErrorCooperativeLaunchTooLarge: return "too many blocks in cooperative launch";
    case cudaErrorLaunchFailure: return "unspecified launch failure";
    default: return "unknown error";
  }
}
const char* cudaGetErrorName(cudaError_t error) { return cudaGetErrorString(error); }

cudaError_t cudaGetDeviceCount(int* count) {
  *count = visible_devices();
  return *count ? cudaSuccess : failed(cudaErrorNoDevice, "cudaGetDeviceCount");
}
cudaError_t cudaGetDevice(int* chosen) {
  *chosen = device();
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int chosen) {
  if (cudaError_t error = entered()) return error;
  if (chosen < 0 || chosen >= visible_devices()) return failed(cudaErrorInvalidDevice, "cudaSetDevice");
  state().device = chosen;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  // an H100, except for its memory
  *properties = {"emulated NVIDIA H100", 9, 0, 132, 32, 1024, 2048, 5120, 1, total_bytes(), 49152};
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  // few multiprocessors, since blocks of a cooperative kernel run side by side
  *value = attribute == cudaDevAttrMemoryClockRate ? 2619000 : attribute == cudaDevAttrMultiProcessorCount ? int(MULTIPROCESSORS) : 1;
  return cudaSuccess;
}
cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) { return entered(); }
cudaError_t cudaRuntimeGetVersion(int* version) { return *version = 13000, cudaSuccess; }
cudaError_t cudaDriverGetVersion(int* version) { return *version = 13000, cudaSuccess; }

// Functions of the driver, which the project calls through libcuda.so.1.
int cuInit(unsigned) { return visible_devices() ? 0 : cudaErrorNoDevice; }
int cuDeviceGetCount(int* count) { return *count = visible_devices(), 0; }
int cuMemGetInfo_v2(std::size_t* free, std::size_t* total) { return cudaMemGetInfo(free, total); }
}
