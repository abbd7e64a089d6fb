// The backward product R^T d: a row for each unit, summed over the gradients d of all gates.
#pragma once
#include "product_shape.cuh"

namespace kerneltune {

// The properties of the backward pass that do not depend on how its product is divided.
template <class Cell, class Tiling>
struct BackwardPass {
  static constexpr int gates = Cell::gates;
  static constexpr int states = Cell::states;
  // Bound of h in the forward pass; 0 for none.
  static constexpr float forward_clip = Tiling::forward_clip;
  // Bound of each gate's gradient; 0 for none.
  static constexpr float gate_gradient_clip = Tiling::gate_gradient_clip;
  static constexpr bool cut_recurrent_gradient =
      Tiling::cut_recurrent_gradient;  // no gradient passes through R h
  static constexpr bool separate_gradients =
      Cell::separate_gradients;  // whether those by W x and by R h + bias differ
};

template <class Cell, class Tiling>
struct BackwardShape : ProductShape<Tiling, 1, Cell::gates>, BackwardPass<Cell, Tiling> {
  using Scalar = typename Tiling::Scalar;
  static constexpr int gates = Cell::gates;

  // The word of weights of a unit's row that begins at k of the sum; zeros if not present. recurrent: R of
  // all heads.
  static __device__ __forceinline__ unsigned weight_word(const void* recurrent, bool present, int head, int,
                                                         int unit, int k) {
    // Hides k from the compiler. Otherwise it computes the addresses of all weights ahead and runs out of
    // registers. Not needed where all words of a lane have the same gate: one address and constants suffice.
    if constexpr (gates > 1 && (sizeof(Scalar) == 2 || gates % 2 == 1)) asm volatile("" : "+r"(k)::"memory");
    if constexpr (sizeof(Scalar) == 4)
      return present ? weight(recurrent, head, unit, k) : 0u;
    else
      return present ? weight(recurrent, head, unit, k) | weight(recurrent, head, unit, k + 1) << 16 : 0u;
  }

 private:
  static __device__ __forceinline__ unsigned weight(const void* recurrent, int head, int unit, int k) {
    const size_t row = (static_cast<size_t>(head) * gates + k % gates) * Tiling::head_dim + k / gates;
    return static_cast<const Scalar*>(recurrent)[row * Tiling::head_dim + unit].bits;
  }
};

}  // namespace kerneltune
