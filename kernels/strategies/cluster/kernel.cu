// Forward pass of a recurrent cell, strategy "cluster": the units of one head and batch tile are spread over the blocks of a cluster
// (cluster_exchange.cuh). Clusters: heads x batch tiles, heads fastest.
#include "../../common/exchange/cluster_exchange.cuh"
#include "../../common/elements/elements.cuh"
#include "../../common/exchange/hidden_tile.cuh"
#include "../../common/rings/input_ring.cuh"
#include "../../common/exchange/partial_sums.cuh"
#include "../../common/weights/recurrent_weights.cuh"

namespace kerneltune {

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

  Weights weights;
  weights.load(arguments.recurrent, head, first_unit, lane, shared_memory);
  Ring ring(arguments, head, first_row, first_unit, lane, ring_storage);
#pragma unroll
  for (int step = 0; step < stages - 1; step++) ring.copy_next(step, step < arguments.steps);
  Hidden hidden(shared_memory + Weights::shared_bytes, lane);
  hidden.fill(arguments, head, first_row);
  Elements<Cell, Shape> elements;
  elements.load(arguments, head, first_row, first_unit, lane);
  const Partials partials(partial_storage, lane);
  const ClusterExchange<Shape, Tiling::cluster> exchange(hidden, shared_address(partial_storage + partial_bytes), rank, lane);
  HiddenRows<Shape> rows(arguments, hidden, 1, head, first_row, first_unit, first_unit, lane);
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
      ring.read(input, slot);
      if constexpr (Shape::k_splits == 1)
#pragma unroll
        for (int group = 0; group < Shape::warp_groups; group++)
#pragma unroll
          for (int gate = 0; gate < Shape::gates; gate++) sums.of_group(group, gate) = elements.offset(group, gate, input[group][gate]);
    }
    // Then the other blocks' part is here, and the partial sums of the step before have been read (cluster_exchange.cuh).
    if (step > 0) exchange.barrier(current).wait((step - 1) / 2 % 2);
    hidden.template multiply<Tiling::mma_k>(sums, weights, current);
    if constexpr (Shape::k_splits > 1) {
      partials.store(sums);
      __syncthreads();
    }
    if (lane.finishes()) {
#pragma unroll
      for (int group = 0; group < Shape::warp_groups; group++) {
        float sum[Shape::gates];
#pragma unroll
        for (int gate = 0; gate < Shape::gates; gate++)
          sum[gate] = Shape::k_splits > 1 ? elements.offset(group, gate, input[group][gate]) : sums.of_group(group, gate);
        if constexpr (Shape::k_splits > 1) partials.add(sum, group);
        *hidden.at(1 - current, lane.batch_row(group), first_unit + lane.unit(group)) =
            from_float<Scalar>(elements.step(group, sum, input[group]));
      }
      exchange.publish(hidden, 1 - current, first_unit, step + 1 == arguments.steps, lane);
      elements.save();
      rows.write(1 - current, true);
    }
    // Every lane has read its slot: publish and the barriers above synchronise the warp.
    ring.copy_next(slot == 0 ? stages - 1 : slot - 1, step + stages - 1 < arguments.steps);
    slot = slot == stages - 1 ? 0 : slot + 1;
  }
  elements.store_last(arguments, head, first_row, first_unit, lane);
}

}  // namespace kerneltune
