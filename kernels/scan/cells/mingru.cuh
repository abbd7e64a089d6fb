// minGRU: z = sigmoid(k), h' = (1 - z) h + z g(n).
#pragma once
#include "scan/common/gates.cuh"

namespace kerneltune {

struct MinGruCell {
  static constexpr int inputs = 2;  // k, n: before their activations
  static constexpr int gradient_inputs = 2;
  static constexpr bool computes = true;

  template <class Math>
  static __device__ __forceinline__ void coefficients(const float (&input)[inputs], float& a, float& b) {
    a = remaining<Math>(input[0]);
    b = (1.0f - a) * PositiveCandidate::of<Math>(input[1]).value;
  }

  template <class Math>
  static __device__ __forceinline__ void gradients(const float (&input)[inputs], float before, float gradient,
                                                   float (&by_input)[inputs]) {
    const float a = remaining<Math>(input[0]);
    const PositiveCandidate candidate = PositiveCandidate::of<Math>(input[1]);
    const float by_candidate = gradient * (1.0f - a);
    by_input[0] = by_candidate * (candidate.value - before) * a;
    by_input[1] = by_candidate * candidate.slope;
  }
};

}  // namespace kerneltune
