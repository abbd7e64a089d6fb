// The elements of one lane in the backward pass of the strategy "warpgroup", in pairs of neighbouring units.
// A pair's gradients are whole words, so no lane needs another's.
#pragma once
#include "gradient_elements.cuh"
#include "../shape/warpgroup_gradient_shape.cuh"

namespace kerneltune {

// COUNT contiguous words of device memory, read or written at once where their number allows.
template <int COUNT>
__device__ __forceinline__ void read_words(unsigned (&word)[COUNT], const void* from) {
  if constexpr (COUNT == 4) {
    const uint4 value = __ldcs(static_cast<const uint4*>(from));
    word[0] = value.x, word[1] = value.y, word[2] = value.z, word[3] = value.w;
  } else if constexpr (COUNT == 2) {
    const uint2 value = __ldcs(static_cast<const uint2*>(from));
    word[0] = value.x, word[1] = value.y;
  } else {
#pragma unroll
    for (int i = 0; i < COUNT; i++) word[i] = __ldcs(static_cast<const unsigned*>(from) + i);
  }
}
template <int COUNT>
__device__ __forceinline__ void write_words(void* target, const unsigned (&word)[COUNT]) {
  if constexpr (COUNT == 4) {
    __stcs(static_cast<uint4*>(target), make_uint4(word[0], word[1], word[2], word[3]));
  } else if constexpr (COUNT == 2) {
    __stcs(static_cast<uint2*>(target), make_uint2(word[0], word[1]));
  } else {
#pragma unroll
    for (int i = 0; i < COUNT; i++) __stcs(static_cast<unsigned*>(target) + i, word[i]);
  }
}

// Value `index` of contiguous 16-bit values in words.
template <class Scalar, int COUNT>
__device__ __forceinline__ float value_of(const unsigned (&word)[COUNT], int index) {
  return index % 2 ? Scalar::high(word[index / 2]) : Scalar::low(word[index / 2]);
}

// What a step reads of a pair, as it lies in memory.
template <class Cell, class Shape>
struct PairRecord {
  using Scalar = typename Shape::Scalar;
  static constexpr int values = Cell::saved_values, states = Cell::saved_states;

  unsigned value[at_least_one(values)];
  unsigned before[2 * at_least_one(states)];  // states after h, before the step
  unsigned output_gradient[1], hidden[1], output[1];

  // first: the pair's place in [T, B, H, D] at this step.
  __device__ __forceinline__ void load(const BackwardArguments& arguments, size_t first,
                                       size_t step_elements) {
    const Scalar* const h = static_cast<const Scalar*>(arguments.states) + first;
    if constexpr (values > 0)
      read_words(value, static_cast<const Scalar*>(arguments.saved_values) + first * values);
    if constexpr (states > 0) read_words(before, arguments.saved_states + first * states);
    read_words(output_gradient, static_cast<const Scalar*>(arguments.output_gradient) + first);
    if constexpr (Cell::hidden_read >= 0) read_words(hidden, h + Cell::hidden_read * step_elements);
    if constexpr (Shape::forward_clip > 0.0f) read_words(output, h + step_elements);
  }

  __device__ __forceinline__ StepRecord<Cell> of_unit(int unit) const {
    StepRecord<Cell> record;
#pragma unroll
    for (int i = 0; i < values; i++) record.value[i] = value_of<Scalar>(value, unit * values + i);
#pragma unroll
    for (int i = 0; i < states; i++) record.before[i] = __uint_as_float(before[unit * states + i]);
    record.output_gradient = value_of<Scalar>(output_gradient, unit);
    if constexpr (Cell::hidden_read >= 0) record.hidden = value_of<Scalar>(hidden, unit);
    if constexpr (Shape::forward_clip > 0.0f) record.output = value_of<Scalar>(output, unit);
    return record;
  }
};

template <class Cell, class Shape>
struct GradientPairs {
  using Scalar = typename Shape::Scalar;
  static constexpr int gates = Shape::gates, saved_states = Cell::saved_states;

  const BackwardArguments& arguments;
  int head, first_row, first_unit;
  Lane<Shape> lane;
  // Of each n tile, the lane has a pair in each of two batch rows.
  PairRecord<Cell, Shape> record[2][Shape::n_tiles];              // of the coming step
  float carried[2][Shape::n_tiles][2][Cell::carried];             // gradients that do not pass through R
  float after[2][Shape::n_tiles][2][at_least_one(saved_states)];  // states after h, after the step
  UnitWeights<Cell> weights[Shape::n_tiles][2];
  unsigned word[2][Shape::n_tiles][gates];                                        // gradients by R h + bias
  unsigned input_word[2][Shape::separate_gradients ? Shape::n_tiles : 1][gates];  // by W x, where they differ

  // Loads what is known after the last step.
  __device__ __forceinline__ void begin() {
    const Scalar* const last = static_cast<const Scalar*>(arguments.last_gradient);
    const size_t plane = static_cast<size_t>(arguments.steps) * step_elements();
#pragma unroll
    for (int i = 0; i < 4 * Shape::n_tiles; i++) {
      const int half = i % 2, unit = i / 2 % 2, n = i / 4;
      if constexpr (weights_of<Cell> > 0)
        if (half == 0)
          weights[n][unit].template load<Scalar>(arguments, head, Shape::head_dim,
                                                 first_unit + 2 * lane.quad + n * 8 + unit, true);
      const bool present = exists(half);
      const size_t here = index(half) + n * 8 + unit;
      float gradient[Shape::states];
#pragma unroll
      for (int s = 0; s < Shape::states; s++)
        gradient[s] = present ? to_float(last[s * step_elements() + here]) : 0.0f;
      after[half][n][unit][0] = 0.0f;
#pragma unroll
      for (int s = 0; s < saved_states; s++)
        after[half][n][unit][s] = present ? arguments.saved_states[(plane + here) * saved_states + s] : 0.0f;
      Cell::begin_backward(gradient, after[half][n][unit], carried[half][n][unit]);
      record[half][n] = {};
    }
  }

