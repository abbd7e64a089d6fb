// The forward product R h: a row for each gate of a unit, summed over the units of h.
#pragma once
#include "product_shape.cuh"

namespace kerneltune {

template <class Cell, class Tiling>
struct ForwardShape : ProductShape<Tiling, Cell::gates, 1> {
  static constexpr int gates = Cell::gates;
  static constexpr int states = Cell::states;
  static constexpr bool saves = Tiling::saves;  // whether what the backward pass needs is kept: the pass "training"

  // The weights of row `gate` of a unit at k and k + 1 of the sum, k even; zeros if not present. recurrent: R of all heads.
  static __device__ __forceinline__ unsigned weight_pair(const void* recurrent, bool present, int head, int gate, int unit, int k) {
    const size_t row = (static_cast<size_t>(head) * gates + gate) * Tiling::head_dim + unit;
    const size_t index = (row * Tiling::head_dim + k) / 2;
    return present ? static_cast<const unsigned*>(recurrent)[index] : 0u;
  }
};

}  // namespace kerneltune
