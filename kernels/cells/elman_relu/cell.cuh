// Elman network: h' = relu(W x + R h + b).
#pragma once
#include "../../_common/activations.cuh"

namespace kerneltune {

struct ElmanReluCell {
  static constexpr int gates = 1;
  static constexpr int states = 1;  // h
  static constexpr int saved_values = 0;
  static constexpr int saved_states = 0;

  static constexpr __host__ __device__ bool adds_input(int) { return true; }

  static __device__ __forceinline__ void step(const float (&sum)[gates], const float (&)[gates], float (&state)[states], float (&)[1]) {
    state[0] = fmaxf(sum[0], 0.0f);
  }
};

}  // namespace kerneltune
