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
  static constexpr int group_packets = 4 * 8 / Shape::part;  // of 16 bytes: 4 batch rows of 8 units

  using Tile::Tile;

  // The initial h in buffer 0; zeros where the batch or the head ends, and all over buffer 1.
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

  // h from `buffer` to states, 16 bytes of a batch row to a lane: the rows that the warp itself wrote. time: which h this is.
  __device__ __forceinline__ void store_rows(const ForwardArguments& arguments, int buffer, int time, int head, int first_row,
                                             int first_unit, int unit_offset, const Lane<Shape>& lane) {
#pragma unroll
    for (int packet = lane.lane; packet < group_packets * Shape::warp_groups; packet += 32) {
      const int group = packet / group_packets, row = lane.group_batch_row(group, packet % 4);
      const int unit = lane.unit(group) - lane.row + packet % group_packets / 4 * Shape::part;
      if (!lane.finishes() || first_row + row >= arguments.batch) continue;
      const uint4 value = *reinterpret_cast<const uint4*>(at(buffer, row, unit_offset + unit));
      Scalar* states = static_cast<Scalar*>(arguments.states);
      __stcs(reinterpret_cast<uint4*>(states + state_index<Shape>(arguments, 0, time, first_row + row, head, first_unit + unit)), value);
    }
  }
};

}  // namespace kerneltune
