// How a step's matrix product of one head and batch tile is divided over the warps of a block.
// All numbers follow from the solved Tiling.
#pragma once

namespace kerneltune {

__host__ __device__ constexpr int round_up(int value, int multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// The length of an array that may be empty; C++ has no arrays of length 0.
__host__ __device__ constexpr int at_least_one(int count) { return count > 0 ? count : 1; }

// A product has RESULTS rows for each of a block's units, and batch_tile columns. It is summed over OPERANDS
// values of each of the head's units. Forward, R h: a row for each gate, one operand h. Backward, R^T d: one
// row, a gradient d for each gate. A warp computes the rows of warp_units units over one of k_splits equal
// parts of the sum. Position k of the sum holds value k % OPERANDS of unit k / OPERANDS.
//
// mma rows: halves of 8 rows, two to an m16 tile. The number of a half is unit_group * RESULTS + result, so
// one lane has all results of a unit. mma columns are batch rows. A batch tile of 4 uses every other column,
// which leaves each lane one element instead of two.
//
// Finished elements (unit, batch row) come in groups of 32, one for each lane. A group is (unit group, n
// tile, parity of the column). In a group, lane 4 g + q holds unit g of the unit group and batch row
// 4 parity + q of the n tile. So the batch rows in an n tile have the order 0 4 1 5 2 6 3 7.
//
// All exchanges use the same order of operands, [k / part][batch tile][part]. A group has 4 rows x 8 OPERANDS
// values in this order. A part is 16 bytes: 8 values of 16 bits or 4 of 32 bits.
template <class Tiling, int RESULTS, int OPERANDS>
struct ProductShape {
  using Scalar = typename Tiling::Scalar;
  static constexpr int results = RESULTS;
  static constexpr int operands = OPERANDS;
  static constexpr int head_dim = Tiling::head_dim;
  static constexpr int batch_tile = Tiling::batch_tile;
  static constexpr int block_units = Tiling::block_units;
  static constexpr int warp_units = Tiling::warp_units;
  static constexpr int k_splits = Tiling::k_splits;
  static constexpr int mma_chains = Tiling::mma_chains;
  static constexpr bool async_copy = Tiling::async_copy;  // whether the GPU has cp.async
  static constexpr int part = 16 / sizeof(Scalar);        // operands in 16 bytes
  // Operands of a k tile, 32 bytes. Two k tiles are read or copied at once.
  static constexpr int k_tile = 2 * part;

  static constexpr int unit_groups = warp_units / 8;  // of a warp
  static constexpr int unit_warps = block_units / warp_units;
  static constexpr int warps = unit_warps * k_splits;
  static constexpr int threads = warps * 32;
  static constexpr int row_halves = results * unit_groups;
  static constexpr int m_tiles = (row_halves + 1) / 2;  // an odd last half has zero weights
  static constexpr int n_tiles = (batch_tile + 7) / 8;
  static constexpr int k_size = operands * head_dim;
  static constexpr int warp_k_tiles = Tiling::warp_k_tiles;  // beyond k_size the weights are zero
  static constexpr int k_padded = warp_k_tiles * k_splits * k_tile;
  static constexpr int columns_per_lane = batch_tile < 8 ? 1 : 2;  // of an n tile
  static constexpr int groups = block_units / 8 * n_tiles * columns_per_lane;
  static constexpr int warp_groups = groups < warps ? 1 : groups / warps;
  static constexpr int finishing_warps = groups / warp_groups;

  static_assert(head_dim % 8 == 0 && block_units % warp_units == 0 && warp_units % 8 == 0,
                "units come in groups of 8");
  static_assert(batch_tile == 4 || batch_tile % 8 == 0, "batch rows come in tiles of 8, or 4");
  static_assert(groups % warp_groups == 0 && finishing_warps <= warps,
                "every warp finishes the same number of groups, or none");
  static_assert(k_padded >= k_size, "the sum must cover the head");

  // Batch row (of the tile) of mma column `column` of n tile `n`.
  static __device__ __forceinline__ int column_row(int n, int column) {
    return n * 8 + column % 2 * (batch_tile < 8 ? 0 : 4) + column / 2;
  }
};

// A lane's place in the mma fragments, and the elements that it finishes.
template <class Shape>
struct Lane {
  int warp = threadIdx.x / 32;
  int lane = threadIdx.x % 32;
  int row = lane / 4;   // g of the fragment layouts
  int quad = lane % 4;  // q
  int unit_warp = warp % Shape::unit_warps;
  int k_split = warp / Shape::unit_warps;

  __device__ __forceinline__ bool finishes() const { return warp < Shape::finishing_warps; }

  // Unit (of the block) and batch row (of the tile) of this lane's element of the warp's group `index`.
  __device__ __forceinline__ int unit(int index) const {
    return (warp * Shape::warp_groups + index) / (Shape::n_tiles * Shape::columns_per_lane) * 8 + row;
  }
  __device__ __forceinline__ int batch_row(int index) const { return group_batch_row(index, quad); }

  // Batch row of quad `q` in the warp's group `index`.
  __device__ __forceinline__ int group_batch_row(int index, int q) const {
    const int column_group = (warp * Shape::warp_groups + index) % (Shape::n_tiles * Shape::columns_per_lane);
    return column_group * 4 + q;
  }
};

}  // namespace kerneltune
