// Elman network: h' = relu(W x + R h + b).
#pragma once
#include "../../common/elements/single_state.cuh"
#include "../../common/numeric/activations.cuh"

namespace kerneltune {

struct ElmanReluCell : SingleState {
  static constexpr int gates = 1;
  static constexpr int saved_values = 0;
  static constexpr int hidden_read = 1;  // the backward pass reads h after the step
  static constexpr bool reads_hidden = false;
  static constexpr bool separate_gradients = false;

  static constexpr __host__ __device__ bool adds_input(int) { return true; }

  template <class Math>
  static __device__ __forceinline__ void step(const float (&sum)[gates], const float (&)[gates],
                                              float (&state)[states], float (&)[1]) {
    state[0] = sum[0] < 0.0f ? 0.0f : sum[0];  // not fmaxf, which would turn a NaN into 0
  }

  template <class Math, class Record>
  static __device__ __forceinline__ void backward(float hidden_gradient, const Record& record,
                                                  const float (&)[1], float (&carried)[1],
                                                  float (&input_gradient)[gates],
                                                  float (&recurrent_gradient)[gates]) {
    recurrent_gradient[0] = record.hidden <= 0.0f ? 0.0f : hidden_gradient;
    input_gradient[0] = recurrent_gradient[0];
    carried[0] = 0.0f;
  }
};

}  // namespace kerneltune
