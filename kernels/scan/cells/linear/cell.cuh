// Linear recurrence: h' = a h + b, both read from memory.
#pragma once

namespace kerneltune {

struct LinearCell {
  static constexpr int inputs = 2;           // a, b
  static constexpr int gradient_inputs = 1;  // a: gradients do not depend on b
  static constexpr bool computes = false;    // a and b cost nothing to have again

  template <class Math>
  static __device__ __forceinline__ void coefficients(const float (&input)[inputs], float& a, float& b) {
    a = input[0];
    b = input[1];
  }

  // From the gradient by h' and the h before.
  template <class Math>
  static __device__ __forceinline__ void gradients(const float (&)[inputs], float before, float gradient,
                                                   float (&by_input)[inputs]) {
    by_input[0] = gradient * before;
    by_input[1] = gradient;
  }
};

}  // namespace kerneltune
