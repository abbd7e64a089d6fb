// h of one head and batch tile in shared memory, as operands of the next step, and its copy to device memory.
#pragma once
#include "../arguments.cuh"
#include "../elements/elements.cuh"
#include "../shape/forward_shape.cuh"
#include "operand_tile.cuh"

namespace kerneltune {

template <class Shape>
struct HiddenTile : OperandTile<Shape> {
  using Tile = OperandTile<Shape>;
  using Scalar = typename Shape::Scalar;
  using Tile::at;
  static constexpr int group_packets = 4 * 8 / Shape::part;  // of 16 bytes: 4 batch rows of 8 units

  using Tile::Tile;

  // Writes the initial h to buffer 0 and zeros to buffer 1. Elements beyond the batch or the head are zero.
  __device__ __forceinline__ void fill(const ForwardArguments& arguments, int head, int first_row) {
    const Scalar* states = static_cast<const Scalar*>(arguments.states);
    for (int i = threadIdx.x; i < 2 * Tile::buffer_elements; i += Shape::threads) {
      const int inside = i % Tile::buffer_elements;
      const int row = first_row + inside / Shape::part % Shape::batch_tile;
      const int unit = inside / Tile::chunk_elements * Shape::part + inside % Shape::part;
      const bool present = i < Tile::buffer_elements && row < arguments.batch && unit < Shape::head_dim;
      this->buffers[i] = present ? states[state_index<Shape>(arguments, 0, 0, row, head, unit)] : Scalar{0};
    }
  }
};

// Copies new h from the tile to states. Each lane copies 16 bytes of a batch row, from the rows that its own
// warp wrote. Addresses are kept and nothing branches, so the compiler can place the instructions where a
// step waits.
template <class Shape>
class HiddenRows {
  using Scalar = typename Shape::Scalar;
  using Tile = HiddenTile<Shape>;
  static constexpr int packets = Tile::group_packets * Shape::warp_groups;
  static constexpr int passes = (packets + 31) / 32;

 public:
  // tile_unit: where the block's units begin in the tile. first_time: time of the h that the first call of
  // write copies.
  __device__ __forceinline__ HiddenRows(const ForwardArguments& arguments, const Tile& tile, int first_time,
                                        int head, int first_row, int first_unit, int tile_unit,
                                        const Lane<Shape>& lane)
      : step_elements(static_cast<size_t>(arguments.batch) * arguments.heads * Shape::head_dim) {
#pragma unroll
    for (int pass = 0; pass < passes; pass++) {
      // A lane without a packet reads lane 0's packet: its own warp wrote it, and nobody else writes it
      // meanwhile.
      const int own = pass * 32 + lane.lane, packet = own < packets ? own : 0,
                group = packet / Tile::group_packets;
      const int row = lane.group_batch_row(group, packet % 4);
      const int unit = lane.unit(group) - lane.row + packet % Tile::group_packets / 4 * Shape::part;
      present[pass] = own < packets && lane.finishes() && first_row + row < arguments.batch;
      source[pass] = lane.finishes() ? tile.at(0, row, tile_unit + unit) : tile.buffers;
      target[pass] = static_cast<Scalar*>(arguments.states) +
                     (present[pass] ? state_index<Shape>(arguments, 0, first_time, first_row + row, head,
                                                         first_unit + unit)
                                    : 0);
    }
  }

  // Copies h in `buffer` to states if `wanted`, and advances to the next step.
  __device__ __forceinline__ void write(int buffer, bool wanted) {
#pragma unroll
    for (int pass = 0; pass < passes; pass++) {
      const uint4 value = *reinterpret_cast<const uint4*>(source[pass] + buffer * Tile::buffer_elements);
      if (wanted && present[pass]) __stcs(reinterpret_cast<uint4*>(target[pass]), value);
      target[pass] += step_elements;
    }
  }

 private:
  const Scalar* source[passes];  // in buffer 0
  Scalar* target[passes];
  bool present[passes];
  size_t step_elements;
};

}  // namespace kerneltune
