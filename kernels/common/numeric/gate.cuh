// sigmoid(u h + x) where everything waits for h, or sigmoid(x + early) where it waits for x: what does not depend
// on that is out of its way.
#pragma once
#include "activations.cuh"

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
  static __device__ __forceinline__ float of_sum(float x, float early) {
    return fmaf(tanh_fast(fmaf(0.5f, x, 0.5f * early)), 0.5f, 0.5f);
  }
  static __device__ __forceinline__ float sum_times(float x, float early, float factor, float addend) {
    return fmaf(tanh_fast(fmaf(0.5f, x, 0.5f * early)), 0.5f * factor, fmaf(0.5f, factor, addend));
  }
  // factor times the gate, of which the value is known, too, but later.
  static __device__ __forceinline__ float scaled(float, float u, float h, float x, float factor) {
    return fmaf(tanh_fast(fmaf(0.5f * u, h, 0.5f * x)), 0.5f * factor, 0.5f * factor);
  }
  static __device__ __forceinline__ float sum_scaled(float, float x, float early, float factor) {
    return fmaf(tanh_fast(fmaf(0.5f, x, 0.5f * early)), 0.5f * factor, 0.5f * factor);
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
  static __device__ __forceinline__ float of_sum(float x, float early) {
    return Math<true>::sigmoid(x + early);
  }
  static __device__ __forceinline__ float sum_times(float x, float early, float factor, float addend) {
    return fmaf(factor, of_sum(x, early), addend);
  }
  static __device__ __forceinline__ float scaled(float gate, float, float, float, float factor) {
    return gate * factor;
  }
  static __device__ __forceinline__ float sum_scaled(float gate, float, float, float factor) {
    return gate * factor;
  }
};

}  // namespace kerneltune
