// Backward pass of a recurrent cell, strategy "block".
// A thread block computes one head for one batch tile, from the last step to the first. The gates' gradients
// never leave its shared memory, and no block waits for another. Blocks: heads x batch tiles, heads fastest.
#include "../../common/elements/gradient_elements.cuh"
#include "../../common/rings/gradient_ring.cuh"
#include "../../common/exchange/operand_tile.cuh"
#include "../../common/weights/recurrent_weights.cuh"

namespace kerneltune {

template <class Cell, class Tiling>
__device__ __forceinline__ void block_backward(const BackwardArguments& arguments) {
  using Shape = BackwardShape<Cell, Tiling>;
  using Weights = RecurrentWeights<Shape, NaturalOrder, Tiling::register_k_tiles>;
  using Tile = OperandTile<Shape>;
  using Ring = GradientRing<Cell, Shape, Tiling>;
  static_assert(Shape::k_splits == 1 && Shape::block_units == Shape::head_dim,
                "a block computes a whole head");
  static_assert(Weights::shared_bytes + Tile::shared_bytes + Ring::shared_bytes == Tiling::shared_memory,
                "shared memory as solved");
  constexpr int stages = Tiling::input_stages;

  extern __shared__ __align__(128) unsigned char shared_memory[];
  const Lane<Shape> lane;
  const int head = blockIdx.x % arguments.heads;
  const int first_row = blockIdx.x / arguments.heads * Shape::batch_tile;

  const Weights weights(arguments.recurrent, head, 0, lane, shared_memory);
  Ring ring(arguments, head, first_row, 0, lane, shared_memory + Weights::shared_bytes + Tile::shared_bytes);
  ring.begin(arguments.steps);
  Tile tile(shared_memory + Weights::shared_bytes, lane);
  tile.clear();  // the last step has no successor
  GradientElements<Cell, Shape> elements;
  elements.begin(arguments, head, first_row, 0, lane, 1);
  ring.template wait<stages - 2>();
  __syncthreads();

  Accumulators<Shape> sums;
  int slot = 0;
  for (int done = 0; done < arguments.steps; done++) {
    const int current = done % 2;
    StepRecord<Cell> record[Shape::warp_groups];
    sums.clear();
    tile.template multiply<Tiling::mma_k>(sums, weights, current, [&] {
      // Reads this step's record, writes the previous step's gradients, and copies a later step's record. The
      // previous step's slot is free: every lane read it before the last barrier.
      ring.read(record, slot);
      elements.write(done > 0);
      ring.copy_next(slot == 0 ? stages - 1 : slot - 1, done + stages - 1 < arguments.steps);
    });
    if constexpr (Tiling::stores_together) {
      // One branch for all groups, behind all shuffles: a GRU's lanes part there.
#pragma unroll
      for (int group = 0; group < Shape::warp_groups; group++)
        elements.step(group, sums.of_group(group, 0), record[group], lane);
      if (GateWords<Shape>::of_recurrent(lane)) {
#pragma unroll
        for (int group = 0; group < Shape::warp_groups; group++)
          store_operands<Shape>(tile, 1 - current, lane.batch_row(group), lane.unit(group),
                                elements.words[group], lane);
      }
    } else {
#pragma unroll
      for (int group = 0; group < Shape::warp_groups; group++) {
        elements.step(group, sums.of_group(group, 0), record[group], lane);
        store_operands<Shape>(tile, 1 - current, lane.batch_row(group), lane.unit(group),
                              elements.words[group], lane);
      }
    }
    slot = slot == stages - 1 ? 0 : slot + 1;
    ring.template wait<stages - 2>();
    __syncthreads();
  }
  // The gradient by the initial h.
  sums.clear();
  tile.template multiply<Tiling::mma_k>(sums, weights, arguments.steps % 2);
  elements.write();
#pragma unroll
  for (int group = 0; group < Shape::warp_groups; group++)
    elements.finish(group, sums.of_group(group, 0), arguments, head, first_row, 0, lane);
}

}  // namespace kerneltune
