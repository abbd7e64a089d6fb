// Sequences that lie one after the other in one row, as `boundaries` divides it: each begins with its own
// state and leaves its own.
#pragma once
#include "scan_shape.cuh"

namespace kerneltune {

// Of a thread's segment, the steps that begin a sequence and those that end one, in the order in which they
// are computed.
template <class Shape>
struct SequenceMarks {
  using Tiling = typename Shape::Tiling;
  unsigned begins = 0;
  unsigned ends = 0;

  __device__ __forceinline__ SequenceMarks(const ScanArguments& arguments, const Part<Shape>& part) {
    if constexpr (Tiling::sequences != 0) {
      if (part.existing == 0) return;
      const int one = Part<Shape>::position(arguments, part.first),
                other = Part<Shape>::position(arguments, part.first + part.existing - 1);
      const int low = min(one, other), high = max(one, other);
      // Each boundary is the first position of a sequence and behind the last of another; those of empty ones
      // lie together.
      for (int i = first_from(arguments, low); i <= arguments.sequences; i++) {
        const int boundary = arguments.boundaries[i];
        if (boundary > high + 1) break;
        mark(Tiling::reverse != 0 ? ends : begins, boundary, one, low, high);
        mark(Tiling::reverse != 0 ? begins : ends, boundary - 1, one, low, high);
      }
    }
  }

  // The sequence that a position lies in.
  static __device__ __forceinline__ int of(const ScanArguments& arguments, int position) {
    return max(0, first_from(arguments, position + 1) - 1);
  }

 private:
  static __device__ __forceinline__ void mark(unsigned& marks, int position, int one, int low, int high) {
    if (low <= position && position <= high)
      marks |= 1u << (Tiling::reverse != 0 ? one - position : position - one);
  }
  // The first boundary at the position or behind it.
  static __device__ __forceinline__ int first_from(const ScanArguments& arguments, int position) {
    int low = 0, high = arguments.sequences + 1;
    while (low < high) {
      const int middle = (low + high) / 2;
      if (arguments.boundaries[middle] < position)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }
};

// A sequence without steps leaves the state that enters it. By all threads of all blocks.
__device__ __forceinline__ void pass_empty_sequences(const ScanArguments& arguments, int states) {
  if (!arguments.final_state) return;
  const Stride numbers = static_cast<Stride>(arguments.channels) * states;
  for (int i = blockIdx.x; i < arguments.sequences; i += gridDim.x)
    if (arguments.boundaries[i] == arguments.boundaries[i + 1])
      for (Stride number = threadIdx.x; number < numbers; number += blockDim.x)
        arguments.final_state[i * numbers + number] =
            arguments.initial ? arguments.initial[i * numbers + number] : 0.0f;
}

}  // namespace kerneltune
