// Pointwise functions through the special-function unit.
#pragma once

namespace kerneltune {

// One instruction, relative error about 2^-11 (PTX ISA, tanh.approx.f32): below the rounding of 16-bit storage.
__device__ __forceinline__ float tanh_fast(float x) {
  float y;
  asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// sigmoid(x) = (1 + tanh(x / 2)) / 2
__device__ __forceinline__ float sigmoid_fast(float x) { return fmaf(tanh_fast(0.5f * x), 0.5f, 0.5f); }

// Slopes of both, from the value.
__device__ __forceinline__ float tanh_slope(float value) { return fmaf(-value, value, 1.0f); }
__device__ __forceinline__ float sigmoid_slope(float value) { return fmaf(-value, value, value); }

__device__ __forceinline__ float exp_fast(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x * 1.4426950408889634f));
  return y;
}

// log(sigmoid(x)) = min(x, 0) - log(1 + exp(-|x|)), whose exponential cannot overflow.
__device__ __forceinline__ float log_sigmoid_fast(float x) {
  float logarithm;
  asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(logarithm) : "f"(1.0f + exp_fast(-fabsf(x))));
  return fminf(x, 0.0f) - 0.6931471805599453f * logarithm;
}

}  // namespace kerneltune
