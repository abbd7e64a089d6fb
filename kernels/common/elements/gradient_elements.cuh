// The elements of one lane in the backward pass: what they carry from step to step, and their gradients.
#pragma once
#include "../numeric/activations.cuh"
#include "../arguments.cuh"
#include "../shape/backward_shape.cuh"
#include "element_gradients.cuh"
#include "gate_words.cuh"
#include "../rings/gradient_ring.cuh"
#include "../exchange/operand_tile.cuh"
#include "../numeric/scalar.cuh"

namespace kerneltune {

template <class Cell, class Shape>
struct GradientElements {
  using Scalar = typename Shape::Scalar;
  static constexpr int groups_per_unit = Shape::n_tiles * Shape::columns_per_lane;
  static constexpr int unit_sets =
      Shape::warp_groups < groups_per_unit ? 1 : Shape::warp_groups / groups_per_unit;
  static constexpr size_t nothing = ~static_cast<size_t>(0);

  float carried[Shape::warp_groups][Cell::carried];                   // gradients that do not pass through R
  float after[Shape::warp_groups][at_least_one(Cell::saved_states)];  // states after h, after the step
  UnitWeights<Cell> weights[unit_sets];
  GateWords<Shape> words[Shape::warp_groups];  // of the step just computed
  Scalar* target;                              // gradients by W x or by R h + bias, as the lane's words are
  Scalar* input_target;                        // gradients by W x, where the lane has words of both
  size_t step_elements;
  // Where the gradients of the coming step go, for lanes that write some. Addresses are kept and nothing
  // branches, so the compiler can place the instructions where a step waits.
  Scalar* place[Shape::warp_groups];
  Scalar* input_place[Shape::warp_groups];
  bool writes[Shape::warp_groups];

  // Loads what is known after the last step. delay: number of steps before the first call of write finds
  // gradients.
  __device__ __forceinline__ void begin(const BackwardArguments& arguments, int head, int first_row,
                                        int first_unit, const Lane<Shape>& lane, int delay = 0) {
    begin_steps(arguments, lane);
#pragma unroll
    for (int group = 0; group < Shape::warp_groups; group++) {
      const size_t here = begin_group(group, arguments, head, first_row, first_unit, lane);
      writes[group] = here != nothing && (Cell::separate_gradients || GateWords<Shape>::of_input(lane));
      const size_t element = (static_cast<size_t>(arguments.steps) + delay - 1) * step_elements +
                             (writes[group] ? here - GateWords<Shape>::units_before(lane) : 0);
      place[group] = target + element * Shape::gates;
      if constexpr (GateWords<Shape>::keeps_input) input_place[group] = input_target + element * Shape::gates;
    }
  }

  // The two parts of begin: for all groups, and for one group, whose place in [B, H, D] is returned.
  __device__ __forceinline__ void begin_steps(const BackwardArguments& arguments, const Lane<Shape>& lane) {
    const bool to_input = GateWords<Shape>::of_input(lane) && !GateWords<Shape>::keeps_input;
    target = static_cast<Scalar*>(to_input ? arguments.input_gradient : arguments.recurrent_gradient);
    if constexpr (GateWords<Shape>::keeps_input)
      input_target = static_cast<Scalar*>(arguments.input_gradient);
    step_elements = static_cast<size_t>(arguments.batch) * arguments.heads * Shape::head_dim;
  }
  __device__ __forceinline__ size_t begin_group(int group, const BackwardArguments& arguments, int head,
                                                int first_row, int first_unit, const Lane<Shape>& lane) {
    if constexpr (weights_of<Cell> > 0)
      if (group % groups_per_unit == 0)
        weights[group / groups_per_unit].template load<Scalar>(
            arguments, head, Shape::head_dim, first_unit + lane.unit(group), lane.finishes());
    const size_t here = first_element(arguments, group, head, first_row, first_unit, lane);
    const size_t plane = static_cast<size_t>(arguments.steps) * step_elements;
    float gradient[Shape::states];
#pragma unroll
    for (int s = 0; s < Shape::states; s++)
      gradient[s] =
          here == nothing
              ? 0.0f
              : to_float(static_cast<const Scalar*>(arguments.last_gradient)[s * step_elements + here]);
#pragma unroll
    for (int s = 0; s < at_least_one(Cell::saved_states); s++)
      after[group][s] = here == nothing || Cell::saved_states == 0
                            ? 0.0f
                            : arguments.saved_states[(plane + here) * Cell::saved_states + s];
    Cell::begin_backward(gradient, after[group], carried[group]);
    return here;
  }

