// Exchange of the gates' gradients for the backward pass of the strategy "warpgroup": flags and slots in L2,
// and a ring in shared memory through which the gradients of a step pass.
// In a slot, the gradients of one head and batch tile are one matrix (wgmma.cuh) of batch_tile rows for each
// k tile. So the parts of neighbouring blocks are one bulk copy, and products read a stage of the ring as it
// lies.
//
// A block raises a flag when its part is in the slot. Two slots are enough: a block writes exchange e over
// e - 2 after it has received all of e - 1, and the blocks that wrote e - 1 had received all of e - 2.
//
// The blocks of a cluster belong to one group and receive the same gradients. Each copies an equal share of
// every stage to all of them. So a stage is empty when the computing warps of all of them have read it.
#pragma once
#include "../ptx/bulk_copy.cuh"
#include "../ptx/wgmma.cuh"
#include "../shape/warpgroup_gradient_shape.cuh"
#include "shared_words.cuh"

namespace kerneltune {

// STAGE_PARTS: parts, one from each block, that a stage of the ring holds. CLUSTER: blocks of a cluster.
template <class Shape, int STAGES, int STAGE_PARTS, int CLUSTER>
struct ArrivingGradients {
  static constexpr int parts = Shape::group_blocks;
  static constexpr int k_tile_bytes = Shape::batch_tile * matrix_row_bytes;
  static constexpr int part_bytes = Shape::part_k_tiles * k_tile_bytes;
  static constexpr int stage_bytes = STAGE_PARTS * part_bytes;
  static constexpr int share_bytes = stage_bytes / CLUSTER;  // that a block copies
  static constexpr int stage_k_tiles = STAGE_PARTS * Shape::part_k_tiles;
  static constexpr int slot_bytes = parts * part_bytes;
  static constexpr int ring_bytes = STAGES * stage_bytes;
  static constexpr int shared_bytes = ring_bytes + (16 * STAGES + 255) / 256 * 256;
  static constexpr int flag_bytes = (parts * 4 + 127) / 128 * 128;
  static constexpr int workspace_bytes = flag_bytes + 2 * slot_bytes;
  static constexpr int at_once = 32;  // flags, one for each lane
  static_assert(parts % STAGE_PARTS == 0 && at_once % STAGE_PARTS == 0, "whole stages, flags of one round");
  static_assert(STAGES > 1, "a stage is released when the products of the next one have begun");

  unsigned ring;          // shared address, like the next one
  unsigned barriers;      // of each stage: one that says it is full, one that says it is empty
  unsigned* const flags;  // in device memory, one of each block
  unsigned char* const slots;
  unsigned published = 0;  // number of exchanges so far, over all jobs
  int stage = 0;           // that is filled or multiplied next
  unsigned parity = 0;     // of its barriers

  // storage: of the ring. workspace: of this group.
  __device__ __forceinline__ ArrivingGradients(unsigned char* storage, unsigned char* workspace)
      : ring(shared_address(storage)),
        barriers(ring + ring_bytes),
        flags(reinterpret_cast<unsigned*>(workspace)),
        slots(workspace + flag_bytes) {}

  // Called by one thread.
  __device__ __forceinline__ void initialize_barriers() const {
    for (int i = 0; i < STAGES; i++) {
      full(i).initialize(1);
      empty(i).initialize(CLUSTER * Shape::warps);
    }
    fence_shared_for_async();
  }

  // The slot of the newest exchange.
  __device__ __forceinline__ unsigned char* slot() const { return slots + published % 2 * slot_bytes; }

  // Offset within a block's part of the two units of n tile `n` that a quad holds, in a batch row of the
  // tile.
  static __device__ __forceinline__ int place(int n, int row, int quad) {
    if constexpr (Shape::operands == 1)
      return n / 2 * k_tile_bytes + matrix_place(row, n % 2) + quad * 4;
    else
      return (2 * n + quad / 2) * k_tile_bytes + matrix_place(row, quad % 2);
  }

  // Raises this block's flag. Called by one warp, like the next function, after a barrier with all threads
  // that wrote to the slot.
  __device__ __forceinline__ void raise(int block) {
    published++;
    if (threadIdx.x % 32 == 0) raise_flag(flags + block, published);
  }

