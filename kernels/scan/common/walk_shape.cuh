// How channels are walked through time: all numbers follow from the solved Tiling.
//
// A lane has `vector` channels side by side, a warp 32 such vectors of one row of the batch, and takes their
// steps in order, in tiles of
// `tile_steps` that lie in a ring of its own in shared memory. A cell is linear in its state (h' = a h + b),
// or has a step of its own.
#pragma once
#include "scan_shape.cuh"
#include "steps.cuh"

namespace kerneltune {

template <class Cell_, class Tiling_>
struct WalkShape {
  using Cell = Cell_;
  using Tiling = Tiling_;
  using Scalar = typename Tiling::Scalar;
  using Functions = Math<sizeof(Scalar) == 4>;
  using Pass = Steps<Cell, Tiling::backward != 0>;
  static constexpr int vector_bytes = Tiling::vector_bytes;
  static constexpr int vector = vector_bytes / static_cast<int>(sizeof(Scalar));
  static constexpr int words = vector_bytes < 4 ? 1 : vector_bytes / 4;
  static constexpr int warps = Tiling::threads / 32;
  static constexpr int row_bytes = 32 * vector_bytes;
  static constexpr int row_channels = 32 * vector;
  static constexpr int tile_steps = Tiling::tile_steps;
  static constexpr int states = Pass::states;
  static constexpr int weights = Pass::weights;
  static constexpr bool differentiates = Pass::differentiates;  // backward of a cell that is not linear
  static constexpr bool keeps_states = !IsLinear<Cell>::value;  // every 16th
  // Steps are counted in the order of the forward pass where a tile is computed twice, and else in the order
  // in which they are computed.
  static constexpr bool from_last = (Tiling::reverse != 0) != differentiates;
  // Steps whose input is in registers ahead of their use, in code without branches.
  static constexpr int at_once = words * Pass::loads >= 12 ? 2 : words * Pass::loads >= 5 ? 4 : 8;
  static_assert(vector >= 1 && tile_steps <= 32 && checkpoint_steps % tile_steps == 0,
                "whole tiles between kept states");
  static_assert(!differentiates || tile_steps == checkpoint_steps, "a tile begins at a kept state");

  // Steps of a walk: all, or, where tiles begin at kept states, whole tiles.
  static __device__ __forceinline__ int duration(const ScanArguments& arguments) {
    return differentiates ? (arguments.steps + tile_steps - 1) / tile_steps * tile_steps : arguments.steps;
  }
  static __device__ __forceinline__ int groups_of_row(const ScanArguments& arguments) {
    return (arguments.channels + row_channels - 1) / row_channels;
  }
};

// Where a warp walks.
template <class Shape>
struct Strand {
  int row;            // of the batch
  int first_channel;  // of the warp
  int channel;        // the first of the lane
  bool exists;
  int low;   // steps from here …
  int high;  // … to here count

  __device__ __forceinline__ Strand(const ScanArguments& arguments, int group)
      : row(group / Shape::groups_of_row(arguments)),
        first_channel(group % Shape::groups_of_row(arguments) * Shape::row_channels),
        channel(first_channel + static_cast<int>(threadIdx.x % 32) * Shape::vector),
        exists(channel < arguments.channels),
        low(0),
        high(arguments.steps) {
    if constexpr (Shape::Tiling::lengths != 0) {
      const int length = arguments.lengths[row];
      if constexpr (Shape::from_last)
        low = max(0, arguments.steps - length);
      else
        high = min(high, length);
    }
  }

  static __device__ __forceinline__ int position(const ScanArguments& arguments, int step) {
    return Shape::from_last ? arguments.steps - 1 - step : step;
  }

  // Where a state of the lane's first channel lies in an array [states, B, D].
  __device__ __forceinline__ Stride state_at(const ScanArguments& arguments, int state) const {
    return (static_cast<Stride>(state) * arguments.batch + row) * arguments.channels + channel;
  }

  // Of a tile, which steps begin with a dropped state, as bits.
  __device__ __forceinline__ unsigned resets(const ScanArguments& arguments, int tile) const {
    if constexpr (Shape::Tiling::resets == 0) return 0;
    const int step = tile + static_cast<int>(threadIdx.x % 32);
    bool dropped = false;
    if (static_cast<int>(threadIdx.x % 32) < Shape::tile_steps && step < arguments.steps)
      dropped = arguments.resets[static_cast<Stride>(row) * arguments.steps + position(arguments, step)] != 0;
    return __ballot_sync(0xffffffffu, dropped);
  }

  // Of a tile, which steps count, as bits.
  __device__ __forceinline__ unsigned counting(int tile) const {
    const int from = max(0, min(low - tile, Shape::tile_steps)),
              to = max(0, min(high - tile, Shape::tile_steps));
    const unsigned long long one = 1;
    return static_cast<unsigned>(((one << to) - 1) & ~((one << from) - 1));
  }
};

}  // namespace kerneltune
