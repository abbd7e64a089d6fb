// minLSTM with normalised gates: f' = f / (f + i) = sigmoid(log f - log i) for f = sigmoid(k), i =
// sigmoid(j), i' = 1 - f',
// h' = f' h + i' g(n).
// work: fast 55 76, exact 91 109
#pragma once
#include "scan/common/gates.cuh"

namespace kerneltune {

struct MinLstmCell {
  static constexpr int inputs = 3;  // k, j, n: before their activations
  static constexpr int gradient_inputs = 3;
  static constexpr bool computes = true;

  template <class Math>
  static __device__ __forceinline__ void coefficients(const float (&input)[inputs], float& a, float& b) {
    a = GatePowers::of<Math>(input[0], input[1]).forget();
    b = (1.0f - a) * PositiveCandidate::of<Math>(input[2]).value;
  }

  template <class Math>
  static __device__ __forceinline__ void gradients(const float (&input)[inputs], float before, float gradient,
                                                   float (&by_input)[inputs]) {
    const GatePowers power = GatePowers::of<Math>(input[0], input[1]);
    const PositiveCandidate candidate = PositiveCandidate::of<Math>(input[2]);
    // One reciprocal of three sums, none of them beyond 2 exp(25) + 2.
    const float of_forget = 1.0f + power.of_forget, of_input = 1.0f + power.of_input,
                of_both = of_input + of_forget;
    const float product = of_forget * of_input, reciprocal = __fdividef(1.0f, product * of_both);
    const float a = of_input * (product * reciprocal);
    const float by_candidate = gradient * (1.0f - a);
    const float by_difference = by_candidate * (before - candidate.value) * a;
    by_input[0] = by_difference * power.of_forget *
                  (of_input * of_both * reciprocal);  // sigmoid(-k), where a (1 - a) is not nothing
    by_input[1] = -by_difference * power.of_input * (of_forget * of_both * reciprocal);
    by_input[2] = by_candidate * candidate.slope;
  }
};

}  // namespace kerneltune
