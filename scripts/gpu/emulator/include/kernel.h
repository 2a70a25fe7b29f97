// Kernels as the emulator queues them.
#pragma once

#include <cstddef>
#include <memory>
#include <tuple>

#include "cuda_runtime.h"

namespace emulator {

struct Configuration {
  dim3 grid, block;
  std::size_t shared = 0;
  cudaStream_t stream = nullptr;
  bool is_cooperative = false;
};

// One thread of a kernel, run as often as there are threads.
struct Kernel {
  explicit Kernel(std::size_t bytes) : bytes(bytes) {}
  virtual ~Kernel() = default;
  virtual void run_thread() const = 0;
  const std::size_t bytes;
};

template <class Call, class... Arguments>
struct KernelCall final : Kernel {
  KernelCall(Call call, const Arguments&... arguments) : Kernel(sizeof(KernelCall)), call(call), arguments(arguments...) {}
  void run_thread() const override { std::apply(call, arguments); }
  Call call;
  std::tuple<Arguments...> arguments;
};

void launch_kernel(const char* name, const Configuration& configuration, std::shared_ptr<Kernel> kernel);

// Arguments are copied at the launch, as they are on a GPU.
template <class Call, class... Arguments>
void launch(const char* name, const Configuration& configuration, Call call, Arguments... arguments) {
  launch_kernel(name, configuration, std::make_shared<KernelCall<Call, Arguments...>>(call, arguments...));
}

// Blocks of a cooperative kernel run side by side, and may wait for each other.
template <class... Parameters, std::size_t... I>
cudaError_t launch_cooperative(const char* name, void (*kernel)(Parameters...), Configuration configuration, void** arguments, std::index_sequence<I...>) {
  configuration.is_cooperative = true;
  launch(name, configuration, kernel, *static_cast<Parameters*>(arguments[I])...);
  return cudaPeekAtLastError();
}
template <class... Parameters>
cudaError_t launch_cooperative(const char* name, void (*kernel)(Parameters...), dim3 grid, dim3 block, void** arguments, std::size_t shared = 0,
                               cudaStream_t stream = nullptr) {
  return launch_cooperative(name, kernel, {grid, block, shared, stream}, arguments, std::index_sequence_for<Parameters...>());
}

}  // namespace emulator

#define cudaLaunchCooperativeKernel(kernel, ...) ::emulator::launch_cooperative(#kernel, kernel, __VA_ARGS__)
