// Forward pass of a recurrent cell, strategy "cluster": the units of one head and batch tile are spread over the blocks of a cluster.
// Each block keeps the whole of h in its shared memory and pushes its own new part to the others, whose transaction barriers count the
// arriving bytes: one barrier wait a step, no barrier between blocks. Clusters: heads x batch tiles, heads fastest.
//
// Two buffers of h are enough: a block writes h(t+1) into the others' buffer of h(t-1) only after it has received all of h(t), and every
// warp of every block sends its part of h(t) after it has read all of h(t-1).
#include "../_common/cluster.cuh"
#include "../_common/elements.cuh"
#include "../_common/hidden_tile.cuh"
#include "../_common/input_ring.cuh"
#include "../_common/partial_sums.cuh"
#include "../_common/recurrent_weights.cuh"

namespace kerneltune {

// The way out for a finishing warp's new part of h: packets of 16 bytes (8 units of a batch row), each to every other block.
template <class Shape, int CLUSTER>
struct ClusterExchange {
  using Hidden = HiddenTile<Shape>;
  using Scalar = typename Shape::Scalar;
  static constexpr int warp_packets = 4 * Shape::warp_groups;
  static constexpr int sends = warp_packets * (CLUSTER - 1);
  static constexpr int passes = (sends + 31) / 32;
  static constexpr unsigned remote_bytes = (CLUSTER - 1) * Shape::block_units * Shape::batch_tile * 2;

  unsigned barrier_address;         // of this block's two barriers, one a buffer
  unsigned remote_buffers[passes];  // of the block that this lane's send of each pass goes to
  unsigned remote_barriers[passes];

  __device__ __forceinline__ ClusterExchange(Hidden& hidden, unsigned barrier_address, unsigned rank, const Lane<Shape>& lane)
      : barrier_address(barrier_address) {
#pragma unroll
    for (int pass = 0; pass < passes; pass++) {
      const unsigned other = (rank + 1 + (pass * 32 + lane.lane) / warp_packets) % CLUSTER;
      remote_buffers[pass] = address_in_block(shared_address(hidden.buffers), other);
      remote_barriers[pass] = address_in_block(barrier_address, other);
    }
    if (threadIdx.x == 0) {
      barrier(0).initialize(Shape::finishing_warps);
      barrier(1).initialize(Shape::finishing_warps);
    }
  }

  __device__ __forceinline__ TransactionBarrier barrier(int buffer) const { return {barrier_address + buffer * 8}; }