  // Brings the newest exchange into the ring, part by part, in the order of blocks.
  __device__ __forceinline__ void bring() {
    const int lane = threadIdx.x % 32;
#pragma unroll 1
    for (int first = 0; first < parts; first += at_once) {
      const int count = min(at_once, parts - first);
      bool here = lane >= count;
      int present = 0;  // parts, from the first on, whose flags were raised before the last fence
#pragma unroll 1
      for (int begin = 0; begin < count; begin += STAGE_PARTS) {
        if (begin + STAGE_PARTS > present) {
          const bool wanted = lane / STAGE_PARTS == begin / STAGE_PARTS;
          while (__any_sync(0xffffffffu, wanted && !here))
            if (!here) here = flag_is_raised(flags + first + lane, published);
          const unsigned missing = ~__ballot_sync(0xffffffffu, here);
          present = missing == 0 ? at_once : __ffs(missing) - 1;
          __syncwarp();
          if (lane == 0) fence_device_for_async();
        }
        if (lane == 0) fill(slot() + (first + begin) * part_bytes);
        next_stage();
      }
    }
  }

  // sums = d R for the warpgroup's batch rows. Called by the computing warps. columns: descriptor of R in k
  // tile 0; a k tile has block_units columns.
  __device__ __forceinline__ void multiply(float (&sums)[Shape::n_tiles][4], unsigned long long columns) {
    using Mma = WarpgroupMma<typename Shape::Scalar, Shape::block_units>;
    constexpr int column_step = Shape::block_units * matrix_row_bytes / 16, row_step = k_tile_bytes / 16;
    // The shuffle tells the compiler that all lanes have the same value.
    const int warpgroup = __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x) / 128, 0);
    const unsigned long long rows = matrix_descriptor(ring) + warpgroup * (64 * matrix_row_bytes / 16);
    int previous = STAGES - 1;
#pragma unroll 1
    for (int begin = 0; begin < parts; begin += STAGE_PARTS) {
      full(stage).wait_in_block(parity);
      warpgroup_fence();
      const unsigned long long a = rows + stage * (stage_bytes / 16);
#pragma unroll
      for (int k = 0; k < stage_k_tiles; k++)
        Mma::multiply(sums, a + k * row_step, columns + k * column_step, k > 0 || begin > 0);
      warpgroup_commit();
      columns += stage_k_tiles * column_step;
      warpgroup_wait<1>();
      if (begin > 0) release(previous);
      previous = stage;
      next_stage();
    }
    warpgroup_wait();
    release(previous);
#pragma unroll
    for (int n = 0; n < Shape::n_tiles; n++)
#pragma unroll
      for (int i = 0; i < 4; i++)
        asm volatile("" : "+f"(sums[n][i]));  // keeps the compiler from reading a sum before the wait
  }

 private:
  // Requests the next stage from a slot. Called by one thread, after a fence behind the parts' flags.
  __device__ __forceinline__ void fill(const unsigned char* source) const {
    const unsigned target = ring + stage * stage_bytes;
    empty(stage).wait_in_block(parity ^ 1);
    full(stage).arrive_expecting(stage_bytes);
    if constexpr (CLUSTER == 1) {
      copy_bulk(target, source, stage_bytes, full(stage));
    } else {
      // The other blocks' shares may have arrived before this block expected them.
      const unsigned share = cluster_block_rank() * share_bytes;
      copy_bulk_to_blocks(target + share, source + share, share_bytes, full(stage), (1 << CLUSTER) - 1);
    }
  }

  // This warp's part of the products of a stage is done.
  __device__ __forceinline__ void release(int index) const {
    const int lane = threadIdx.x % 32;
    if constexpr (CLUSTER == 1) {
      if (lane == 0) empty(index).arrive();
    } else {
      if (lane < CLUSTER) empty(index).arrive_in(lane);
    }
  }
  __device__ __forceinline__ void next_stage() {
    stage++;
    if (stage < STAGES) return;
    stage = 0;
    parity ^= 1;
  }
  __device__ __forceinline__ TransactionBarrier full(int index) const { return {barriers + index * 8}; }
  __device__ __forceinline__ TransactionBarrier empty(int index) const {
    return {barriers + (STAGES + index) * 8};
  }
};

}  // namespace kerneltune