  // Asks for what the step reads.
  __device__ __forceinline__ void load(int step) {
#pragma unroll
    for (int half = 0; half < 2; half++) {
      if (!exists(half)) continue;
      const size_t first = step * step_elements() + index(half);
#pragma unroll
      for (int n = 0; n < Shape::n_tiles; n++)
        record[half][n].load(arguments, first + n * 8, step_elements());
    }
  }

  // From R^T times the gradients of the following step to the gradients of this step.
  // part: where they go for the other blocks. Exchange: in which order.
  template <class Exchange>
  __device__ __forceinline__ void step(const float (&sums)[Shape::n_tiles][4], unsigned char* part) {
#pragma unroll
    for (int half = 0; half < 2; half++) {
#pragma unroll
      for (int n = 0; n < Shape::n_tiles; n++) {
        float by_input[2][gates], by_recurrent[2][gates];
#pragma unroll
        for (int unit = 0; unit < 2; unit++) {
          const StepRecord<Cell> here = record[half][n].of_unit(unit);
          element_gradients<Cell, Shape>(sums[n][2 * half + unit], here, after[half][n][unit],
                                         weights[n][unit], carried[half][n][unit], by_input[unit],
                                         by_recurrent[unit]);
#pragma unroll
          for (int s = 0; s < saved_states; s++) after[half][n][unit][s] = here.before[s];
        }
        pack(word[half][n], by_recurrent);
        if constexpr (Shape::separate_gradients) pack(input_word[half][n], by_input);
      }
      if (!exists(half)) continue;
#pragma unroll
      for (int n = 0; n < Shape::n_tiles; n++)
        publish(part + Exchange::place(n, lane.batch_row(half), lane.quad), word[half][n]);
    }
  }

  // Writes the gradients of the step to memory.
  __device__ __forceinline__ void write(int step) const {
    Scalar* const by_input = static_cast<Scalar*>(arguments.input_gradient);
    Scalar* const by_recurrent = static_cast<Scalar*>(arguments.recurrent_gradient);
#pragma unroll
    for (int half = 0; half < 2; half++) {
      if (!exists(half)) continue;
      const size_t first = (step * step_elements() + index(half)) * gates;
#pragma unroll
      for (int n = 0; n < Shape::n_tiles; n++) {
        const size_t here = first + n * 8 * gates;
        write_words((Shape::separate_gradients ? by_recurrent : by_input) + here, word[half][n]);
        if constexpr (Shape::separate_gradients) write_words(by_input + here, input_word[half][n]);
      }
    }
  }

  // Writes the gradients by the states before the first step. sums: R^T times the gradients of that step.
  __device__ __forceinline__ void finish(const float (&sums)[Shape::n_tiles][4]) const {
    Scalar* const target = static_cast<Scalar*>(arguments.initial_gradient);
#pragma unroll
    for (int i = 0; i < 2 * Shape::n_tiles; i++) {
      const int half = i % 2, n = i / 2;
      if (!exists(half)) continue;
      float gradient[2][Shape::states];
#pragma unroll
      for (int unit = 0; unit < 2; unit++)
        Cell::end_backward(recurrent_part<Shape>(sums[n][2 * half + unit]) + carried[half][n][unit][0],
                           after[half][n][unit], carried[half][n][unit], gradient[unit]);
#pragma unroll
      for (int s = 0; s < Shape::states; s++)
        *reinterpret_cast<unsigned*>(target + s * step_elements() + index(half) + n * 8) =
            Scalar::pack(gradient[0][s], gradient[1][s]);
    }
  }

 private:
  __device__ __forceinline__ bool exists(int half) const {
    return first_row + lane.batch_row(half) < arguments.batch;
  }
  __device__ __forceinline__ size_t step_elements() const {
    return static_cast<size_t>(arguments.batch) * arguments.heads * Shape::head_dim;
  }
  // Of the lane's first unit, in [B, H, D].
  __device__ __forceinline__ size_t index(int half) const {
    const size_t row = first_row + lane.batch_row(half);
    return (row * arguments.heads + head) * Shape::head_dim + first_unit + 2 * lane.quad;
  }

  static __device__ __forceinline__ void pack(unsigned (&words)[gates], const float (&gradient)[2][gates]) {
#pragma unroll
    for (int i = 0; i < 2 * gates; i += 2)
      words[i / 2] = Scalar::pack(gradient[i / gates][i % gates], gradient[(i + 1) / gates][(i + 1) % gates]);
  }

  // Stores a pair's operands in a slot. Three gates have a zero behind them.
  static __device__ __forceinline__ void publish(unsigned char* target, const unsigned (&own)[gates]) {
    if constexpr (gates == 1)
      store_shared_by_gpu(target, own[0]);
    else if constexpr (gates == 4)
      store_shared_by_gpu(target, make_uint4(own[0], own[1], own[2], own[3]));
    else
      store_shared_by_gpu(target,
                          make_uint4(own[0], own[1] & 0xffffu, own[1] >> 16 | own[2] << 16, own[2] >> 16));
  }
};

}  // namespace kerneltune
