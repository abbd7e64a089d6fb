// Diagonal sLSTM (Beck et al. 2024): c' = sigmoid(f) c + exp(i) z, n' = sigmoid(f) n + exp(i), h' =
// sigmoid(o) c' / n', with i = x_i + u_i h and so on
// and z = tanh(x_z + u_z h). It is kept as the mean v = c / n and l = log n, which neither overflow nor need
// a state that stabilises them:
// with d = i - log sigmoid(f) - l, the share of the new input is w = sigmoid(d), v' = v + w (z - v), l' = i -
// log sigmoid(d). Zeros are c = 0, n = 1.
#pragma once
#include "../../common/gate.cuh"

namespace kerneltune {

struct DiagonalSlstmCell {
  static constexpr int inputs = 4;   // x_i, x_f, x_z, x_o
  static constexpr int weights = 4;  // u_i, u_f, u_z, u_o
  static constexpr int states = 3;   // h, v, l
  static constexpr bool computes = true;

  struct Gates {
    float i, f, z, o, d, v;  // f before its activation, v after the step
  };
  template <class Math>
  static __device__ __forceinline__ Gates gates(const float (&x)[inputs], const float (&u)[weights],
                                                const float (&before)[states]) {
    Gates g;
    g.i = fmaf(u[0], before[0], x[0]);
    g.f = fmaf(u[1], before[0], x[1]);
    g.z = Math::tanh(fmaf(u[2], before[0], x[2]));
    g.o = Gate<Math>::of(u[3], before[0], x[3]);
    g.d = g.i - Math::log_sigmoid(g.f) - before[2];
    g.v = fmaf(Math::sigmoid(g.d), g.z - before[1], before[1]);
    return g;
  }

  template <class Math>
  static __device__ __forceinline__ void step(const float (&x)[inputs], const float (&u)[weights],
                                              float (&state)[states]) {
    const Gates g = gates<Math>(x, u, state);
    state[0] = g.o * g.v;
    state[1] = g.v;
    state[2] = g.i - Math::log_sigmoid(g.d);
  }

  template <class Math>
  static __device__ __forceinline__ void backward(const float (&x)[inputs], const float (&u)[weights],
                                                  const float (&before)[states], float (&gradient)[states],
                                                  float (&by_input)[inputs], float (&by_weight)[weights]) {
    const Gates g = gates<Math>(x, u, before);
    const float w = Math::sigmoid(g.d), rest = Math::sigmoid(-g.d);
    const float by_v = fmaf(gradient[0], g.o, gradient[1]);
    const float by_d = fmaf(by_v * (g.z - before[1]) * w, rest, -gradient[2] * rest);
    by_input[0] = by_d + gradient[2];
    by_input[1] = -by_d * Math::sigmoid(-g.f);
    by_input[2] = by_v * w * tanh_slope(g.z);
    by_input[3] = gradient[0] * g.v * sigmoid_slope(g.o);
    float by_h = 0.0f;
#pragma unroll
    for (int i = 0; i < inputs; i++) {
      by_weight[i] = by_input[i] * before[0];
      by_h = fmaf(u[i], by_input[i], by_h);
    }
    gradient[0] = by_h;
    gradient[1] = by_v * rest;
    gradient[2] = -by_d;
  }
};

}  // namespace kerneltune
