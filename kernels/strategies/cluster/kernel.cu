// Forward pass of a recurrent cell, strategy "cluster".
// The units of one head and batch tile are spread over the blocks of a cluster, which exchange h
// (cluster_exchange.cuh). Clusters: heads x batch tiles, heads fastest.
#include "../../common/elements/elements.cuh"
#include "../../common/exchange/hidden_tile.cuh"
#include "../../common/rings/input_ring.cuh"
#include "cluster_block.cuh"

namespace kerneltune {

template <class Cell, class Tiling>
__device__ __forceinline__ void cluster_forward(const ForwardArguments& arguments) {
  using Shape = ForwardShape<Cell, Tiling>;
  using Scalar = typename Shape::Scalar;
  using Hidden = HiddenTile<Shape>;
  using Ring = InputRing<Shape, Tiling>;
  using Memory = ClusterMemory<Shape, Tiling, Hidden, Ring>;
  constexpr int stages = Tiling::input_stages;

  extern __shared__ __align__(128) unsigned char shared_memory[];
  const Lane<Shape> lane;
  const auto [rank, head, first_row, first_unit] = ClusterPlace<Shape, Tiling::cluster>(arguments.heads);
  const typename Memory::Weights weights(arguments.recurrent, head, first_unit, lane, shared_memory);
  Ring ring(arguments, head, first_row, first_unit, lane, shared_memory + Memory::ring);
  ring.begin(arguments.steps);
  Hidden hidden(shared_memory + Memory::operands, lane);
  hidden.fill(arguments, head, first_row);
  Elements<Cell, Shape> elements;
  elements.load(arguments, head, first_row, first_unit, lane);
  const typename Memory::Partials partials(shared_memory + Memory::partials, lane);
  const ClusterExchange<Shape, Tiling::cluster> exchange(
      hidden, shared_address(shared_memory + Memory::barriers), rank, lane);
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
          for (int gate = 0; gate < Shape::gates; gate++)
            sums.of_group(group, gate) = elements.offset(group, gate, input[group][gate]);
    }
    // After this wait the other blocks' part is present, and the previous step's partial sums have been read
    // (cluster_exchange.cuh).
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
          sum[gate] = Shape::k_splits > 1 ? elements.offset(group, gate, input[group][gate])
                                          : sums.of_group(group, gate);
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
