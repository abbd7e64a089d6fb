// The two passes of a cell as what tiles are made of: numbers that are read of a channel's step, flat, become
// a and b, and then results.
//
// A cell whose h is one number has the passes of scan_pass.cuh. One whose arrays have several numbers a channel
// names
//
//   Factor: what its a is (factors.cuh); inputs: numbers of all arrays, in their order; arrays: how many there
//   are; first_width: numbers of the first; gradient_arrays: the first ones, which gradients depend on;
//   coefficients(input, a, b), and gradients(input, before, gradient, by_input), from h before a step and the
//   gradient by h after it.
#pragma once
#include "factors.cuh"
#include "scan_pass.cuh"

namespace kerneltune {

template <class Cell, bool BACKWARD, class = void>
struct TilePass : ScanPass<Cell, BACKWARD> {
  using Base = ScanPass<Cell, BACKWARD>;
  using Factor = RealFactor;
  static constexpr int read_numbers = Base::loads;
  static constexpr int result_numbers = Base::outputs;
  static constexpr int widest = 1;

  // Numbers of a channel in an array that is read, and in one that is written.
  static constexpr __device__ __forceinline__ int width(int) { return 1; }
  static constexpr __device__ __forceinline__ int first_number(int array) { return array; }
  static constexpr __device__ __forceinline__ int result_width(int) { return 1; }

  template <class Math>
  static __device__ __forceinline__ void coefficients(const float (&read)[read_numbers], float (&a)[1],
                                                      float (&b)[1]) {
    Base::template coefficients<Math>(read, a[0], b[0]);
  }
  template <class Math>
  static __device__ __forceinline__ void results(const float (&read)[read_numbers], const float (&before)[1],
                                                 const float (&entering)[1], const float (&state)[1],
                                                 float (&result)[result_numbers]) {
    Base::template results<Math>(read, before[0], entering[0], state[0], result);
  }
};

// The arrays of a cell with a Factor: the first has numbers of its own, any other as many as h.
template <class Cell_>
struct ArraysPass {
  using Cell = Cell_;
  using Factor = typename Cell::Factor;
  static constexpr bool computes = false;  // coefficients are computed again where they are wanted again
  static constexpr int widest = Cell::first_width > Factor::states ? Cell::first_width : Factor::states;

  static constexpr __device__ __forceinline__ int result_width(int output) {
    return output == 0 ? Cell::first_width : Factor::states;
  }
};

template <class Cell>
struct TilePass<Cell, false, decltype(static_cast<void>(sizeof(typename Cell::Factor)))> : ArraysPass<Cell> {
  using Factor = typename Cell::Factor;
  static constexpr int loads = Cell::arrays;
  static constexpr int outputs = 1;
  static constexpr int hidden = -1;
  static constexpr int read_numbers = Cell::inputs;
  static constexpr int result_numbers = Factor::states;

  static constexpr __device__ __forceinline__ int width(int array) {
    return array == 0 ? Cell::first_width : Factor::states;
  }
  static constexpr __device__ __forceinline__ int first_number(int array) {
    return array == 0 ? 0 : Cell::first_width + (array - 1) * Factor::states;
  }
  static constexpr __device__ __forceinline__ int result_width(int) { return Factor::states; }

  template <class Math>
  static __device__ __forceinline__ void coefficients(const float (&read)[read_numbers],
                                                      float (&a)[Factor::numbers],
                                                      float (&b)[Factor::states]) {
    Cell::template coefficients<Math>(read, a, b);
  }
  template <class Math>
  static __device__ __forceinline__ void results(const float (&)[read_numbers],
                                                 const float (&)[Factor::states],
                                                 const float (&)[Factor::states],
                                                 const float (&state)[Factor::states],
                                                 float (&result)[result_numbers]) {
#pragma unroll
    for (int i = 0; i < Factor::states; i++) result[i] = state[i];
  }
};

template <class Cell>
struct TilePass<Cell, true, decltype(static_cast<void>(sizeof(typename Cell::Factor)))> : ArraysPass<Cell> {
  using Factor = typename Cell::Factor;
  static constexpr int read_arrays = Cell::gradient_arrays;
  static constexpr int loads = read_arrays + 2;  // then h before the step, the gradient by h
  static constexpr int outputs = Cell::arrays;
  static constexpr int hidden = read_arrays;
  static constexpr int gradient = read_arrays + 1;

  static constexpr __device__ __forceinline__ int width(int array) {
    return array == 0 && read_arrays > 0 ? Cell::first_width : Factor::states;
  }
  static constexpr __device__ __forceinline__ int first_number(int array) {
    return array == 0 ? 0 : width(0) + (array - 1) * Factor::states;
  }
  static constexpr int read_numbers =
      (read_arrays > 0 ? Cell::first_width : Factor::states) + (loads - 1) * Factor::states;
  static constexpr int result_numbers = Cell::inputs;

  template <class Math>
  static __device__ __forceinline__ void coefficients(const float (&read)[read_numbers],
                                                      float (&a)[Factor::numbers],
                                                      float (&b)[Factor::states]) {
    float input[Cell::inputs], forward[Factor::numbers], unused[Factor::states];
    const float zero[Factor::states] = {};
    take(read, input);
    Cell::template coefficients<Math>(input, forward, unused);
    Factor::transposed(forward, a);
#pragma unroll
    for (int i = 0; i < Factor::states; i++) b[i] = read[first_number(gradient) + i];
    Factor::apply(a, zero, b);
  }
  template <class Math>
  static __device__ __forceinline__ void results(const float (&read)[read_numbers],
                                                 const float (&before)[Factor::states],
                                                 const float (&entering)[Factor::states],
                                                 const float (&)[Factor::states],
                                                 float (&result)[result_numbers]) {
    float input[Cell::inputs], whole[Factor::states];
    take(read, input);
#pragma unroll
    for (int i = 0; i < Factor::states; i++) whole[i] = read[first_number(gradient) + i] + entering[i];
    Cell::template gradients<Math>(input, before, whole, result);
  }

 private:
  static __device__ __forceinline__ void take(const float (&read)[read_numbers],
                                              float (&input)[Cell::inputs]) {
#pragma unroll
    for (int i = 0; i < Cell::inputs; i++)
      input[i] = read_arrays > 0 && i < first_number(read_arrays) ? read[i] : 0.0f;
  }
};

// A cell that names what links its steps: several states, weights, an output beside the states (states_segment.cuh).
template <class Cell_, bool BACKWARD>
struct TilePass<Cell_, BACKWARD, decltype(static_cast<void>(sizeof(typename Cell_::Linked)))> {
  using Cell = Cell_;
  using Factor = typename Cell::Linked;
  static constexpr int loads = Cell::inputs + BACKWARD;
  static constexpr int outputs = BACKWARD ? Cell::inputs : 1;
  static constexpr int hidden = BACKWARD ? -2 : -1;
  static constexpr int gradient = Cell::inputs;
  static constexpr bool computes = true;
  static constexpr int read_numbers = loads;
  static constexpr int result_numbers = outputs;
  static constexpr int widest = 1;

  static constexpr __device__ __forceinline__ int width(int) { return 1; }
  static constexpr __device__ __forceinline__ int first_number(int array) { return array; }
};

}  // namespace kerneltune
