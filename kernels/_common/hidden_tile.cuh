// h of one head and batch tile in shared memory, as the operands of the next step.
#pragma once
#include "arguments.cuh"
#include "elements.cuh"
#include "forward_shape.cuh"
#include "operand_tile.cuh"

namespace kerneltune {

template <class Shape>
struct HiddenTile : OperandTile<Shape> {
  using Tile = OperandTile<Shape>;
  using Scalar = typename Shape::Scalar;
  using Tile::at;

  using Tile::Tile;

  // The initial h in buffer 0; zeros where the batch or the head ends, and all over buffer 1.
  __device__ __forceinline__ void fill(const ForwardArguments& arguments, int head, int first_row) {
    const Scalar* states = static_cast<const Scalar*>(arguments.states);
    for (int i = threadIdx.x; i < 2 * Tile::buffer_elements; i += Shape::threads) {
      const int inside = i % Tile::buffer_elements;
      const int row = first_row + inside / 8 % Shape::batch_tile, unit = inside / Tile::chunk_elements * 8 + inside % 8;
      const bool present = i < Tile::buffer_elements && row < arguments.batch && unit < Shape::head_dim;
      this->buffers[i] = present ? states[state_index<Shape>(arguments, 0, 0, row, head, unit)] : Scalar{0};
    }
  }

  // 16 bytes of h (8 units of one batch row) from `buffer` to states, by the first 4 * warp_groups lanes of each warp: the rows that
  // the warp itself wrote. time: which h this is.
  __device__ __forceinline__ void store_rows(const ForwardArguments& arguments, int buffer, int time, int head, int first_row,
                                             int first_unit, int unit_offset, const Lane<Shape>& lane) {
#pragma unroll
    for (int packet = lane.lane; packet < 4 * Shape::warp_groups; packet += 32) {
      const int row = lane.group_batch_row(packet / 4, packet % 4), unit = lane.unit(packet / 4) - lane.row;
      if (!lane.finishes() || first_row + row >= arguments.batch) continue;
      const uint4 value = *reinterpret_cast<const uint4*>(at(buffer, row, unit_offset + unit));
      Scalar* states = static_cast<Scalar*>(arguments.states);
      __stcs(reinterpret_cast<uint4*>(states + state_index<Shape>(arguments, 0, time, first_row + row, head, first_unit + unit)), value);
    }
  }
};

}  // namespace kerneltune
