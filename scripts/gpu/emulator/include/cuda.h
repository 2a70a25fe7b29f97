// Takes the place of CUDA's header of this name. It leaves CUDA_VERSION to device_code.h.
#pragma once
#include <cstdint>
using cuuint64_t = std::uint64_t;
