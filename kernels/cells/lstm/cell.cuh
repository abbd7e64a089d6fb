// LSTM: i, f, o = sigmoid, z = tanh of W x + R h + b;  c' = f c + i z;  h' = o tanh(c').
#pragma once
#include "../../common/numeric/activations.cuh"

namespace kerneltune {

struct LstmCell {
  static constexpr int gates = 4;         // i, f, z, o
  static constexpr int states = 2;        // h, c
  static constexpr int saved_values = 4;  // i, f, z, o after activation
  static constexpr int saved_states = 1;  // c
  static constexpr int carried = 2;       // gradients by h (not through R) and by c
  static constexpr int hidden_read = -1;  // the backward pass does not read h
  static constexpr bool reads_hidden = false;
  static constexpr bool separate_gradients = false;  // the gradients by W x and by R h + b are the same

  // Whether W x of this gate is added to R h, so that an accumulator may start from W x.
  static constexpr __host__ __device__ bool adds_input(int) { return true; }

  // sum: W x + R h + b of each gate. state: h and c of the previous step on entry, of this step on return.
  template <class Math>
  static __device__ __forceinline__ void step(const float (&sum)[gates], const float (&)[gates],
                                              float (&state)[states], float (&saved)[saved_values]) {
    const float input_gate = Math::sigmoid(sum[0]);
    const float forget_gate = Math::sigmoid(sum[1]);
    const float candidate = Math::tanh(sum[2]);
    const float output_gate = Math::sigmoid(sum[3]);
    state[1] = fmaf(forget_gate, state[1], input_gate * candidate);
    state[0] = output_gate * Math::tanh(state[1]);
    saved[0] = input_gate;
    saved[1] = forget_gate;
    saved[2] = candidate;
    saved[3] = output_gate;
  }

  // gradient: by the states after the last step, h and c. after: c after the last step.
  static __device__ __forceinline__ void begin_backward(const float (&gradient)[states],
                                                        const float (&)[saved_states], float (&carried)[2]) {
    carried[0] = gradient[0];
    carried[1] = gradient[1];
  }

  // hidden_gradient: the whole gradient by h of this step. record: of this step, with c before it. after: c
  // after it.
  template <class Math, class Record>
  static __device__ __forceinline__ void backward(float hidden_gradient, const Record& record,
                                                  const float (&after)[saved_states], float (&carried)[2],
                                                  float (&input_gradient)[gates],
                                                  float (&recurrent_gradient)[gates]) {
    const float input_gate = record.value[0], forget_gate = record.value[1], candidate = record.value[2],
                output_gate = record.value[3];
    const float squashed = Math::tanh(after[0]);
    const float cell_gradient =
        fmaf(hidden_gradient * output_gate, fmaf(-squashed, squashed, 1.0f), carried[1]);
    recurrent_gradient[0] = cell_gradient * candidate * sigmoid_slope(input_gate);
    recurrent_gradient[1] = cell_gradient * record.before[0] * sigmoid_slope(forget_gate);
    recurrent_gradient[2] = cell_gradient * input_gate * tanh_slope(candidate);
    recurrent_gradient[3] = hidden_gradient * squashed * sigmoid_slope(output_gate);
#pragma unroll
    for (int gate = 0; gate < gates; gate++) input_gradient[gate] = recurrent_gradient[gate];
    carried[0] = 0.0f;
    carried[1] = cell_gradient * forget_gate;
  }

  // hidden_gradient: the whole gradient by h before the first step. before: c before it. gradient: by h and
  // c.
  static __device__ __forceinline__ void end_backward(float hidden_gradient, const float (&)[saved_states],
                                                      const float (&carried)[2], float (&gradient)[states]) {
    gradient[0] = hidden_gradient;
    gradient[1] = carried[1];
  }
};

}  // namespace kerneltune
