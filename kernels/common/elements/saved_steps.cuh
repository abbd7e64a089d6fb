// What training saves of each step: the cell's saved values, and its states after h.
// The lanes that finish the elements write it: values in storage type, states in float32.
#pragma once
#include "../arguments.cuh"
#include "../shape/product_shape.cuh"
#include "../numeric/scalar.cuh"

namespace kerneltune {

template <class Cell, class Shape>
struct SavedSteps {
  using Scalar = typename Shape::Scalar;
  float values[Shape::warp_groups][at_least_one(Cell::saved_values)];  // of the step just computed
  Scalar* value_target;
  float* state_target;
  size_t step_elements;
  // Where the coming step goes, for lanes that finish elements. Addresses are kept and nothing branches, so
  // the compiler can place the instructions where a step waits.
  Scalar* value_place[Shape::warp_groups];
  float* state_place[Shape::warp_groups];
  bool present[Shape::warp_groups];

  // Also writes the states before the first step. first_step: the step that the first call of write finds.
  __device__ __forceinline__ void begin(const ForwardArguments& arguments, int head, int first_row,
                                        int first_unit,
                                        const float (&state)[Shape::warp_groups][Shape::states],
                                        const Lane<Shape>& lane, int first_step) {
    value_target = static_cast<Scalar*>(arguments.saved_values);
    state_target = arguments.saved_states;
    step_elements = static_cast<size_t>(arguments.batch) * arguments.heads * Shape::head_dim;
    const long long first = first_step * static_cast<long long>(step_elements);
#pragma unroll
    for (int group = 0; group < Shape::warp_groups; group++) {
      const int row = first_row + lane.batch_row(group), unit = first_unit + lane.unit(group);
      present[group] = lane.finishes() && row < arguments.batch;
      const size_t here =
          present[group] ? (static_cast<size_t>(row) * arguments.heads + head) * Shape::head_dim + unit : 0;
      value_place[group] = value_target + (static_cast<long long>(here) + first) * Cell::saved_values;
      state_place[group] =
          state_target + (static_cast<long long>(here + step_elements) + first) * Cell::saved_states;
      if (present[group]) write_states(state_target + here * Cell::saved_states, state[group]);
    }
  }

  // Writes the coming step, if `wanted`.
  __device__ __forceinline__ void write(const float (&state)[Shape::warp_groups][Shape::states],
                                        bool wanted) {
#pragma unroll
    for (int group = 0; group < Shape::warp_groups; group++) {
      if (wanted && present[group]) write_group(group, value_place[group], state_place[group], state[group]);
      value_place[group] += step_elements * Cell::saved_values;
      state_place[group] += step_elements * Cell::saved_states;
    }
  }

  // Writes the step just computed, of one group. here: its place in [T, B, H, D].
  __device__ __forceinline__ void write_group(int group, size_t here,
                                              const float (&state)[Shape::states]) const {
    write_group(group, value_target + here * Cell::saved_values,
                state_target + (here + step_elements) * Cell::saved_states, state);
  }

 private:
  __device__ __forceinline__ void write_group(int group, Scalar* value, float* states,
                                              const float (&state)[Shape::states]) const {
    if constexpr (Cell::saved_values > 0) write_values<Scalar>(value, values[group]);
    write_states(states, state);
  }

  static __device__ __forceinline__ void write_states(float* target, const float (&state)[Shape::states]) {
    if constexpr (Cell::saved_states == 1) __stcs(target, state[1]);
    if constexpr (Cell::saved_states == 2)
      __stcs(reinterpret_cast<float2*>(target), make_float2(state[1], state[2]));
    if constexpr (Cell::saved_states > 2)
#pragma unroll
      for (int s = 0; s < Cell::saved_states; s++) __stcs(target + s, state[s + 1]);
  }
};

}  // namespace kerneltune
