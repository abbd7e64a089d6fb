// sLSTM (Beck et al. 2024, "xLSTM"): exponential input gate, sigmoid forget gate, a normaliser n, and a stabiliser m that keeps the
// exponentials in range:  m' = max(log f + m, i~);  i = exp(i~ - m');  f = exp(log f + m - m');
// c' = f c + i tanh(z);  n' = f n + i;  h' = sigmoid(o) c' / n'.
#pragma once
#include "../../_common/activations.cuh"

namespace kerneltune {

struct SlstmCell {
  static constexpr int gates = 4;   // i, f, z, o
  static constexpr int states = 4;  // h, c, n, m
  static constexpr int saved_values = 4;  // the gate below 1, see step; 1 - sigmoid(f); z and o, activated
  static constexpr int saved_states = 2;  // c, n

  static constexpr __host__ __device__ bool adds_input(int) { return true; }

  static __device__ __forceinline__ void step(const float (&sum)[gates], const float (&)[gates], float (&state)[states],
                                              float (&saved)[saved_values]) {
    const float kept = log_sigmoid_fast(sum[1]) + state[3];
    const float stabiliser = fmaxf(kept, sum[0]);
    const float input_gate = exp_fast(sum[0] - stabiliser);
    const float forget_gate = exp_fast(kept - stabiliser);
    const float candidate = tanh_fast(sum[2]);
    const float output_gate = sigmoid_fast(sum[3]);
    state[1] = fmaf(forget_gate, state[1], input_gate * candidate);
    state[2] = fmaf(forget_gate, state[2], input_gate);
    state[3] = stabiliser;
    state[0] = output_gate * __fdividef(state[1], state[2]);
    // One of the two gates is 1. The other is kept, negative where that is the input gate.
    saved[0] = kept < sum[0] ? forget_gate : -input_gate;
    saved[1] = sigmoid_fast(-sum[1]);
    saved[2] = candidate;
    saved[3] = output_gate;
  }
};

}  // namespace kerneltune
