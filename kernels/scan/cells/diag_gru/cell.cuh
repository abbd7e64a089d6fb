// Diagonal GRU: z = sigmoid(x_z + u_z h), r = sigmoid(x_r + u_r h), n = tanh(x_n + u_n r h), h' = (1 - z) h +
// z n.
#pragma once
#include "../../common/gate.cuh"

namespace kerneltune {

struct DiagonalGruCell {
  static constexpr int inputs = 3;   // x_z, x_r, x_n
  static constexpr int weights = 3;  // u_z, u_r, u_n
  static constexpr int states = 1;   // h
  static constexpr bool computes = true;

  template <class Math>
  static __device__ __forceinline__ void step(const float (&x)[inputs], const float (&u)[weights],
                                              float (&state)[states]) {
    const float h = state[0];
    const float z = Gate<Math>::of(u[0], h, x[0]);
    const float n = Math::tanh(Gate<Math>::times(u[1], h, x[1], u[2] * h, x[2]));
    state[0] = fmaf(z, n, (1.0f - z) * h);
  }

  template <class Math>
  static __device__ __forceinline__ void backward(const float (&x)[inputs], const float (&u)[weights],
                                                  const float (&before)[states], float (&gradient)[states],
                                                  float (&by_input)[inputs], float (&by_weight)[weights]) {
    const float h = before[0], g = gradient[0];
    const float r = Gate<Math>::of(u[1], h, x[1]), z = Gate<Math>::of(u[0], h, x[0]);
    const float n = Math::tanh(fmaf(u[2] * h, r, x[2]));
    // All but g is known ahead of it.
    const float of_n = z * tanh_slope(n), of_r = of_n * (u[2] * h) * sigmoid_slope(r),
                of_z = (n - h) * sigmoid_slope(z);
    by_input[0] = g * of_z;
    by_input[1] = g * of_r;
    by_input[2] = g * of_n;
    by_weight[0] = by_input[0] * h;
    by_weight[1] = by_input[1] * h;
    by_weight[2] = by_input[2] * r * h;
    gradient[0] = g * fmaf(u[0], of_z, fmaf(u[1], of_r, fmaf(u[2] * r, of_n, 1.0f - z)));
  }
};

}  // namespace kerneltune
