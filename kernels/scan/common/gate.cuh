// sigmoid(u h + x) where everything waits for h: what does not depend on h is out of its way.
#pragma once
#include "../../common/numeric/activations.cuh"

namespace kerneltune {

template <class Math>
struct Gate;

template <>
struct Gate<Math<false>> {
  static __device__ __forceinline__ float of(float u, float h, float x) { return fmaf(tanh_fast(fmaf(0.5f * u, h, 0.5f * x)), 0.5f, 0.5f); }
};

template <>
struct Gate<Math<true>> {
  static __device__ __forceinline__ float of(float u, float h, float x) { return Math<true>::sigmoid(fmaf(u, h, x)); }
};

}  // namespace kerneltune
