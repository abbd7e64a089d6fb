// sigmoid(u h + x) where everything waits for h: what does not depend on h is out of its way.
#pragma once
#include "../../common/numeric/activations.cuh"

namespace kerneltune {

template <class Math>
struct Gate;

template <>
struct Gate<Math<false>> {
  static __device__ __forceinline__ float of(float u, float h, float x) {
    return fmaf(tanh_fast(fmaf(0.5f * u, h, 0.5f * x)), 0.5f, 0.5f);
  }
  // factor times the gate, plus addend: one operation behind the special function.
  static __device__ __forceinline__ float times(float u, float h, float x, float factor, float addend) {
    return fmaf(tanh_fast(fmaf(0.5f * u, h, 0.5f * x)), 0.5f * factor, fmaf(0.5f, factor, addend));
  }
};

template <>
struct Gate<Math<true>> {
  static __device__ __forceinline__ float of(float u, float h, float x) {
    return Math<true>::sigmoid(fmaf(u, h, x));
  }
  static __device__ __forceinline__ float times(float u, float h, float x, float factor, float addend) {
    return fmaf(factor, of(u, h, x), addend);
  }
};

}  // namespace kerneltune
