// The two passes of a cell as linear scans. Backward reads the first gradient_inputs of the cell's inputs:
// gradients need no more. Forward carries h; backward runs the other way in time and carries G, the gradient
// by h
// before the step: with D the gradient by h after it from outside, g = D + G is the whole gradient, and the
// next G is a g. So backward is a scan
// with the cell's own a, unshifted.
#pragma once

namespace kerneltune {

template <class Cell, bool BACKWARD>
struct ScanPass;

template <class Cell>
struct ScanPass<Cell, false> {
  static constexpr int loads = Cell::inputs;
  static constexpr int outputs = 1;
  static constexpr int hidden = -1;  // which of the arrays that are read is h before the step
  static constexpr bool computes = Cell::computes;

  template <class Math>
  static __device__ __forceinline__ void coefficients(const float (&read)[loads], float& a, float& b) {
    Cell::template coefficients<Math>(read, a, b);
  }

  // state: after the step.
  template <class Math>
  static __device__ __forceinline__ void results(const float (&)[loads], float, float, float state,
                                                 float (&result)[outputs]) {
    result[0] = state;
  }
};

template <class Cell>
struct ScanPass<Cell, true> {
  static constexpr int loads = Cell::gradient_inputs + 2;
  static constexpr int outputs = Cell::inputs;
  static constexpr int hidden = Cell::gradient_inputs;
  static constexpr int gradient = Cell::gradient_inputs + 1;
  static constexpr bool computes = Cell::computes;

  template <class Math>
  static __device__ __forceinline__ void coefficients(const float (&read)[loads], float& a, float& b) {
    float input[Cell::inputs];
    take(read, input);
    float unused;
    Cell::template coefficients<Math>(input, a, unused);
    b = a * read[gradient];
  }

  // before: h before the step; entering: G of the step after.
  template <class Math>
  static __device__ __forceinline__ void results(const float (&read)[loads], float before, float entering,
                                                 float, float (&result)[outputs]) {
    float input[Cell::inputs];
    take(read, input);
    Cell::template gradients<Math>(input, before, read[gradient] + entering, result);
  }

 private:
  static __device__ __forceinline__ void take(const float (&read)[loads], float (&input)[Cell::inputs]) {
#pragma unroll
    for (int i = 0; i < Cell::inputs; i++) input[i] = i < Cell::gradient_inputs ? read[i] : 0.0f;
  }
};

}  // namespace kerneltune
