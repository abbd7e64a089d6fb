// The forward product R h: a row for each gate of a unit, summed over the units of h.
#pragma once
#include "product_shape.cuh"

namespace kerneltune {

// The properties of the forward pass that do not depend on how its product is divided.
template <class Cell, class Tiling>
struct ForwardPass {
  static constexpr int gates = Cell::gates;
  static constexpr int states = Cell::states;
  // Bound of h after each step, representable in storage; 0 for none.
  static constexpr float forward_clip = Tiling::forward_clip;
  // Whether the backward pass's data is saved: the pass "training".
  static constexpr bool saves = Tiling::saves;
};

template <class Cell, class Tiling>
struct ForwardShape : ProductShape<Tiling, Cell::gates, 1>, ForwardPass<Cell, Tiling> {
  // The word of weights of row `gate` of a unit that begins at k of the sum; zeros if not present. recurrent:
  // R of all heads.
  static __device__ __forceinline__ unsigned weight_word(const void* recurrent, bool present, int head,
                                                         int gate, int unit, int k) {
    const size_t row = (static_cast<size_t>(head) * Cell::gates + gate) * Tiling::head_dim + unit;
    const size_t index = (row * Tiling::head_dim + k) / (4 / sizeof(typename Tiling::Scalar));
    return present ? static_cast<const unsigned*>(recurrent)[index] : 0u;
  }
};

}  // namespace kerneltune
