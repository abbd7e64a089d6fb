// The finished elements of one lane: states in float32 for the whole sequence, bias, place in memory.
#pragma once
#include "../numeric/activations.cuh"
#include "../arguments.cuh"
#include "../shape/forward_shape.cuh"
#include "saved_steps.cuh"
#include "unit_weights.cuh"
#include "../numeric/scalar.cuh"

namespace kerneltune {

// Position in states [S, T + 1, B, H, D].
template <class Shape>
__device__ __forceinline__ size_t state_index(const ForwardArguments& arguments, int state, int time, int row,
                                              int head, int unit) {
  const size_t plane = static_cast<size_t>(state) * (arguments.steps + 1) + time;
  return ((plane * arguments.batch + row) * arguments.heads + head) * Shape::head_dim + unit;
}

template <class Cell, class Shape>
struct Elements {
  static constexpr int groups_per_unit = Shape::n_tiles * Shape::columns_per_lane;
  static constexpr int unit_sets =
      Shape::warp_groups < groups_per_unit ? 1 : Shape::warp_groups / groups_per_unit;
  static_assert(Shape::warp_groups % groups_per_unit == 0 || groups_per_unit % Shape::warp_groups == 0,
                "a warp finishes whole unit groups, or an equal part of one");

  float state[Shape::warp_groups][Shape::states];
  float bias[unit_sets][Shape::gates];
  UnitWeights<Cell> weights[unit_sets];
  SavedSteps<Cell, Shape> saved;

  // first_saved: the step that the first call of save finds.
  __device__ __forceinline__ void load(const ForwardArguments& arguments, int head, int first_row,
                                       int first_unit, const Lane<Shape>& lane, int first_saved = 0) {
    using Scalar = typename Shape::Scalar;
    const Scalar* states = static_cast<const Scalar*>(arguments.states);
    const Scalar* biases = static_cast<const Scalar*>(arguments.bias);
#pragma unroll
    for (int group = 0; group < Shape::warp_groups; group++) {
      const int row = first_row + lane.batch_row(group), unit = first_unit + lane.unit(group);
#pragma unroll
      for (int s = 0; s < Shape::states; s++)
        state[group][s] = lane.finishes() && row < arguments.batch
                              ? to_float(states[state_index<Shape>(arguments, s, 0, row, head, unit)])
                              : 0.0f;
    }
#pragma unroll
    for (int set = 0; set < unit_sets; set++)
#pragma unroll
      for (int gate = 0; gate < Shape::gates; gate++) {
        const int unit = first_unit + lane.unit(set * groups_per_unit);
        bias[set][gate] =
            lane.finishes()
                ? to_float(biases[(static_cast<size_t>(head) * Shape::gates + gate) * Shape::head_dim + unit])
                : 0.0f;
      }
    if constexpr (weights_of<Cell> > 0)
#pragma unroll
      for (int set = 0; set < unit_sets; set++)
        weights[set].template load<Scalar>(arguments, head, Shape::head_dim,
                                           first_unit + lane.unit(set * groups_per_unit), lane.finishes());
    if constexpr (Shape::saves) saved.begin(arguments, head, first_row, first_unit, state, lane, first_saved);
  }

  // Writes all states but h after the last step; h is written in every step.
  __device__ __forceinline__ void store_last(const ForwardArguments& arguments, int head, int first_row,
                                             int first_unit, const Lane<Shape>& lane) const {
    using Scalar = typename Shape::Scalar;
    if (!lane.finishes()) return;
#pragma unroll
    for (int group = 0; group < Shape::warp_groups; group++) {
      const int row = first_row + lane.batch_row(group), unit = first_unit + lane.unit(group);
      if (row >= arguments.batch) continue;
#pragma unroll
      for (int s = 1; s < Shape::states; s++)
        static_cast<Scalar*>(
            arguments.states)[state_index<Shape>(arguments, s, arguments.steps, row, head, unit)] =
            from_float<Scalar>(state[group][s]);
    }
  }

  // sum: W x + R h + bias of each gate, with W x only where adds_input is true. input: W x. Returns h.
  __device__ __forceinline__ float step(int group, const float (&sum)[Shape::gates],
                                        const float (&input)[Shape::gates]) {
    using Functions = Math<sizeof(typename Shape::Scalar) == 4>;
    if constexpr (weights_of<Cell> > 0)
      Cell::template step<Functions>(sum, input, weights[group / groups_per_unit].value, state[group],
                                     saved.values[group]);
    else
      Cell::template step<Functions>(sum, input, state[group], saved.values[group]);
    if constexpr (Shape::forward_clip > 0.0f) state[group][0] = bounded(state[group][0], Shape::forward_clip);
    return state[group][0];
  }

  // Saves what the backward pass needs of the step, if `wanted`. Called after the new h is on its way.
  __device__ __forceinline__ void save(bool wanted = true) {
    if constexpr (Shape::saves) saved.write(state, wanted);
  }

  // The initial value of this gate's accumulator, or what is added to a finished sum.
  __device__ __forceinline__ float offset(int group, int gate, float input) const {
    const float b = bias[group / groups_per_unit][gate];
    return Cell::adds_input(gate) ? b + input : b;
  }
};

}  // namespace kerneltune
