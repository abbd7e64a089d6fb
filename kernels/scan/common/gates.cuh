// What the minimal cells compute of their inputs. Their b is (1 - a) g with the a that is used, so that where nothing changes h comes to g whatever
// the rounding of an a near 1.
#pragma once
#include "../../common/numeric/activations.cuh"

namespace kerneltune {

// sigmoid(-x), to the accuracy of a coefficient: 1 / (1 + exp(x)); of infinities too.
template <class Math>
__device__ __forceinline__ float remaining(float x) {
  return __fdividef(1.0f, 1.0f + at_most(Math::exp(x < -100.0f ? -100.0f : x), 1.0e37f));
}

// g(x) = x + 1/2 from 0 on, sigmoid(x) below: the positive candidate of minGRU and minLSTM ("Were RNNs all we needed?", appendix B).
struct PositiveCandidate {
  float value;
  float slope;

  template <class Math>
  static __device__ __forceinline__ PositiveCandidate of(float x) {
    const float sigmoid = Math::sigmoid(x);
    return x >= 0.0f ? PositiveCandidate{x + 0.5f, 1.0f} : PositiveCandidate{sigmoid, sigmoid_slope(sigmoid)};
  }
};

// Within what arithmetic bears: infinities become very large numbers, a NaN stays one.
__device__ __forceinline__ float finite(float x) {
#if __CUDA_ARCH__ >= 800
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(x) : "f"(x), "f"(-1.0e30f));
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(x) : "f"(x), "f"(1.0e30f));
  return x;
#else
  return bounded(x, 1.0e30f);
#endif
}

// sigmoid(log sigmoid(k) - log sigmoid(j)). With everything multiplied by exp(m), m the least of k, j and 0, no exponential overflows and one
// term of what is divided by is 1.
template <class Math>
__device__ __forceinline__ float normalised_forget(float k, float j) {
  k = finite(k);
  j = finite(j);
  const float m = fminf(fminf(k, j), 0.0f);
  const float one = Math::exp(m), upper = one + Math::exp(m - j);
  return __fdividef(upper, upper + (one + Math::exp(m - k)));
}

}  // namespace kerneltune
