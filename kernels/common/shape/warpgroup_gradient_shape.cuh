// How a step's product R^T d of one head and batch tile is divided over the blocks of a group and their
// warpgroups. All numbers follow from the solved Tiling. wgmma.cuh has the products.
#pragma once
#include "backward_shape.cuh"

namespace kerneltune {

// Rows are batch rows, 64 for each warpgroup; columns are the block's units. The sum runs over the gradients
// of all gates of all units. Each unit has one place in it for its only gate, or four; a fourth gate that is
// missing has zeros there, in R and in d.
template <class Cell, class Tiling>
struct WarpgroupGradientShape : BackwardPass<Cell, Tiling> {
  using Scalar = typename Tiling::Scalar;
  static constexpr int head_dim = Tiling::head_dim;
  static constexpr int block_units = Tiling::block_units;
  static constexpr int warpgroups = Tiling::warpgroups;
  static constexpr int batch_tile = 64 * warpgroups;
  static constexpr int operands = Cell::gates == 1 ? 1 : 4;  // of a unit
  static constexpr int warps = 4 * warpgroups;               // that compute
  static constexpr int group_blocks = head_dim / block_units;
  static constexpr int part = 16 / sizeof(Scalar);
  static constexpr int k_tile = 2 * part;
  static constexpr int k_tiles = head_dim * operands / k_tile;
  static constexpr int part_k_tiles = block_units * operands / k_tile;  // of a block's own units
  static constexpr int n_tiles = block_units / 8;
  static_assert(Cell::gates == 1 || Cell::gates == 3 || Cell::gates == 4, "units of one gate, three or four");
  static_assert(sizeof(Scalar) == 2 && head_dim % block_units == 0 && block_units * operands % k_tile == 0,
                "whole blocks and k tiles of 16-bit values");
};

// A lane holds two pairs of elements of each n tile, in batch rows 8 apart. A pair is two neighbouring units:
// 2 quad and the next of the n tile's eight.
template <class Cell, class Tiling>
struct Lane<WarpgroupGradientShape<Cell, Tiling>> {
  int warp = threadIdx.x / 32;
  int lane = threadIdx.x % 32;
  int row = lane / 4;   // g of the fragment layouts
  int quad = lane % 4;  // q

  // Batch row (of the tile) of the pairs of a half.
  __device__ __forceinline__ int batch_row(int half) const { return warp * 16 + half * 8 + row; }
};

}  // namespace kerneltune
