// Takes the place of cuRAND's header of this name: numbers of the Philox generator.
#pragma once
#include "cuda_runtime.h"

enum curandStatus_t { CURAND_STATUS_SUCCESS = 0, CURAND_STATUS_ALLOCATION_FAILED = 102, CURAND_STATUS_TYPE_ERROR = 103, CURAND_STATUS_LENGTH_NOT_MULTIPLE = 105, CURAND_STATUS_LAUNCH_FAILURE = 201 };
enum curandRngType_t { CURAND_RNG_PSEUDO_PHILOX4_32_10 = 161 };
using curandGenerator_t = struct curandGenerator_st*;

extern "C" {
curandStatus_t curandCreateGenerator(curandGenerator_t* generator, curandRngType_t type);
curandStatus_t curandDestroyGenerator(curandGenerator_t generator);
curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator, unsigned long long seed);
curandStatus_t curandSetGeneratorOffset(curandGenerator_t generator, unsigned long long offset);
curandStatus_t curandGenerateUniform(curandGenerator_t generator, float* numbers, std::size_t count);
curandStatus_t curandGenerateNormal(curandGenerator_t generator, float* numbers, std::size_t count, float mean, float deviation);
}
