// The elements of one lane in the backward pass: what they carry from step to step in float32, and the gradients they write.
#pragma once
#include "arguments.cuh"
#include "backward_shape.cuh"
#include "gradient_ring.cuh"
#include "operand_tile.cuh"
#include "scalar.cuh"

namespace kerneltune {

template <class Cell, class Shape>
struct GradientElements {
  using Scalar = typename Shape::Scalar;
  static constexpr size_t nothing = ~static_cast<size_t>(0);

  float carried[Shape::warp_groups][Cell::carried];                    // gradients that do not come through R
  float after[Shape::warp_groups][at_least_one(Cell::saved_states)];  // states after h, after the step
  float input_gradient[Shape::warp_groups][Shape::gates];
  float recurrent_gradient[Shape::warp_groups][Shape::gates];
  size_t element[Shape::warp_groups];  // in [T, B, H, D], of the coming step; `nothing` for lanes that write none
  Scalar* input_target;
  Scalar* recurrent_target;
  size_t step_elements;

  // What is known after the last step.
  __device__ __forceinline__ void begin(const BackwardArguments& arguments, int head, int first_row, int first_unit, const Lane<Shape>& lane) {
    input_target = static_cast<Scalar*>(arguments.input_gradient);
    recurrent_target = static_cast<Scalar*>(arguments.recurrent_gradient);
    step_elements = static_cast<size_t>(arguments.batch) * arguments.heads * Shape::head_dim;
#pragma unroll
    for (int group = 0; group < Shape::warp_groups; group++) {
      const size_t here = first_element(arguments, group, head, first_row, first_unit, lane);
      const size_t plane = static_cast<size_t>(arguments.steps) * step_elements;
      float gradient[Shape::states];
#pragma unroll
      for (int s = 0; s < Shape::states; s++)
        gradient[s] = here == nothing ? 0.0f : to_float(static_cast<const Scalar*>(arguments.last_gradient)[s * step_elements + here]);
#pragma unroll
      for (int s = 0; s < at_least_one(Cell::saved_states); s++)
        after[group][s] =
            here == nothing || Cell::saved_states == 0 ? 0.0f : arguments.saved_states[(plane + here) * Cell::saved_states + s];
      Cell::begin_backward(gradient, after[group], carried[group]);
      element[group] = here == nothing ? nothing : plane - step_elements + here;
    }
  }

  // From R^T times the gradients of the step after, to the gradients of this step.
  __device__ __forceinline__ void step(int group, float through_recurrence, const StepRecord<Cell>& record) {
    const float hidden_gradient = through_recurrence + record.output_gradient + carried[group][0];
    Cell::backward(hidden_gradient, record, after[group], carried[group], input_gradient[group], recurrent_gradient[group]);
#pragma unroll
    for (int s = 0; s < Cell::saved_states; s++) after[group][s] = record.before[s];
  }

  // After the gradients are on their way to the other units.
  __device__ __forceinline__ void write() {
#pragma unroll
    for (int group = 0; group < Shape::warp_groups; group++) {
      if (element[group] == nothing) continue;
      write_values<Scalar>(input_target + element[group] * Shape::gates, input_gradient[group]);
      if constexpr (Cell::separate_gradients) write_values<Scalar>(recurrent_target + element[group] * Shape::gates, recurrent_gradient[group]);
      element[group] -= step_elements;
    }
  }

  // Gradients by the states before the first step, of one group.
  __device__ __forceinline__ void finish(int group, float through_recurrence, const BackwardArguments& arguments, int head, int first_row,
                                         int first_unit, const Lane<Shape>& lane) const {
    const size_t here = first_element(arguments, group, head, first_row, first_unit, lane);
    if (here == nothing) return;
    float gradient[Shape::states];
    Cell::end_backward(through_recurrence + carried[group][0], after[group], carried[group], gradient);
#pragma unroll
    for (int s = 0; s < Shape::states; s++)
      static_cast<Scalar*>(arguments.initial_gradient)[s * step_elements + here] = from_float<Scalar>(gradient[s]);
  }

 private:
  // In [B, H, D].
  static __device__ __forceinline__ size_t first_element(const BackwardArguments& arguments, int group, int head, int first_row, int first_unit,
                                                         const Lane<Shape>& lane) {
    const int row = first_row + lane.batch_row(group), unit = first_unit + lane.unit(group);
    if (!lane.finishes() || row >= arguments.batch) return nothing;
    return (static_cast<size_t>(row) * arguments.heads + head) * Shape::head_dim + unit;
  }
};

// The gradients of this lane's element of group `group` into the tile, as operands of the step before.
template <class Shape>
__device__ __forceinline__ void store_operands(const OperandTile<Shape>& tile, int buffer, int row, int unit, const float (&value)[Shape::operands]) {
  using Scalar = typename Shape::Scalar;
  if constexpr (Shape::operands == 4) {
    *reinterpret_cast<uint2*>(tile.at(buffer, row, unit * 4)) =
        make_uint2(Scalar::pack(value[0], value[1]), Scalar::pack(value[2], value[3]));
  } else {
#pragma unroll
    for (int i = 0; i < Shape::operands; i++) *tile.at(buffer, row, unit * Shape::operands + i) = from_float<Scalar>(value[i]);
  }
}

}  // namespace kerneltune
