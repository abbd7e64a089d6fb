// Elman network: h' = tanh(W x + R h + b).
#pragma once
#include "../../common/elements/single_state.cuh"
#include "../../common/numeric/activations.cuh"

namespace kerneltune {

struct ElmanTanhCell : SingleState {
  static constexpr int gates = 1;
  static constexpr int saved_values = 1;  // the slope of tanh: an h near 1 in 16 bits has lost it
  static constexpr int hidden_read = -1;
  static constexpr bool reads_hidden = false;
  static constexpr bool separate_gradients = false;

  static constexpr __host__ __device__ bool adds_input(int) { return true; }

  template <class Math>
  static __device__ __forceinline__ void step(const float (&sum)[gates], const float (&)[gates],
                                              float (&state)[states], float (&saved)[saved_values]) {
    state[0] = Math::tanh(sum[0]);
    saved[0] = tanh_slope(state[0]);
  }

  template <class Math, class Record>
  static __device__ __forceinline__ void backward(float hidden_gradient, const Record& record,
                                                  const float (&)[1], float (&carried)[1],
                                                  float (&input_gradient)[gates],
                                                  float (&recurrent_gradient)[gates]) {
    recurrent_gradient[0] = hidden_gradient * record.value[0];
    input_gradient[0] = recurrent_gradient[0];
    carried[0] = 0.0f;
  }
};

}  // namespace kerneltune
