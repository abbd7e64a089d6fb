// The two passes of a cell as what tiles are made of: numbers that are read of a channel's step, flat, become
// a and b, and then results.
//
// A cell whose h is one number has the passes of scan_pass.cuh. A cell that names a Factor reads its a and b
// from memory, as they are.
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

template <class Cell>
struct TilePass<Cell, false, decltype(static_cast<void>(sizeof(typename Cell::Factor)))> {
  using Factor = typename Cell::Factor;
  static constexpr int loads = 2;  // a, b
  static constexpr int outputs = 1;
  static constexpr int hidden = -1;
  static constexpr bool computes = false;
  static constexpr int read_numbers = Factor::numbers + Factor::states;
  static constexpr int result_numbers = Factor::states;
  static constexpr int widest = Factor::numbers;

  static constexpr __device__ __forceinline__ int width(int array) {
    return array == 0 ? Factor::numbers : Factor::states;
  }
  static constexpr __device__ __forceinline__ int first_number(int array) {
    return array == 0 ? 0 : Factor::numbers + (array - 1) * Factor::states;
  }
  static constexpr __device__ __forceinline__ int result_width(int) { return Factor::states; }

  template <class Math>
  static __device__ __forceinline__ void coefficients(const float (&read)[read_numbers],
                                                      float (&a)[Factor::numbers],
                                                      float (&b)[Factor::states]) {
#pragma unroll
    for (int i = 0; i < Factor::numbers; i++) a[i] = read[i];
#pragma unroll
    for (int i = 0; i < Factor::states; i++) b[i] = read[Factor::numbers + i];
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
struct TilePass<Cell, true, decltype(static_cast<void>(sizeof(typename Cell::Factor)))> {
  using Factor = typename Cell::Factor;
  static constexpr int loads = 3;  // a, h before the step, the gradient by h
  static constexpr int outputs = 2;
  static constexpr int hidden = 1;
  static constexpr int gradient = 2;
  static constexpr bool computes = false;
  static constexpr int read_numbers = Factor::numbers + 2 * Factor::states;
  static constexpr int result_numbers = Factor::numbers + Factor::states;
  static constexpr int widest = Factor::numbers;

  static constexpr __device__ __forceinline__ int width(int array) {
    return array == 0 ? Factor::numbers : Factor::states;
  }
  static constexpr __device__ __forceinline__ int first_number(int array) {
    return array == 0 ? 0 : Factor::numbers + (array - 1) * Factor::states;
  }
  static constexpr __device__ __forceinline__ int result_width(int output) { return width(output); }

  template <class Math>
  static __device__ __forceinline__ void coefficients(const float (&read)[read_numbers],
                                                      float (&a)[Factor::numbers],
                                                      float (&b)[Factor::states]) {
    float forward[Factor::numbers], zero[Factor::states] = {};
#pragma unroll
    for (int i = 0; i < Factor::numbers; i++) forward[i] = read[i];
    Factor::transposed(forward, a);
#pragma unroll
    for (int i = 0; i < Factor::states; i++) b[i] = read[Factor::numbers + Factor::states + i];
    Factor::apply(a, zero, b);
  }
  template <class Math>
  static __device__ __forceinline__ void results(const float (&read)[read_numbers],
                                                 const float (&before)[Factor::states],
                                                 const float (&entering)[Factor::states],
                                                 const float (&)[Factor::states],
                                                 float (&result)[result_numbers]) {
    float whole[Factor::states], by_a[Factor::numbers];
#pragma unroll
    for (int i = 0; i < Factor::states; i++)
      whole[i] = read[Factor::numbers + Factor::states + i] + entering[i];
    Factor::outer(whole, before, by_a);
#pragma unroll
    for (int i = 0; i < result_numbers; i++)
      result[i] = i < Factor::numbers ? by_a[i] : whole[i - Factor::numbers];
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
