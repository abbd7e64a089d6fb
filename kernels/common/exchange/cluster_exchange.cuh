// The exchange of operands within a cluster: each block keeps all of a head's in its shared memory and pushes its own new part to the others,
// whose transaction barriers count the arriving bytes: one barrier wait a step, no barrier between blocks.
//
// Two buffers are enough: a block writes step s + 1 into the others' buffer of step s - 1 only after it has received all of step s, and
// every warp of every block sends its part of step s after it has read all of step s - 1.
//
// The same barrier orders what warps share within the block besides, the partial sums (partial_sums.cuh): the finishing warps read those of
// step s, then publish, where lane 0 arrives (release) for its warp behind __syncwarp; every lane of every warp waits (acquire) for all
// arrivals before it multiplies in step s + 1, and only then writes partial sums again. Between the writes and the reads of one step stands
// __syncthreads. After the last step (forward: the last publish; backward: one more product, behind a wait as any other) nobody writes.
//
// compute-sanitizer's racecheck takes an arrival for the accesses of the arriving lane alone: it would report what the other 31 have read of
// the partial sums and written of the tile. For it kernels are compiled with KERNELTUNE_EVERY_LANE_ARRIVES, and every lane of a finishing warp
// arrives for itself. What that orders, __syncwarp and the arrival of lane 0 behind it order as well; nothing else differs.
#pragma once
#include "../ptx/cluster.cuh"
#include "operand_tile.cuh"

namespace kerneltune {

#ifdef KERNELTUNE_EVERY_LANE_ARRIVES
constexpr bool every_lane_arrives = true;
#else
constexpr bool every_lane_arrives = false;
#endif

// The way out for what a finishing warp has put into the tile: packets of 16 bytes of a batch row, each to every other block.
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

  unsigned barrier_address;         // of this block's two barriers, one a buffer
  unsigned remote_buffers[passes];  // of the block that this lane's send of each pass goes to
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

  // Sends what the warp has written into `buffer`. The last is needed by nobody, so blocks may end without waiting for each other.
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
