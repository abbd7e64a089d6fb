// What the backward pass needs of each step, written by the lanes that finished its elements: the values that the cell keeps, in storage
// type, and its states after h in float32.
#pragma once
#include "arguments.cuh"
#include "product_shape.cuh"
#include "scalar.cuh"

namespace kerneltune {

template <class Cell, class Shape>
struct SavedSteps {
  using Scalar = typename Shape::Scalar;
  static_assert(Cell::saved_states == 0 || Cell::saved_states == 1 || Cell::saved_states == 2, "the saved states of a unit are one store");

  static constexpr size_t nothing = ~static_cast<size_t>(0);

  float values[Shape::warp_groups][at_least_one(Cell::saved_values)];  // of the step just computed
  size_t element[Shape::warp_groups];                                 // in [T, B, H, D], of the coming step; `nothing` where there is none
  Scalar* value_target;
  float* state_target;
  size_t step_elements;

  // Also writes the states before the first step.
  __device__ __forceinline__ void begin(const ForwardArguments& arguments, int head, int first_row, int first_unit,
                                        const float (&state)[Shape::warp_groups][Shape::states], const Lane<Shape>& lane) {
    value_target = static_cast<Scalar*>(arguments.saved_values);
    state_target = arguments.saved_states;
    step_elements = static_cast<size_t>(arguments.batch) * arguments.heads * Shape::head_dim;
#pragma unroll
    for (int group = 0; group < Shape::warp_groups; group++) {
      const int row = first_row + lane.batch_row(group), unit = first_unit + lane.unit(group);
      const bool writes = lane.finishes() && row < arguments.batch;
      element[group] = writes ? (static_cast<size_t>(row) * arguments.heads + head) * Shape::head_dim + unit : nothing;
      if (writes) write_states(element[group], state[group]);
    }
  }

  __device__ __forceinline__ void write(const float (&state)[Shape::warp_groups][Shape::states]) {
#pragma unroll
    for (int group = 0; group < Shape::warp_groups; group++) {
      if (element[group] == nothing) continue;
      write_group(group, element[group], state[group]);
      element[group] += step_elements;
    }
  }

  // The step just computed, of one group; here: its place in [T, B, H, D].
  __device__ __forceinline__ void write_group(int group, size_t here, const float (&state)[Shape::states]) const {
    if constexpr (Cell::saved_values > 0) write_values<Scalar>(value_target + here * Cell::saved_values, values[group]);
    write_states(here + step_elements, state);
  }

 private:
  __device__ __forceinline__ void write_states(size_t index, const float (&state)[Shape::states]) const {
    float* const target = state_target + index * Cell::saved_states;
    if constexpr (Cell::saved_states == 1) __stcs(target, state[1]);
    if constexpr (Cell::saved_states == 2) __stcs(reinterpret_cast<float2*>(target), make_float2(state[1], state[2]));
  }
};

}  // namespace kerneltune
