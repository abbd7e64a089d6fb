// minLSTM with normalised gates: f' = f / (f + i) = sigmoid(log f - log i) for f = sigmoid(k), i = sigmoid(j), i' = 1 - f',
// h' = f' h + i' g(n).
#pragma once
#include "../../common/gates.cuh"

namespace kerneltune {

struct MinLstmCell {
  static constexpr int inputs = 3;  // k, j, n: before their activations
  static constexpr int gradient_inputs = 3;
  static constexpr bool computes = true;

  template <class Math>
  static __device__ __forceinline__ void coefficients(const float (&input)[inputs], float& a, float& b) {
    a = normalised_forget<Math>(input[0], input[1]);
    b = (1.0f - a) * PositiveCandidate::of<Math>(input[2]).value;
  }

  template <class Math>
  static __device__ __forceinline__ void gradients(const float (&input)[inputs], float before, float gradient, float (&by_input)[inputs]) {
    const float a = normalised_forget<Math>(input[0], input[1]);
    const PositiveCandidate candidate = PositiveCandidate::of<Math>(input[2]);
    const float by_candidate = gradient * (1.0f - a);
    const float by_difference = by_candidate * (before - candidate.value) * a;
    by_input[0] = by_difference * remaining<Math>(input[0]);
    by_input[1] = -by_difference * remaining<Math>(input[1]);
    by_input[2] = by_candidate * candidate.slope;
  }
};

}  // namespace kerneltune
