// Exchange of h for the strategy "warpgroup": flags and slots in L2, and h in shared memory for wgmma.
// In shared memory, h of one head and batch tile is one matrix (wgmma.cuh) of batch_tile rows for each k
// tile. The slots hold h in the same order, so the part of a block is one bulk copy.
//
// A block raises a flag when its part is in the slot. It copies the other blocks' parts when their flags are
// raised. Two slots are enough: a block writes h(t + 2) over h(t) after it has received all of h(t + 1), and
// the blocks that wrote h(t + 1) had read all of h(t).
#pragma once
#include "../arguments.cuh"
#include "../ptx/bulk_copy.cuh"
#include "../elements/elements.cuh"
#include "shared_words.cuh"
#include "../shape/warpgroup_shape.cuh"
#include "../ptx/wgmma.cuh"

namespace kerneltune {

template <class Shape>
struct ArrivingHidden {
  using Scalar = typename Shape::Scalar;
  static constexpr int parts = Shape::group_blocks;  // of h, one for each block
  // Parts in one bulk copy. A copy takes the warp that issues it about 80 cycles.
  static constexpr int bunch = 8;
  static constexpr int bunches = (parts + bunch - 1) / bunch;
  static constexpr int k_tile_bytes = Shape::batch_tile * matrix_row_bytes;
  static constexpr int part_k_tiles = Shape::block_units / Shape::k_tile;
  static constexpr int part_bytes = part_k_tiles * k_tile_bytes;
  static constexpr int pieces = part_bytes / 16;  // of a part: 8 units of a batch row each
  static constexpr int shared_bytes = parts * part_bytes;
  static constexpr int barrier_bytes = bunches * 8;
  static constexpr int flag_bytes = (parts * 4 + 127) / 128 * 128;
  static constexpr int workspace_bytes = flag_bytes + 2 * shared_bytes;

  unsigned char* tile;
  unsigned barriers;      // shared address
  unsigned* const flags;  // in device memory, one of each block
  unsigned char* const slots;
  unsigned published = 0;  // number of exchanges so far, over all jobs
  unsigned parity = 0;     // of the barriers in the coming step; for the computing warps

  // workspace: of this tile of the group.
  __device__ __forceinline__ ArrivingHidden(unsigned char* tile, unsigned char* barrier_storage,
                                            unsigned char* workspace)
      : tile(tile),
        barriers(shared_address(barrier_storage)),
        flags(reinterpret_cast<unsigned*>(workspace)),
        slots(workspace + flag_bytes) {}

  // Moves to another tile in shared memory. For the computing warps.
  __device__ __forceinline__ void move(int bytes) {
    tile += bytes;
    barriers += bytes;
  }

  // Called by one thread.
  __device__ __forceinline__ void initialize_barriers() const {
    for (int i = 0; i < bunches; i++) barrier(i).initialize(1);
  }

  // Offset of piece `octet` (8 units) of a batch row, within a part or within the whole tile.
  static __device__ __forceinline__ int place(int octet, int row) {
    return octet / 2 * k_tile_bytes + matrix_place(row, octet % 2);
  }

  // Loads the initial h, by the computing threads; zeros beyond the batch. fence_shared_for_async and a
  // barrier must follow.
  __device__ __forceinline__ void fill(const ForwardArguments& arguments, int head, int first_row) const {
    const Scalar* const states = static_cast<const Scalar*>(arguments.states);
    for (int i = threadIdx.x; i < shared_bytes / 16; i += 32 * Shape::warps) {
      const int row = i % Shape::batch_tile, octet = i / Shape::batch_tile;
      const bool present = first_row + row < arguments.batch;
      const size_t index =
          state_index<Shape>(arguments, 0, 0, present ? first_row + row : 0, head, octet * Shape::part);
      *reinterpret_cast<uint4*>(tile + place(octet, row)) =
          present ? *reinterpret_cast<const uint4*>(states + index) : make_uint4(0, 0, 0, 0);
    }
  }

  // Marks h as present at the start of a job. Called by one warp, like the next two functions.
  __device__ __forceinline__ void say_filled() const {
    for (int i = threadIdx.x % 32; i < bunches; i += 32) barrier(i).arrive();
  }

  // Writes this block's part to the slot and raises the flag.
  __device__ __forceinline__ void publish(const unsigned char* part, int block) {
    published++;
    unsigned char* const target = slots + published % 2 * shared_bytes + block * part_bytes;
#pragma unroll 4  // a courier has few registers
    for (int piece = threadIdx.x % 32; piece < pieces; piece += 32)
      store_shared_by_gpu(target + piece * 16, reinterpret_cast<const uint4*>(part)[piece]);
    __syncwarp();
    if (threadIdx.x % 32 == 0) raise_flag(flags + block, published);
  }

  // Requests what has been published. The whole block must have read the previous h. Each lane waits for one
  // flag, then some lanes copy one bunch each.
  __device__ __forceinline__ void request() const {
    constexpr int at_once = 32;  // flags
#pragma unroll 1
    for (int first_part = 0; first_part < parts; first_part += at_once) {
      const int lane = threadIdx.x % 32, first = first_part + lane * bunch;
      if (first_part + lane < parts) await_flag(flags + first_part + lane, published);
      __syncwarp();
      if (lane >= at_once / bunch || first >= parts) continue;
      const int bytes = min(bunch, parts - first) * part_bytes;
      fence_device_for_async();
      barrier(first / bunch).arrive_expecting(bytes);
      copy_bulk(shared_address(tile) + first * part_bytes,
                slots + published % 2 * shared_bytes + first * part_bytes, bytes, barrier(first / bunch));
    }
  }

  // sums = R h. Multiplies each bunch of parts as soon as it has arrived. Called by the computing warps.
  template <class Weights>
  __device__ __forceinline__ void multiply(float (&sums)[Shape::n_tiles][4], const Weights& weights) const {
    multiply_from<0>(sums, weights, matrix_descriptor(shared_address(tile)));
    warpgroup_wait();
#pragma unroll
    for (int n = 0; n < Shape::n_tiles; n++)
#pragma unroll
      for (int i = 0; i < 4; i++)
        asm volatile("" : "+f"(sums[n][i]));  // keeps the compiler from reading a sum before the wait
  }

 private:
  template <int BUNCH, class Weights>
  __device__ __forceinline__ void multiply_from(float (&sums)[Shape::n_tiles][4], const Weights& weights,
                                                unsigned long long descriptor) const {
    if constexpr (BUNCH < bunches) {
      constexpr int first = BUNCH * bunch * part_k_tiles, end = first + bunch * part_k_tiles;
      barrier(BUNCH).wait_in_block(parity);
      warpgroup_fence();
      weights.template multiply<first, (end < Shape::k_tiles ? end : Shape::k_tiles)>(sums, descriptor);
      warpgroup_commit();
      multiply_from<BUNCH + 1>(sums, weights, descriptor);
    }
  }

  __device__ __forceinline__ TransactionBarrier barrier(int index) const { return {barriers + index * 8}; }
};

}  // namespace kerneltune
