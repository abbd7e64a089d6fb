// Backward pass of a recurrent cell, strategy "cluster".
// The units of one head and batch tile are spread over the blocks of a cluster, which exchange the gates'
// gradients (cluster_exchange.cuh). Clusters: heads x batch tiles, heads fastest.
#include "../../common/elements/gradient_elements.cuh"
#include "../../common/rings/gradient_ring.cuh"
#include "../../common/exchange/operand_tile.cuh"
#include "cluster_block.cuh"

namespace kerneltune {

template <class Cell, class Tiling>
__device__ __forceinline__ void cluster_backward(const BackwardArguments& arguments) {
  using Shape = BackwardShape<Cell, Tiling>;
  using Tile = OperandTile<Shape>;
  using Ring = GradientRing<Cell, Shape, Tiling>;
  using Memory = ClusterMemory<Shape, Tiling, Tile, Ring>;
  constexpr int stages = Tiling::input_stages;

  extern __shared__ __align__(128) unsigned char shared_memory[];
  const Lane<Shape> lane;
  const auto [rank, head, first_row, first_unit] = ClusterPlace<Shape, Tiling::cluster>(arguments.heads);
  const typename Memory::Weights weights(arguments.recurrent, head, first_unit, lane, shared_memory);
  Ring ring(arguments, head, first_row, first_unit, lane, shared_memory + Memory::ring);
  ring.begin(arguments.steps);
  Tile tile(shared_memory + Memory::operands, lane);
  tile.clear();  // the last step has no successor
  GradientElements<Cell, Shape> elements;
  elements.begin(arguments, head, first_row, first_unit, lane);
  const typename Memory::Partials partials(shared_memory + Memory::partials, lane);
  const ClusterExchange<Shape, Tiling::cluster> exchange(
      tile, shared_address(shared_memory + Memory::barriers), rank, lane);
  cluster_synchronize();

  int slot = 0;
  float through_recurrence[Shape::warp_groups];
  // One product more than steps: the last gives the gradient by the initial h.
  for (int done = 0;; done++) {
    const int current = done % 2;
    StepRecord<Cell> record[Shape::warp_groups];
    Accumulators<Shape> sums;
    sums.clear();
    ring.template wait<stages - 2>();
    __syncwarp();
    if (lane.finishes()) ring.read(record, slot);
    // After this wait the other blocks' part is present, and the previous step's partial sums have been read
    // (cluster_exchange.cuh).
    if (done > 0) exchange.barrier(current).wait((done - 1) / 2 % 2);
    tile.template multiply<Tiling::mma_k>(sums, weights, current);
    if constexpr (Shape::k_splits > 1) {
      partials.store(sums);
      __syncthreads();
    }
    if (lane.finishes()) {
#pragma unroll
      for (int group = 0; group < Shape::warp_groups; group++) {
        float sum[1] = {Shape::k_splits > 1 ? 0.0f : sums.of_group(group, 0)};
        if constexpr (Shape::k_splits > 1) partials.add(sum, group);
        through_recurrence[group] = sum[0];
      }
    }
    if (done == arguments.steps) break;
    if (lane.finishes()) {
#pragma unroll
      for (int group = 0; group < Shape::warp_groups; group++) {
        elements.step(group, through_recurrence[group], record[group], lane);
        store_operands<Shape>(tile, 1 - current, lane.batch_row(group), first_unit + lane.unit(group),
                              elements.words[group], lane);
      }
      exchange.publish(tile, 1 - current, first_unit, false, lane);
      elements.write();
    }
    // Every lane has read its slot: publish and the barriers above synchronise the warp.
    ring.copy_next(slot == 0 ? stages - 1 : slot - 1, done + stages - 1 < arguments.steps);
    slot = slot == stages - 1 ? 0 : slot + 1;
  }
  if (!lane.finishes()) return;
#pragma unroll
  for (int group = 0; group < Shape::warp_groups; group++)
    elements.finish(group, through_recurrence[group], arguments, head, first_row, first_unit, lane);
}

}  // namespace kerneltune
