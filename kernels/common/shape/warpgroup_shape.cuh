// How a step's product R h of one head and batch tile is divided over the warpgroups of a block.
// All numbers follow from the solved Tiling. wgmma.cuh has the products.
#pragma once
#include "forward_shape.cuh"

namespace kerneltune {

// A warpgroup computes 64 rows, the gates of its units, over the whole sum. Columns are batch rows. A unit
// has one row for one gate, and four rows for three or four gates; the weights of a missing fourth gate are
// zero. Of four rows, two are in each half of a warp's 16 rows. Two lanes 4 apart hold them, and exchange one
// column each. Then each lane has all gates of one unit in one of its two columns of an n tile.
template <class Cell, class Tiling>
struct WarpgroupShape : ForwardPass<Cell, Tiling> {
  using Scalar = typename Tiling::Scalar;
  static constexpr int head_dim = Tiling::head_dim;
  static constexpr int batch_tile = Tiling::batch_tile;
  static constexpr int warpgroups = Tiling::warpgroups;
  static constexpr int unit_rows = Cell::gates == 1 ? 1 : 4;
  static constexpr int warp_units = 16 / unit_rows;
  static constexpr int warps = 4 * warpgroups;  // that compute
  // Batch tiles of a head that a block runs in turns.
  static constexpr int tiles_in_flight = Tiling::tiles_in_flight;
  static constexpr int block_units = warp_units * warps;
  static constexpr int group_blocks = head_dim / block_units;  // that compute a batch tile together
  static constexpr int part = 16 / sizeof(Scalar);
  static constexpr int k_tile = 2 * part;
  static constexpr int k_tiles = head_dim / k_tile;
  static constexpr int n_tiles = batch_tile / 8;
  static constexpr int columns_per_lane = unit_rows == 4 ? 1 : 2;
  static constexpr int warp_groups =
      n_tiles * columns_per_lane * (unit_rows == 4 ? 1 : 2);  // finished elements of a lane
  static_assert(Cell::gates == 1 || Cell::gates == 3 || Cell::gates == 4, "units of one row or four");
  static_assert(sizeof(Scalar) == 2 && head_dim % block_units == 0 && batch_tile % 8 == 0,
                "whole blocks of 16-bit values");

  // The unit within the warp, and the gate, of row `row` of a warp's 16. The gate may be beyond the last.
  static __device__ __forceinline__ int row_unit(int row) { return unit_rows == 4 ? row % 8 / 2 : row; }
  static __device__ __forceinline__ int row_gate(int row) {
    return unit_rows == 4 ? row % 2 + row / 8 * 2 : 0;
  }
};

// Element `index` of a lane belongs to n tile index / columns_per_lane % n_tiles.
template <class Cell, class Tiling>
struct Lane<WarpgroupShape<Cell, Tiling>> {
  using Shape = WarpgroupShape<Cell, Tiling>;
  int warp = threadIdx.x / 32;
  int lane = threadIdx.x % 32;
  int row = lane / 4;   // g of the fragment layouts
  int quad = lane % 4;  // q

  static __device__ __forceinline__ constexpr bool finishes() { return true; }

  // Unit (of the block) and batch row (of the tile) of this lane's element `index`.
  __device__ __forceinline__ int unit(int index) const {
    const int set = index / (Shape::n_tiles * Shape::columns_per_lane);
    return warp * Shape::warp_units + (Shape::unit_rows == 4 ? row / 2 : set * 8 + row);
  }
  __device__ __forceinline__ int batch_row(int index) const {
    const int column = index % (Shape::n_tiles * Shape::columns_per_lane);
    return column / Shape::columns_per_lane * 8 + 2 * quad + (Shape::unit_rows == 4 ? row % 2 : column % 2);
  }
};

}  // namespace kerneltune
