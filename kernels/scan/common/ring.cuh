// What a thread reads of the coming tiles, copied ahead into a ring in shared memory that each thread keeps for itself, so that no barrier is
// needed. Where the GPU has no asynchronous copies, or the vector is too short for one, they are done at once.
#pragma once
#include "../../common/ptx/mma.cuh"
#include "vector_words.cuh"

namespace kerneltune {

// Layout: [stages][arrays][segment_steps][threads][vector_bytes].
template <class Shape>
class Ring {
  using Pass = typename Shape::Pass;
  using Tiling = typename Shape::Tiling;
  static constexpr int stages = Tiling::stages;
  static constexpr int row_bytes = Shape::threads * Shape::vector_bytes;
  static constexpr int stage_bytes = Pass::loads * Shape::segment_steps * row_bytes;

 public:
  static constexpr int shared_bytes = stages * stage_bytes;

  __device__ __forceinline__ explicit Ring(void* storage) : ring(shared_address(storage) + threadIdx.x * Shape::vector_bytes) {}

  // Counts as one group of copies; skip() is an empty one.
  __device__ __forceinline__ void copy(const ScanArguments& arguments, const Place<Shape>& place, int stage) const {
    const Part<Shape> part(arguments, place);
#pragma unroll
    for (int array = 0; array < Pass::loads; array++) {
      const StridedArray source = array_to_read<Shape>(arguments, array);
      const int ahead = array == Pass::hidden;
      const auto* from = array_at<Shape>(arguments, source, part.row, part.channel, part.first + ahead);
      const Stride stride = Tiling::reverse != 0 ? -source.step : source.step;
#pragma unroll
      for (int step = 0; step < Shape::segment_steps; step++, from += stride)
        if (part.counts(step) && (!ahead || part.first + step + 1 < part.end)) VectorWords<Shape>::copy(at(stage, array, step), from);
    }
    close_group();
  }
  __device__ __forceinline__ void skip() const { close_group(); }

  // Returns when the oldest of the copied tiles is there.
  __device__ __forceinline__ void wait() const {
    if constexpr (Tiling::async_copy != 0) asm volatile("cp.async.wait_group %0;" ::"n"(stages - 1) : "memory");
  }

  // What was copied of a step. Of h before a step nothing was where that is the caller's own.
  __device__ __forceinline__ void read(int stage, int step, VectorWords<Shape> (&words)[Pass::loads]) const {
#pragma unroll
    for (int array = 0; array < Pass::loads; array++) words[array].load_shared(at(stage, array, step));
  }

 private:
  static __device__ __forceinline__ void close_group() {
    if constexpr (Tiling::async_copy != 0) asm volatile("cp.async.commit_group;" ::: "memory");
  }
  __device__ __forceinline__ unsigned at(int stage, int array, int step) const {
    return ring + stage * stage_bytes + (array * Shape::segment_steps + step) * row_bytes;
  }

  unsigned ring;
};

}  // namespace kerneltune