  // Sends what the warp has written into `buffer`. The last h is needed by nobody, so blocks may end without waiting for each other.
  __device__ __forceinline__ void publish(Hidden& hidden, int buffer, int first_unit, bool last, const Lane<Shape>& lane) const {
    __syncwarp();
    if (lane.lane == 0) {
      if (lane.warp == 0 && !last)
        barrier(buffer).arrive_expecting(remote_bytes);
      else
        barrier(buffer).arrive();
    }
    if (last) return;
#pragma unroll
    for (int pass = 0; pass < passes; pass++) {
      const int send = pass * 32 + lane.lane, packet = send % warp_packets;
      if (send >= sends) continue;
      const int unit = first_unit + lane.unit(packet / 4) - lane.row;
      const Scalar* const source = hidden.at(buffer, lane.group_batch_row(packet / 4, packet % 4), unit);
      const unsigned offset = static_cast<unsigned>(source - hidden.buffers) * sizeof(Scalar);
      store_async(remote_buffers[pass] + offset, *reinterpret_cast<const uint4*>(source), remote_barriers[pass] + buffer * 8);
    }
  }
};

template <class Cell, class Tiling>
__device__ __forceinline__ void cluster_forward(const ForwardArguments& arguments) {
  using Shape = ForwardShape<Cell, Tiling>;
  using Scalar = typename Shape::Scalar;
  using Weights = RecurrentWeights<Shape, NaturalOrder, Tiling::register_k_tiles>;
  using Hidden = HiddenTile<Shape>;
  using Ring = InputRing<Shape, Tiling>;
  using Partials = PartialSums<Shape>;
  constexpr int partial_bytes = Shape::k_splits > 1 ? Partials::shared_bytes : 0;
  constexpr int barrier_bytes = 16;
  static_assert(Shape::block_units * Tiling::cluster == Shape::head_dim, "a cluster computes a whole head");
  static_assert(Weights::shared_bytes + Hidden::shared_bytes + Ring::shared_bytes + partial_bytes + barrier_bytes == Tiling::shared_memory,
                "shared memory as solved");
  constexpr int stages = Tiling::input_stages;

  extern __shared__ __align__(128) unsigned char shared_memory[];
  unsigned char* const ring_storage = shared_memory + Weights::shared_bytes + Hidden::shared_bytes;
  unsigned char* const partial_storage = ring_storage + Ring::shared_bytes;
  const Lane<Shape> lane;
  const unsigned rank = cluster_block_rank();
  const int cluster = blockIdx.x / Tiling::cluster;
  const int head = cluster % arguments.heads;
  const int first_row = cluster / arguments.heads * Shape::batch_tile;
  const int first_unit = rank * Shape::block_units;

  Ring ring(arguments, head, first_row, first_unit, lane, ring_storage);
#pragma unroll
  for (int step = 0; step < stages - 1; step++) ring.copy_next(step, step < arguments.steps);
  Weights weights;
  weights.load(arguments.recurrent, head, first_unit, lane, shared_memory);
  Hidden hidden(shared_memory + Weights::shared_bytes, lane);
  hidden.fill(arguments, head, first_row);
  Elements<Cell, Shape> elements;
  elements.load(arguments, head, first_row, first_unit, lane);
  const Partials partials{reinterpret_cast<float*>(partial_storage)};
  const ClusterExchange<Shape, Tiling::cluster> exchange(hidden, shared_address(partial_storage + partial_bytes), rank, lane);
  cluster_synchronize();

  int slot = 0;
  for (int step = 0; step < arguments.steps; step++) {
    const int current = step % 2;
    float input[Shape::warp_groups][Shape::gates];
    Accumulators<Shape> sums;
    sums.clear();
    ring.template wait<stages - 2>();
    __syncwarp();
    if (lane.finishes()) {
#pragma unroll
      for (int group = 0; group < Shape::warp_groups; group++) {
        ring.read(input[group], slot, group);
        if constexpr (Shape::k_splits == 1)
#pragma unroll
          for (int gate = 0; gate < Shape::gates; gate++) sums.of_group(group, gate) = elements.offset(group, gate, input[group][gate]);
      }
    }
    if (step > 0) exchange.barrier(current).wait((step - 1) / 2 % 2);
    hidden.template multiply<Tiling::mma_k>(sums, weights, current);
    if constexpr (Shape::k_splits > 1) {
      partials.store(sums, lane);
      __syncthreads();
    }
    if (lane.finishes()) {
#pragma unroll
      for (int group = 0; group < Shape::warp_groups; group++) {
        float sum[Shape::gates];
#pragma unroll
        for (int gate = 0; gate < Shape::gates; gate++)
          sum[gate] = Shape::k_splits > 1 ? elements.offset(group, gate, input[group][gate]) : sums.of_group(group, gate);
        if constexpr (Shape::k_splits > 1) partials.add(sum, group, lane);
        *hidden.at(1 - current, lane.batch_row(group), first_unit + lane.unit(group)) =
            from_float<Scalar>(elements.step(group, sum, input[group]));
      }
      exchange.publish(hidden, 1 - current, first_unit, step + 1 == arguments.steps, lane);
      hidden.store_rows(arguments, 1 - current, step + 1, head, first_row, first_unit, first_unit, lane);
    }
    // Every lane has read its slot: publish and the barriers above synchronise the warp.
    ring.copy_next(slot == 0 ? stages - 1 : slot - 1, step + stages - 1 < arguments.steps);
    slot = slot == stages - 1 ? 0 : slot + 1;
  }
  elements.store_last(arguments, head, first_row, first_unit, lane);
}

}  // namespace kerneltune
