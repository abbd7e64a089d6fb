// LSTM: i, f, o = sigmoid, z = tanh of W x + R h + b;  c' = f c + i z;  h' = o tanh(c').
#pragma once
#include "../../_common/activations.cuh"

namespace kerneltune {

struct LstmCell {
  static constexpr int gates = 4;   // i, f, z, o
  static constexpr int states = 2;  // h, c
  static constexpr int saved_values = 4;  // i, f, z, o, activated
  static constexpr int saved_states = 1;  // c

  // Whether W x of this gate is simply added to R h, so that an accumulator may start from it.
  static constexpr __host__ __device__ bool adds_input(int) { return true; }

  // sum: W x + R h + b of each gate. state: h, c of the last step in, of this step out.
  static __device__ __forceinline__ void step(const float (&sum)[gates], const float (&)[gates], float (&state)[states],
                                              float (&saved)[saved_values]) {
    const float input_gate = sigmoid_fast(sum[0]);
    const float forget_gate = sigmoid_fast(sum[1]);
    const float candidate = tanh_fast(sum[2]);
    const float output_gate = sigmoid_fast(sum[3]);
    state[1] = fmaf(forget_gate, state[1], input_gate * candidate);
    state[0] = output_gate * tanh_fast(state[1]);
    saved[0] = input_gate;
    saved[1] = forget_gate;
    saved[2] = candidate;
    saved[3] = output_gate;
  }
};

}  // namespace kerneltune
