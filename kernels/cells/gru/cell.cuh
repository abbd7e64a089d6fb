// GRU as PyTorch defines it, the reset inside: r, z = sigmoid of W x + R h + b;  n = tanh(W_n x + r (R_n h + b_n));
// h' = (1 - z) n + z h. The bias of W_n x, if there is one, belongs to W x.
#pragma once
#include "../../_common/activations.cuh"

namespace kerneltune {

struct GruCell {
  static constexpr int gates = 3;   // r, z, n
  static constexpr int states = 1;  // h
  static constexpr int saved_values = 4;  // r, z, n, activated, and R_n h + b_n
  static constexpr int saved_states = 0;

  // W x of n must not meet R h before the reset gate has.
  static constexpr __host__ __device__ bool adds_input(int gate) { return gate != 2; }

  static __device__ __forceinline__ void step(const float (&sum)[gates], const float (&input)[gates], float (&state)[states],
                                              float (&saved)[saved_values]) {
    const float reset = sigmoid_fast(sum[0]);
    const float update = sigmoid_fast(sum[1]);
    const float candidate = tanh_fast(fmaf(reset, sum[2], input[2]));
    state[0] = fmaf(update, state[0] - candidate, candidate);
    saved[0] = reset;
    saved[1] = update;
    saved[2] = candidate;
    saved[3] = sum[2];
  }
};

}  // namespace kerneltune
