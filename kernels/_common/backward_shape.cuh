// The backward product R^T d: one row for each unit, summed over the gradients d of all gates of the head's units.
#pragma once
#include "product_shape.cuh"

namespace kerneltune {

template <class Cell, class Tiling>
struct BackwardShape : ProductShape<Tiling, 1, Cell::gates> {
  static constexpr int gates = Cell::gates;
  static constexpr int states = Cell::states;
  static constexpr float gate_gradient_clip = Tiling::gate_gradient_clip;  // bound of each gate's gradient; 0 for none
  static constexpr bool cut_recurrent_gradient = Tiling::cut_recurrent_gradient;  // no gradient passes through R h

  static_assert(sizeof(typename Tiling::Scalar) == 2, "the backward pass is written for 16-bit storage");

  // The weights of a unit's row at k and k + 1 of the sum; zeros if not present. recurrent: R of all heads.
  static __device__ __forceinline__ unsigned weight_word(const void* recurrent, bool present, int head, int, int unit, int k) {
    // Hides k from the compiler, which would otherwise compute the addresses of all weights ahead and run out of registers.
    if constexpr (gates > 1) asm volatile("" : "+r"(k)::"memory");
    return present ? weight(recurrent, head, unit, k) | weight(recurrent, head, unit, k + 1) << 16 : 0u;
  }

 private:
  static __device__ __forceinline__ unsigned weight(const void* recurrent, int head, int unit, int k) {
    const size_t row = (static_cast<size_t>(head) * gates + k % gates) * Tiling::head_dim + k / gates;
    return static_cast<const unsigned short*>(recurrent)[row * Tiling::head_dim + unit];
  }
};

}  // namespace kerneltune
