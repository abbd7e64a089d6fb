// The coming tiles of a warp's channels in a ring in shared memory that the warp keeps for itself, so that no
// barrier of the block is needed.
// Rows come by bulk copies that complete a transaction barrier; where there are none, or rows are not
// aligned, each lane copies its own vectors.
#pragma once
#include "../../common/ptx/bulk_copy.cuh"
#include "vector_words.cuh"
#include "walk_shape.cuh"

namespace kerneltune {

// Layout: of each warp [stages][arrays][tile_steps][32][vector_bytes], behind all of them its barriers.
template <class Shape>
class WarpRing {
  using Pass = typename Shape::Pass;
  using Tiling = typename Shape::Tiling;
  static constexpr int stages = Tiling::stages;
  static constexpr int array_bytes = Shape::tile_steps * Shape::row_bytes;
  static constexpr int stage_bytes = Pass::loads * array_bytes;
  static constexpr bool bulk = Tiling::bulk != 0;

 public:
  static constexpr int barrier_bytes = Shape::warps * stages * 8;
  static constexpr int shared_bytes = Shape::warps * stages * stage_bytes + barrier_bytes;

  // By all threads of the block.
  __device__ __forceinline__ explicit WarpRing(void* storage) {
    const int warp = threadIdx.x / 32;
    ring = shared_address(storage) + warp * stages * stage_bytes;
    barriers = shared_address(storage) + Shape::warps * stages * stage_bytes + warp * stages * 8;
    if constexpr (bulk) {
      if (threadIdx.x % 32 == 0) {
        for (int i = 0; i < stages; i++) barrier(i).initialize(1);
        asm volatile("fence.proxy.async;" ::: "memory");
      }
      __syncwarp();
    }
  }

  // Asks for a tile of `count` steps, to come behind those that were asked for before. The whole warp has
  // read what was in its place.
  __device__ __forceinline__ void fill(const ScanArguments& arguments, const Strand<Shape>& strand, int tile,
                                       int count) {
    const int stage = coming;
    coming = coming + 1 < stages ? coming + 1 : 0;
    const unsigned target = ring + stage * stage_bytes;
    const int lane = threadIdx.x % 32;
    const int bytes = min(Shape::row_bytes, (arguments.channels - strand.first_channel) *
                                                static_cast<int>(sizeof(typename Shape::Scalar)));
    if constexpr (bulk) {
      const int rows = Pass::loads * count - (Pass::hidden >= 0 ? missing(strand, tile, count) : 0);
      if (lane == 0) barrier(stage).arrive_expecting(bytes * rows);
      __syncwarp();
    }
    const typename Shape::Scalar* from[Pass::loads];
    Stride stride[Pass::loads];
    int here[Pass::loads];
#pragma unroll
    for (int array = 0; array < Pass::loads; array++) {
      const StridedArray source = array_to_read<Shape>(arguments, array);
      const bool shifted = array == Pass::hidden;
      stride[array] = Shape::from_last ? -source.step : source.step;
      from[array] = static_cast<const typename Shape::Scalar*>(source.pointer) + strand.row * source.batch +
                    Strand<Shape>::position(arguments, tile + shifted) * source.step;
      here[array] = shifted ? count - missing(strand, tile, count) : count;
    }
    if constexpr (bulk) {
#pragma unroll
      for (int array = 0; array < Pass::loads; array++)
        if (lane < here[array])
          copy_bulk(target + array * array_bytes + lane * Shape::row_bytes,
                    from[array] + lane * stride[array] + strand.first_channel, bytes, barrier(stage));
    } else if (strand.exists) {
#pragma unroll
      for (int array = 0; array < Pass::loads; array++) from[array] += strand.channel;
#pragma unroll 4
      for (int step = 0; step < count; step++) {
#pragma unroll
        for (int array = 0; array < Pass::loads; array++) {
          if (array != Pass::hidden || step < here[array])
            VectorWords<Shape>::copy(
                target + array * array_bytes + step * Shape::row_bytes + lane * Shape::vector_bytes,
                from[array]);
          from[array] += stride[array];
        }
      }
    }
    close_group();
  }
  __device__ __forceinline__ void skip() const { close_group(); }

  // Returns when the oldest tile that was asked for is there.
  __device__ __forceinline__ void wait() {
    if constexpr (bulk) {
      barrier(slot).wait_in_block(phases >> slot & 1);
      phases ^= 1u << slot;
    } else if constexpr (Tiling::async_copy != 0) {
      asm volatile("cp.async.wait_group %0;" ::"n"(stages - 1) : "memory");
    }
  }

  // What the lane has of a step of the oldest tile.
  __device__ __forceinline__ void read(int step, VectorWords<Shape> (&words)[Pass::loads]) const {
#pragma unroll
    for (int array = 0; array < Pass::loads; array++)
      words[array].load_shared(ring + slot * stage_bytes + array * array_bytes + step * Shape::row_bytes +
                               threadIdx.x % 32 * Shape::vector_bytes);
  }

  // The oldest tile has been read by the whole warp.
  __device__ __forceinline__ void pass() { slot = slot + 1 < stages ? slot + 1 : 0; }

 private:
  // Steps of a tile before which there is no h in memory: the last one that counts has the caller's own.
  static __device__ __forceinline__ int missing(const Strand<Shape>& strand, int tile, int count) {
    return max(0, min(count, tile + count + 1 - strand.high));
  }
  static __device__ __forceinline__ void close_group() {
    if constexpr (!bulk && Tiling::async_copy != 0) asm volatile("cp.async.commit_group;" ::: "memory");
  }
  __device__ __forceinline__ TransactionBarrier barrier(int stage) const { return {barriers + stage * 8}; }

  unsigned ring, barriers;  // shared addresses
  int slot = 0;             // of the oldest tile
  int coming = 0;           // where the next tile goes
  unsigned phases = 0;      // of the barriers, as bits
};

}  // namespace kerneltune
