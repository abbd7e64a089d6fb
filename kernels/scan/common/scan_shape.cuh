// How a scan is divided: all numbers follow from the solved Tiling.
//
// A thread has `vector` channels side by side, vector_bytes of the widest array, and, of a tile of time, a
// segment of `segment_steps` steps; `columns` threads make a row of a
// tile. Steps are counted in the order in which they are computed, which is from the last one on where
// Tiling::reverse says so.
#pragma once
#include "../../common/numeric/activations.cuh"
#include "../../common/numeric/scalar.cuh"
#include "arguments.cuh"
#include "tile_pass.cuh"

namespace kerneltune {

constexpr int checkpoint_steps = 16;  // from one kept state to the next

template <class Cell, class Tiling_>
struct ScanShape {
  using Tiling = Tiling_;
  using Scalar = typename Tiling::Scalar;
  using Pass = TilePass<Cell, Tiling::backward != 0>;
  using Factor = typename Pass::Factor;
  using Functions = Math<sizeof(Scalar) == 4>;
  static constexpr int vector_bytes = Tiling::vector_bytes;
  static constexpr int vector = vector_bytes / static_cast<int>(sizeof(Scalar)) / Pass::widest;
  static constexpr int threads = Tiling::threads;
  static constexpr int columns = Tiling::columns;
  static constexpr int tile_channels = columns * vector;
  static constexpr int segments = threads / columns;  // of a tile
  static constexpr int segment_steps = Tiling::segment_steps;
  static constexpr int tile_steps = segments * segment_steps;
  static_assert(vector >= 1 && 32 % columns == 0, "a warp has whole rows");
  // Whether states are computed again from those that were kept before every 16th step: then segments begin at
  // such steps, counted from the first one of the forward pass.
  static constexpr bool recomputes = Pass::hidden == -2;

  // Steps of all tiles, and those of them before the first one that is there.
  static __device__ __forceinline__ int duration(const ScanArguments& arguments) {
    return recomputes ? (arguments.steps + checkpoint_steps - 1) / checkpoint_steps * checkpoint_steps
                      : arguments.steps;
  }
  static __device__ __forceinline__ int absent(const ScanArguments& arguments) {
    return duration(arguments) - arguments.steps;
  }
};

// Where a tile lies.
template <class Shape>
struct Place {
  int row;           // of the batch
  int tile_channel;  // its first channel
  int tile_first;    // its first step
};

// A thread's part of a tile.
template <class Shape>
struct Part {
  using Tiling = typename Shape::Tiling;
  int row;       // of the batch
  int channel;   // the first of the vector
  int first;     // step; below 0 where the segment begins ahead of the first one
  int low;       // of the segment's steps those from here …
  int high;      // … to here count; none if the channels are not there
  int existing;  // and so many are in the arrays
  int end;       // the step behind the last one that counts

  __device__ __forceinline__ Part(const ScanArguments& arguments, const Place<Shape>& place)
      : row(place.row),
        channel(place.tile_channel + threadIdx.x % Shape::columns * Shape::vector),
        first(place.tile_first + threadIdx.x / Shape::columns * Shape::segment_steps) {
    if constexpr (Shape::recomputes) first -= Shape::absent(arguments);
    existing = channel < arguments.channels ? clamped(arguments.steps - first) : 0;
    low = Shape::recomputes ? clamped(-first) : 0, high = existing, end = arguments.steps;
    if constexpr (Tiling::lengths != 0) {
      const int length = arguments.lengths[row];
      if constexpr (Tiling::reverse != 0) {
        low = clamped(arguments.steps - length - first);
      } else {
        high = min(high, clamped(length - first));
        end = min(end, length);
      }
    }
  }

  __device__ __forceinline__ bool counts(int step) const { return low <= step && step < high; }
  // As if it were outside the arrays.
  __device__ __forceinline__ void skip() { low = high = existing = 0; }

  // Where a step lies in the arrays.
  static __device__ __forceinline__ int position(const ScanArguments& arguments, int step) {
    return Tiling::reverse != 0 ? arguments.steps - 1 - step : step;
  }

 private:
  static __device__ __forceinline__ int clamped(int steps) {
    return max(0, min(steps, Shape::segment_steps));
  }
};

// An array of ScanArguments; `index` counts those that a pass reads: the cell's inputs, then h and the
// gradient.
struct StridedArray {
  const void* pointer;
  Stride batch;
  Stride step;
};

template <class Shape>
__device__ __forceinline__ StridedArray array_to_read(const ScanArguments& arguments, int index) {
  using Pass = typename Shape::Pass;
  if (index == Pass::hidden) return {arguments.hidden, arguments.hidden_batch, arguments.hidden_step};
  if constexpr (Pass::hidden != -1)
    if (index == Pass::gradient)
      return {arguments.gradient, arguments.gradient_batch, arguments.gradient_step};
  if (index == 0) return {arguments.input0, arguments.input0_batch, arguments.input0_step};
  if (index == 1) return {arguments.input1, arguments.input1_batch, arguments.input1_step};
  if (index == 2) return {arguments.input2, arguments.input2_batch, arguments.input2_step};
  if (index == 3) return {arguments.input3, arguments.input3_batch, arguments.input3_step};
  if (index == 4) return {arguments.input4, arguments.input4_batch, arguments.input4_step};
  return {arguments.input5, arguments.input5_batch, arguments.input5_step};
}

__device__ __forceinline__ StridedArray array_to_write(const ScanArguments& arguments, int index) {
  if (index == 0) return {arguments.output0, arguments.output0_batch, arguments.output0_step};
  if (index == 1) return {arguments.output1, arguments.output1_batch, arguments.output1_step};
  if (index == 2) return {arguments.output2, arguments.output2_batch, arguments.output2_step};
  if (index == 3) return {arguments.output3, arguments.output3_batch, arguments.output3_step};
  if (index == 4) return {arguments.output4, arguments.output4_batch, arguments.output4_step};
  return {arguments.output5, arguments.output5_batch, arguments.output5_step};
}

// Where a channel of a step lies in an array.
template <class Shape>
__device__ __forceinline__ const typename Shape::Scalar* array_at(const ScanArguments& arguments,
                                                                  const StridedArray& array, int row,
                                                                  int channel, int step) {
  const auto* const values = static_cast<const typename Shape::Scalar*>(array.pointer);
  return values + row * array.batch + Part<Shape>::position(arguments, step) * array.step + channel;
}

}  // namespace kerneltune
