// Exchange of operands within a cluster, by stores to the other blocks' shared memory.
// Each block keeps all operands of a head in its shared memory and pushes its new part to the other blocks.
// Their transaction barriers count the arriving bytes. A step has one barrier wait and no barrier between
// blocks.
//
// Two buffers are enough. A block writes step s + 1 into the others' buffer of step s - 1 only after it has
// received all of step s. Every warp of every block sends its part of step s after it has read step s - 1.
//
// The same barrier orders the accesses to the partial sums (partial_sums.cuh) within a block:
// - The finishing warps read the partial sums of step s and then publish. Lane 0 arrives (release) for its
//   warp, after __syncwarp.
// - Every lane of every warp waits (acquire) for all arrivals before it multiplies in step s + 1. Only then
//   does it write partial sums again.
// - __syncthreads separates the writes from the reads of one step.
// - Nothing is written after the last step. Forward ends with the last publish; backward ends with one more
//   product, after a wait like any other.
//
// compute-sanitizer's racecheck attributes an arrival to the arriving lane alone. It would report the other
// 31 lanes' reads of the partial sums and writes to the tile. For racecheck, kernels are compiled with
// KERNELTUNE_EVERY_LANE_ARRIVES: every lane of a finishing warp arrives for itself. The shipped kernel orders
// the same accesses by __syncwarp and the arrival of lane 0 after it. Nothing else differs.
#pragma once
#include "../ptx/cluster.cuh"
#include "operand_tile.cuh"

namespace kerneltune {

#ifdef KERNELTUNE_EVERY_LANE_ARRIVES
constexpr bool every_lane_arrives = true;
#else
constexpr bool every_lane_arrives = false;
#endif

// Sends what a finishing warp has written into the tile: packets of 16 bytes of a batch row, each to every
// other block.
template <class Shape, int CLUSTER>
struct ClusterExchange {
  using Tile = OperandTile<Shape>;
  using Scalar = typename Shape::Scalar;
  static constexpr int group_packets = 4 * 8 * Shape::operands / Shape::part;
  static constexpr int warp_packets = group_packets * Shape::warp_groups;
  static constexpr int sends = warp_packets * (CLUSTER - 1);
  static constexpr int passes = (sends + 31) / 32;
  static constexpr unsigned arrivals = Shape::finishing_warps * (every_lane_arrives ? 32 : 1);
  static constexpr unsigned remote_bytes =
      (CLUSTER - 1) * Shape::block_units * Shape::operands * Shape::batch_tile * sizeof(Scalar);

  unsigned barrier_address;  // of this block's two barriers, one for each buffer
  unsigned
      remote_buffers[passes];  // the buffers of the block that receives this lane's packet, for each pass
  unsigned remote_barriers[passes];

  __device__ __forceinline__ ClusterExchange(const Tile& tile, unsigned barrier_address, unsigned rank,
                                             const Lane<Shape>& lane)
      : barrier_address(barrier_address) {
#pragma unroll
    for (int pass = 0; pass < passes; pass++) {
      const unsigned other = (rank + 1 + (pass * 32 + lane.lane) / warp_packets) % CLUSTER;
      remote_buffers[pass] = address_in_block(shared_address(tile.buffers), other);
      remote_barriers[pass] = address_in_block(barrier_address, other);
    }
    if (threadIdx.x == 0) {
      barrier(0).initialize(arrivals);
      barrier(1).initialize(arrivals);
    }
  }

  __device__ __forceinline__ TransactionBarrier barrier(int buffer) const {
    return {barrier_address + buffer * 8};
  }

  // Sends what the warp has written into `buffer`. No block needs the last one, so blocks end without waiting
  // for each other.
  __device__ __forceinline__ void publish(const Tile& tile, int buffer, int first_unit, bool last,
                                          const Lane<Shape>& lane) const {
    __syncwarp();
    if (lane.lane == 0) {
      if (lane.warp == 0 && !last)
        barrier(buffer).arrive_expecting(remote_bytes);
      else
        barrier(buffer).arrive();
    } else if constexpr (every_lane_arrives) {
      barrier(buffer).arrive();
    }
    if (last) return;
#pragma unroll
    for (int pass = 0; pass < passes; pass++) {
      const int send = pass * 32 + lane.lane, packet = send % warp_packets;
      if (send >= sends) continue;
      const int group = packet / group_packets, chunk = packet % group_packets / 4;
      const int k = (first_unit + lane.unit(group) - lane.row) * Shape::operands + chunk * Shape::part;
      const Scalar* const source = tile.at(buffer, lane.group_batch_row(group, packet % 4), k);
      const unsigned offset = static_cast<unsigned>(source - tile.buffers) * sizeof(Scalar);
      store_async(remote_buffers[pass] + offset, *reinterpret_cast<const uint4*>(source),
                  remote_barriers[pass] + buffer * 8);
    }
  }
};

}  // namespace kerneltune