  // From R^T times the gradients of the following step to the gradients of this step.
  __device__ __forceinline__ void step(int group, float through_recurrence, const StepRecord<Cell>& record,
                                       const Lane<Shape>& lane) {
    float input_gradient[Shape::gates], recurrent_gradient[Shape::gates];
    element_gradients<Cell, Shape>(through_recurrence, record, after[group], weights[group / groups_per_unit],
                                   carried[group], input_gradient, recurrent_gradient);
    words[group].pack(input_gradient, recurrent_gradient, lane);
#pragma unroll
    for (int s = 0; s < Cell::saved_states; s++) after[group][s] = record.before[s];
  }

  // Writes the gradients of the coming step, if `wanted`. Called after they are on their way to the other
  // units.
  __device__ __forceinline__ void write(bool wanted = true) {
#pragma unroll
    for (int group = 0; group < Shape::warp_groups; group++) {
      if (wanted && writes[group]) words[group].write(place[group]);
      place[group] -= step_elements * Shape::gates;
      if constexpr (GateWords<Shape>::keeps_input) {
        if (wanted && writes[group]) words[group].write_input(input_place[group]);
        input_place[group] -= step_elements * Shape::gates;
      }
    }
  }

  // Writes the gradients by the states before the first step, of one group.
  __device__ __forceinline__ void finish(int group, float through_recurrence,
                                         const BackwardArguments& arguments, int head, int first_row,
                                         int first_unit, const Lane<Shape>& lane) const {
    const size_t here = first_element(arguments, group, head, first_row, first_unit, lane);
    if (here == nothing) return;
    float gradient[Shape::states];
    Cell::end_backward(recurrent_part<Shape>(through_recurrence) + carried[group][0], after[group],
                       carried[group], gradient);
#pragma unroll
    for (int s = 0; s < Shape::states; s++)
      static_cast<Scalar*>(arguments.initial_gradient)[s * step_elements + here] =
          from_float<Scalar>(gradient[s]);
  }

 private:
  // Place in [B, H, D].
  static __device__ __forceinline__ size_t first_element(const BackwardArguments& arguments, int group,
                                                         int head, int first_row, int first_unit,
                                                         const Lane<Shape>& lane) {
    const int row = first_row + lane.batch_row(group), unit = first_unit + lane.unit(group);
    if (!lane.finishes() || row >= arguments.batch) return nothing;
    return (static_cast<size_t>(row) * arguments.heads + head) * Shape::head_dim + unit;
  }
};

// Stores the words of this lane's element in the tile, as operands of the preceding step. row: batch row;
// unit: of the head.
template <class Shape>
__device__ __forceinline__ void store_operands(const OperandTile<Shape>& tile, int buffer, int row, int unit,
                                               const GateWords<Shape>& words, const Lane<Shape>& lane) {
  if (!GateWords<Shape>::of_recurrent(lane)) return;
  using Words = GateWords<Shape>;
  const int k = (unit - Words::units_before(lane)) * Shape::gates;
  if constexpr (Words::count == 4) {
    *reinterpret_cast<uint4*>(tile.at(buffer, row, k)) =
        make_uint4(words.word[0], words.word[1], words.word[2], words.word[3]);
  } else if constexpr (Words::count == 2) {
    *reinterpret_cast<uint2*>(tile.at(buffer, row, k)) = make_uint2(words.word[0], words.word[1]);
  } else {
#pragma unroll
    for (int i = 0; i < Words::count; i++)
      *reinterpret_cast<unsigned*>(tile.at(buffer, row, k + Words::word_values * i)) = words.word[i];
  }
}

}  // namespace kerneltune
