// The coming tiles of a warp's channels in a ring in shared memory that the warp keeps for itself, so that no barrier of the block is needed.
// Rows come by bulk copies that complete a transaction barrier; where there are none, or rows are not aligned, each lane copies its own vectors.
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

  // Asks for a tile of `count` steps, to come behind those that were asked for before. The whole warp has read what was in its place.
  __device__ __forceinline__ void fill(const ScanArguments& arguments, const Strand<Shape>& strand, int tile, int count, int ahead) {
    const int stage = (slot + ahead) % stages;
    const unsigned target = ring + stage * stage_bytes;
    const int lane = threadIdx.x % 32;
    const int bytes = min(Shape::row_bytes, (arguments.channels - strand.first_channel) * static_cast<int>(sizeof(typename Shape::Scalar)));
    if constexpr (bulk) {
      const int rows = Pass::loads * count - (Pass::hidden >= 0 ? missing(strand, tile, count) : 0);
      if (lane == 0) barrier(stage).arrive_expecting(bytes * rows);
      __syncwarp();
    }
#pragma unroll
    for (int array = 0; array < Pass::loads; array++) {
      const StridedArray source = array_to_read<Shape>(arguments, array);
      const int shift = array == Pass::hidden;
      const int here = shift ? count - missing(strand, tile, count) : count;
      const auto* const values = static_cast<const typename Shape::Scalar*>(source.pointer) + strand.row * source.batch;
      if constexpr (bulk) {
        if (lane < here)
          copy_bulk(target + array * array_bytes + lane * Shape::row_bytes,
                    values + Strand<Shape>::position(arguments, tile + lane + shift) * source.step + strand.first_channel, bytes, barrier(stage));
      } else if (strand.exists) {
        for (int step = 0; step < here; step++)
          VectorWords<Shape>::copy(target + array * array_bytes + step * Shape::row_bytes + lane * Shape::vector_bytes,
                                   values + Strand<Shape>::position(arguments, tile + step + shift) * source.step + strand.channel);
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
  __device__ __forceinline__ void read(int step, float (&value)[Shape::vector][Pass::loads]) const {
#pragma unroll
    for (int array = 0; array < Pass::loads; array++) {
      VectorWords<Shape> words;
      words.load_shared(ring + slot * stage_bytes + array * array_bytes + step * Shape::row_bytes + threadIdx.x % 32 * Shape::vector_bytes);
#pragma unroll
      for (int channel = 0; channel < Shape::vector; channel++) value[channel][array] = words.value(channel);
    }
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
  unsigned phases = 0;      // of the barriers, as bits
};

}  // namespace kerneltune
