// Diagonal LSTM, input and forget gates coupled, with peepholes: f = sigmoid(x_f + u_f h + p_f c), z =
// tanh(x_z + u_z h), c' = f c + (1 - f) z,
// o = sigmoid(x_o + u_o h + p_o c'), h' = o tanh(c').
#pragma once
#include "../../common/gate.cuh"

namespace kerneltune {

struct DiagonalLstmCell {
  static constexpr int inputs = 3;   // x_f, x_z, x_o
  static constexpr int weights = 5;  // u_f, u_z, u_o, p_f, p_o
  static constexpr int states = 2;   // h, c
  static constexpr bool computes = true;

  struct Gates {
    float f, z, o, c, t;  // c and t = tanh(c) after the step
  };
  template <class Math>
  static __device__ __forceinline__ Gates gates(const float (&x)[inputs], const float (&u)[weights],
                                                const float (&before)[states]) {
    Gates g;
    g.f = Gate<Math>::of(u[0], before[0], fmaf(u[3], before[1], x[0]));
    g.z = Math::tanh(fmaf(u[1], before[0], x[1]));
    g.c = fmaf(g.f, before[1], (1.0f - g.f) * g.z);
    g.o = Gate<Math>::of(u[4], g.c, fmaf(u[2], before[0], x[2]));
    g.t = Math::tanh(g.c);
    return g;
  }

  template <class Math>
  static __device__ __forceinline__ void step(const float (&x)[inputs], const float (&u)[weights],
                                              float (&state)[states]) {
    const Gates g = gates<Math>(x, u, state);
    state[0] = g.o * g.t;
    state[1] = g.c;
  }

  template <class Math>
  static __device__ __forceinline__ void backward(const float (&x)[inputs], const float (&u)[weights],
                                                  const float (&before)[states], float (&gradient)[states],
                                                  float (&by_input)[inputs], float (&by_weight)[weights]) {
    const Gates g = gates<Math>(x, u, before);
    // All but the gradients is known ahead of them.
    const float of_o = g.t * sigmoid_slope(g.o), of_c = fmaf(g.o, tanh_slope(g.t), of_o * u[4]);
    const float of_f = (before[1] - g.z) * sigmoid_slope(g.f), of_z = (1.0f - g.f) * tanh_slope(g.z);
    const float by_c = fmaf(gradient[0], of_c, gradient[1]);
    by_input[0] = by_c * of_f;
    by_input[1] = by_c * of_z;
    by_input[2] = gradient[0] * of_o;
    by_weight[0] = by_input[0] * before[0];
    by_weight[1] = by_input[1] * before[0];
    by_weight[2] = by_input[2] * before[0];
    by_weight[3] = by_input[0] * before[1];
    by_weight[4] = by_input[2] * g.c;
    gradient[0] = fmaf(by_c, fmaf(u[0], of_f, u[1] * of_z), u[2] * by_input[2]);
    gradient[1] = by_c * fmaf(u[3], of_f, g.f);
  }
};

}  // namespace kerneltune
