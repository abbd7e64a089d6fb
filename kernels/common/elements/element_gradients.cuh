// The gradients of one element of a step, and what they are computed from.
#pragma once
#include "../numeric/activations.cuh"
#include "../shape/product_shape.cuh"
#include "unit_weights.cuh"

namespace kerneltune {

// What the backward pass reads of a step of one element.
template <class Cell>
struct StepRecord {
  float value[at_least_one(Cell::saved_values)];
  float before[at_least_one(Cell::saved_states)];  // states after h, before the step
  float hidden;                                    // h, if Cell::hidden_read >= 0
  float output;                                    // h after the step, if the forward pass bounded it
  float output_gradient;
};

// What of R^T times the gradients of the following step reaches h.
template <class Shape>
__device__ __forceinline__ float recurrent_part(float through_recurrence) {
  return Shape::cut_recurrent_gradient ? 0.0f : through_recurrence;
}

// From R^T times the gradients of the following step to the gradients of this step, of one element.
template <class Cell, class Shape>
__device__ __forceinline__ void element_gradients(float through_recurrence, const StepRecord<Cell>& record,
                                                  const float (&after)[at_least_one(Cell::saved_states)],
                                                  const UnitWeights<Cell>& weights,
                                                  float (&carried)[Cell::carried],
                                                  float (&input_gradient)[Cell::gates],
                                                  float (&recurrent_gradient)[Cell::gates]) {
  float hidden_gradient = recurrent_part<Shape>(through_recurrence) + record.output_gradient + carried[0];
  // Where h has reached the bound, no gradient passes through it.
  if constexpr (Shape::forward_clip > 0.0f)
    hidden_gradient = fabsf(record.output) >= Shape::forward_clip ? 0.0f : hidden_gradient;
  using Functions = Math<sizeof(typename Shape::Scalar) == 4>;
  if constexpr (weights_of<Cell> > 0)
    Cell::template backward<Functions>(hidden_gradient, record, after, weights.value, carried, input_gradient,
                                       recurrent_gradient);
  else
    Cell::template backward<Functions>(hidden_gradient, record, after, carried, input_gradient,
                                       recurrent_gradient);
  if constexpr (Shape::gate_gradient_clip > 0.0f) {
#pragma unroll
    for (int gate = 0; gate < Cell::gates; gate++) {
      input_gradient[gate] = bounded(input_gradient[gate], Shape::gate_gradient_clip);
      recurrent_gradient[gate] = bounded(recurrent_gradient[gate], Shape::gate_gradient_clip);
    }
  }
}

}  // namespace kerneltune
