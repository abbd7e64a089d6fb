// What a step of each pass of a cell is, for strategies that take steps in order.
//
// A cell that is not linear in its state gives
//   step<Math>(input, weight, state): the state after the step in place of the state before it; state[0] is
// h;
//   backward<Math>(input, weight, before, gradient, by_input, by_weight): from the gradient by the state
// after the step, in its place that
//   by the state before it, and what the step adds to the gradients by its inputs and weights.
#pragma once
#include "scan_pass.cuh"

namespace kerneltune {

// The length of an array of a number for each weight: an array has one element at least.
static constexpr __host__ __device__ int length_for(int weights) { return weights > 0 ? weights : 1; }

template <class Cell, class = void>
struct IsLinear {
  static constexpr bool value = true;
};
template <class Cell>
struct IsLinear<Cell, decltype(static_cast<void>(Cell::weights))> {
  static constexpr bool value = false;
};

template <class Cell, bool BACKWARD, bool LINEAR = IsLinear<Cell>::value>
struct Steps;

template <class Cell, bool BACKWARD>
struct Steps<Cell, BACKWARD, true> : ScanPass<Cell, BACKWARD> {
  using Base = ScanPass<Cell, BACKWARD>;
  static constexpr int states = 1;
  static constexpr int weights = 0;
  static constexpr bool differentiates = false;

  template <class Math>
  static __device__ __forceinline__ void step(const float (&read)[Base::loads], const float*, float before,
                                              bool reset, float (&state)[1], float (&result)[Base::outputs]) {
    float a, b;
    Base::template coefficients<Math>(read, a, b);
    if (reset && BACKWARD) b = 0.0f;  // no gradient passes to what was dropped
    const float entering = state[0];
    state[0] = reset ? b : fmaf(a, entering, b);
    Base::template results<Math>(read, before, entering, state[0], result);
  }
};

template <class Cell>
struct Steps<Cell, false, false> {
  static constexpr int loads = Cell::inputs;
  static constexpr int outputs = 1;
  static constexpr int hidden = -1;
  static constexpr int states = Cell::states;
  static constexpr int weights = Cell::weights;
  static constexpr bool differentiates = false;

  template <class Math>
  static __device__ __forceinline__ void step(const float (&read)[loads],
                                              const float (&weight)[length_for(weights)], float, bool reset,
                                              float (&state)[states], float (&result)[1]) {
    if (reset)
#pragma unroll
      for (int i = 0; i < states; i++) state[i] = 0.0f;
    Cell::template step<Math>(read, weight, state);
    result[0] = state[0];
  }
};

// Backward: the state that is carried is the gradient by the cell's state.
template <class Cell>
struct Steps<Cell, true, false> {
  static constexpr int loads = Cell::inputs + 1;
  static constexpr int outputs = Cell::inputs;
  static constexpr int hidden = -2;
  static constexpr int gradient = Cell::inputs;
  static constexpr int states = Cell::states;
  static constexpr int weights = Cell::weights;
  static constexpr bool differentiates = true;
};

// jacobian = (of the step) * jacobian, or (of the step, transposed) * jacobian where gradients are carried.
template <class Math, class Cell, bool TRANSPOSED>
__device__ __forceinline__ void chain_jacobian(const float (&input)[Cell::inputs],
                                               const float (&weight)[length_for(Cell::weights)],
                                               const float (&before)[Cell::states],
                                               float (&jacobian)[Cell::states][Cell::states]) {
  constexpr int states = Cell::states;
  float of_step[states][states], found[states][states];
#pragma unroll
  for (int i = 0; i < states; i++) {
    float unused_input[Cell::inputs], unused_weight[length_for(Cell::weights)];
#pragma unroll
    for (int j = 0; j < states; j++) of_step[i][j] = i == j ? 1.0f : 0.0f;
    Cell::template backward<Math>(input, weight, before, of_step[i], unused_input, unused_weight);
  }
#pragma unroll
  for (int i = 0; i < states; i++)
#pragma unroll
    for (int j = 0; j < states; j++) {
      float sum = 0.0f;
#pragma unroll
      for (int k = 0; k < states; k++)
        sum = fmaf(TRANSPOSED ? of_step[k][i] : of_step[i][k], jacobian[k][j], sum);
      found[i][j] = sum;
    }
#pragma unroll
  for (int i = 0; i < states; i++)
#pragma unroll
    for (int j = 0; j < states; j++) jacobian[i][j] = found[i][j];
}

}  // namespace kerneltune
