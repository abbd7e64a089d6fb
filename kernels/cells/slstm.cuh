// sLSTM (Beck et al. 2024, "xLSTM"): exponential input gate, sigmoid forget gate, normaliser n, stabiliser m.
// m keeps the exponentials in range:
// m' = max(log f + m, i~);  i = exp(i~ - m');  f = exp(log f + m - m');
// c' = f c + i tanh(z);  n' = f n + i;  h' = sigmoid(o) c' / n'.
//
// One of i and f is 1 after the exponential, so that only the other one is saved: with a negative sign if it is
// the input gate.
// saves: where(kept < i, keep, -grow)
// saves: sigmoid(-f)
// saves: tanh(z)
// saves: sigmoid(o)
#pragma once
#include "common/numeric/activations.cuh"

namespace kerneltune {

struct SlstmCell {
  static constexpr int gates = 4;   // i, f, z, o
  static constexpr int states = 4;  // h, c, n, m
  static constexpr int saved_values = 4;
  static constexpr int saved_states = 2;  // c, n
  // Gradients by h (not through R), by c, by n, and by the maximum m.
  static constexpr int carried = 4;
  static constexpr int hidden_read = -1;             // the backward pass does not read h
  static constexpr bool reads_hidden = false;        // nor does a step, but through R
  static constexpr bool separate_gradients = false;  // the gradients by W x and by R h + b are the same

  // Whether W x of this gate is added to R h, so that an accumulator may start from W x.
  static constexpr __host__ __device__ bool adds_input(int) { return true; }

  // sum: W x + R h + b of each gate. state: that of the previous step on entry, of this step on return.
  template <class Math>
  static __device__ __forceinline__ void step(const float (&sum)[gates], const float (&)[gates],
                                              float (&state)[states], float (&saved)[saved_values]) {
    const float kept = Math::log_sigmoid(sum[1]) + state[3];
    const float stabiliser = fmaxf(kept, sum[0]);
    const float input_gate = Math::exp(sum[0] - stabiliser);
    const float forget_gate = Math::exp(kept - stabiliser);
    const float candidate = Math::tanh(sum[2]);
    const float output_gate = Math::sigmoid(sum[3]);
    state[1] = fmaf(forget_gate, state[1], input_gate * candidate);
    state[2] = fmaf(forget_gate, state[2], input_gate);
    state[3] = stabiliser;
    state[0] = output_gate * __fdividef(state[1], state[2]);
    saved[0] = kept < sum[0] ? forget_gate : -input_gate;
    saved[1] = Math::sigmoid(-sum[1]);
    saved[2] = candidate;
    saved[3] = output_gate;
  }

  // gradient: by the states after the last step. after: c and n after the last step.
  // m scales c and n down, so the gradient by the maximum is the one by m minus those through c and n. h does
  // not depend on m.
  static __device__ __forceinline__ void begin_backward(const float (&gradient)[states],
                                                        const float (&after)[saved_states],
                                                        float (&carried)[4]) {
    carried[0] = gradient[0];
    carried[1] = gradient[1];
    carried[2] = gradient[2];
    carried[3] = gradient[3] - gradient[1] * after[0] - gradient[2] * after[1];
  }

  // hidden_gradient: the whole gradient by h of this step. record: of this step, with c and n before it.
  // after: c and n after it.
  template <class Math, class Record>
  static __device__ __forceinline__ void backward(float hidden_gradient, const Record& record,
                                                  const float (&after)[saved_states], float (&carried)[4],
                                                  float (&input_gradient)[gates],
                                                  float (&recurrent_gradient)[gates]) {
    const bool kept_is_larger = __float_as_int(record.value[0]) < 0;  // -0 if the input gate underflowed
    const float input_gate = kept_is_larger ? -record.value[0] : 1.0f;
    const float forget_gate = kept_is_larger ? 1.0f : record.value[0];
    const float candidate = record.value[2], output_gate = record.value[3];
    const float scale = __fdividef(1.0f, after[1]);
    const float ratio = after[0] * scale;
    const float ratio_gradient = hidden_gradient * output_gate * scale;
    const float cell_gradient = carried[1] + ratio_gradient;
    const float normaliser_gradient = fmaf(-ratio_gradient, ratio, carried[2]);
    const float maximum_kept = kept_is_larger ? carried[3] : 0.0f;
    const float kept_gradient =
        fmaf(forget_gate, fmaf(cell_gradient, record.before[0], normaliser_gradient * record.before[1]),
             maximum_kept);
    recurrent_gradient[0] =
        fmaf(input_gate, fmaf(cell_gradient, candidate, normaliser_gradient), carried[3] - maximum_kept);
    recurrent_gradient[1] = kept_gradient * record.value[1];
    recurrent_gradient[2] = cell_gradient * input_gate * tanh_slope(candidate);
    recurrent_gradient[3] = hidden_gradient * ratio * sigmoid_slope(output_gate);
#pragma unroll
    for (int gate = 0; gate < gates; gate++) input_gradient[gate] = recurrent_gradient[gate];
    carried[0] = 0.0f;
    carried[1] = cell_gradient * forget_gate;
    carried[2] = normaliser_gradient * forget_gate;
    carried[3] = maximum_kept;
  }

  // hidden_gradient: the whole gradient by h before the first step. before: c and n before it.
  static __device__ __forceinline__ void end_backward(float hidden_gradient,
                                                      const float (&before)[saved_states],
                                                      const float (&carried)[4], float (&gradient)[states]) {
    gradient[0] = hidden_gradient;
    gradient[1] = carried[1];
    gradient[2] = carried[2];
    gradient[3] = fmaf(carried[1], before[0], fmaf(carried[2], before[1], carried[3]));
  }
};

}  // namespace kerneltune
