// What minLSTM computes of its inputs. Its b is (1 - a) g with the a that is used, so that where nothing changes
// h comes to g whatever the rounding of an a near 1.
#pragma once
#include "../../common/numeric/activations.cuh"

namespace kerneltune {

// g(x) = x + 1/2 from 0 on, sigmoid(x) below: the positive candidate ("Were RNNs all we needed?",
// appendix B).
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

// exp(-k) and exp(-j) of the gates of a minLSTM. Where one exceeds exp(25), both are divided by what makes it
// exp(25): then 1 beside them is
// nothing to the larger one, and the coefficient that follows differs from the exact one by less than 1e-10.
struct GatePowers {
  float of_forget;
  float of_input;

  template <class Math>
  static __device__ __forceinline__ GatePowers of(float k, float j) {
    k = finite(k);
    j = finite(j);
    const float larger = fmaxf(-k, -j);
    return {Math::exp(fminf(-k, (-k - larger) + 25.0f)), Math::exp(fminf(-j, (-j - larger) + 25.0f))};
  }

  // sigmoid(log sigmoid(k) - log sigmoid(j)) = (1 + exp(-j)) / (1 + exp(-j) + 1 + exp(-k))
  __device__ __forceinline__ float forget() const {
    return __fdividef(1.0f + of_input, (1.0f + of_input) + (1.0f + of_forget));
  }
};

}  // namespace kerneltune
