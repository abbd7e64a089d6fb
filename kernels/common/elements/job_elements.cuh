// The elements that a lane finishes in one head and batch tile, with addresses computed on demand.
// Where R is streamed, a step is long, and registers limit the batch tile.
#pragma once
#include "../shape/product_shape.cuh"

namespace kerneltune {

template <class Shape, class Arguments>
struct JobElements {
  const Arguments& arguments;
  int head, first_row, first_unit;
  Lane<Shape> lane;

  __device__ __forceinline__ bool exists(int group) const {
    return lane.finishes() && first_row + lane.batch_row(group) < arguments.batch;
  }

  // Position in [B, H, D].
  __device__ __forceinline__ size_t index(int group) const {
    const size_t row = first_row + lane.batch_row(group);
    return (row * arguments.heads + head) * Shape::head_dim + first_unit + lane.unit(group);
  }

  // Keeps the compiler from holding addresses from one group or step to the next.
  __device__ __forceinline__ void forget() {
    asm volatile("" : "+r"(first_row), "+r"(first_unit), "+r"(lane.warp), "+r"(lane.row), "+r"(lane.quad));
  }

  __device__ __forceinline__ size_t step_elements() const {
    return static_cast<size_t>(arguments.batch) * arguments.heads * Shape::head_dim;
  }
};

// Values of one unit, contiguous, read at once where their number allows.
template <class Value, int COUNT>
struct alignas(COUNT == 2 || COUNT == 4 ? COUNT * sizeof(Value) : sizeof(Value)) UnitValues {
  Value value[COUNT];
};

}  // namespace kerneltune
