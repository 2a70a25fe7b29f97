#ifndef DYNET_GPU_PARAMETERS_H_
#define DYNET_GPU_PARAMETERS_H_

// The norm of all gradients in one kernel, for DyNet's model.cc; gpu-parameters.cc says why.

#include "dynet/model.h"

namespace dynet {
namespace gpu {

// Whether the default device is a GPU and has all parameters.
bool has_all(const ParameterCollectionStorage& parameters);
// The norm of the gradients of such parameters.
float gradient_norm(const ParameterCollectionStorage& parameters);

}  // namespace gpu
}  // namespace dynet

#endif
