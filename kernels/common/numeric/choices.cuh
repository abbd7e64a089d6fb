// Functions of cells' equations that choose between values. All keep a NaN.
#pragma once

namespace kerneltune {

__device__ __forceinline__ float relu_of(float x) { return x < 0.0f ? 0.0f : x; }
__device__ __forceinline__ float larger_of(float a, float b) { return a >= b || a != a ? a : b; }
__device__ __forceinline__ float smaller_of(float a, float b) { return a <= b || a != a ? a : b; }
__device__ __forceinline__ float sign_of(float x) { return x > 0.0f ? 1.0f : x < 0.0f ? -1.0f : x; }

}  // namespace kerneltune
