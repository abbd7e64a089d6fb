// GRU as PyTorch defines it, with the reset gate applied to R_n h + b_n:
// r, z = sigmoid of W x + R h + b;  n = tanh(W_n x + r (R_n h + b_n));  h' = (1 - z) n + z h.
// A bias of W_n x belongs to W x.
#pragma once
#include "../../common/elements/single_state.cuh"
#include "../../common/numeric/activations.cuh"

namespace kerneltune {

struct GruCell : SingleState {
  static constexpr int gates = 3;         // r, z, n
  static constexpr int saved_values = 4;  // r, z, n after activation, and R_n h + b_n
  static constexpr int hidden_read = 0;   // the backward pass reads h before the step
  static constexpr bool reads_hidden = true;
  static constexpr bool separate_gradients = true;  // R_n h + b_n is multiplied by r, W_n x is not

  // W x of n is added after the multiplication by the reset gate.
  static constexpr __host__ __device__ bool adds_input(int gate) { return gate != 2; }

  template <class Math>
  static __device__ __forceinline__ void step(const float (&sum)[gates], const float (&input)[gates],
                                              float (&state)[states], float (&saved)[saved_values]) {
    const float reset = Math::sigmoid(sum[0]);
    const float update = Math::sigmoid(sum[1]);
    const float candidate = Math::tanh(fmaf(reset, sum[2], input[2]));
    state[0] = fmaf(update, state[0] - candidate, candidate);
    saved[0] = reset;
    saved[1] = update;
    saved[2] = candidate;
    saved[3] = sum[2];
  }

  template <class Math, class Record>
  static __device__ __forceinline__ void backward(float hidden_gradient, const Record& record,
                                                  const float (&)[1], float (&carried)[1],
                                                  float (&input_gradient)[gates],
                                                  float (&recurrent_gradient)[gates]) {
    const float reset = record.value[0], update = record.value[1], candidate = record.value[2],
                product = record.value[3];
    const float candidate_gradient = hidden_gradient * (1.0f - update) * tanh_slope(candidate);
    input_gradient[0] = candidate_gradient * product * sigmoid_slope(reset);
    input_gradient[1] = hidden_gradient * (record.hidden - candidate) * sigmoid_slope(update);
    input_gradient[2] = candidate_gradient;
    recurrent_gradient[0] = input_gradient[0];
    recurrent_gradient[1] = input_gradient[1];
    recurrent_gradient[2] = candidate_gradient * reset;
    carried[0] = hidden_gradient * update;
  }
};

}  // namespace kerneltune
