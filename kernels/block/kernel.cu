// Forward pass of a recurrent cell, strategy "block": a thread block computes one head for one batch tile from first step to last, so h
// never leaves its shared memory and no block waits for another. Blocks: heads x batch tiles, heads fastest.
#include "../_common/elements.cuh"
#include "../_common/hidden_tile.cuh"
#include "../_common/input_ring.cuh"
#include "../_common/recurrent_weights.cuh"

namespace kerneltune {

template <class Cell, class Tiling>
__device__ __forceinline__ void block_forward(const ForwardArguments& arguments) {
  using Shape = ForwardShape<Cell, Tiling>;
  using Scalar = typename Shape::Scalar;
  using Weights = RecurrentWeights<Shape, NaturalOrder, Tiling::register_k_tiles>;
  using Hidden = HiddenTile<Shape>;
  using Ring = InputRing<Shape, Tiling>;
  static_assert(Shape::k_splits == 1 && Shape::block_units == Shape::head_dim, "a block computes a whole head");
  static_assert(Weights::shared_bytes + Hidden::shared_bytes + Ring::shared_bytes == Tiling::shared_memory, "shared memory as solved");
  constexpr int stages = Tiling::input_stages;

  extern __shared__ __align__(128) unsigned char shared_memory[];
  const Lane<Shape> lane;
  const int head = blockIdx.x % arguments.heads;
  const int first_row = blockIdx.x / arguments.heads * Shape::batch_tile;

  Ring ring(arguments, head, first_row, 0, lane, shared_memory + Weights::shared_bytes + Hidden::shared_bytes);
#pragma unroll
  for (int step = 0; step < stages - 1; step++) ring.copy_next(step, step < arguments.steps);
  Weights weights;
  weights.load(arguments.recurrent, head, 0, lane, shared_memory);
  Hidden hidden(shared_memory + Weights::shared_bytes, lane);
  hidden.fill(arguments, head, first_row);
  Elements<Cell, Shape> elements;
  elements.load(arguments, head, first_row, 0, lane);
  ring.template wait<stages - 2>();
  __syncthreads();

  int slot = 0;
  for (int step = 0; step < arguments.steps; step++) {
    const int current = step % 2;
    float input[Shape::warp_groups][Shape::gates];
    Accumulators<Shape> sums;
    sums.clear();
#pragma unroll
    for (int group = 0; group < Shape::warp_groups; group++) {
      ring.read(input[group], slot, group);
#pragma unroll
      for (int gate = 0; gate < Shape::gates; gate++) sums.of_group(group, gate) = elements.offset(group, gate, input[group][gate]);
    }
    hidden.template multiply<Tiling::mma_k>(sums, weights, current);
    if (step > 0) {  // what the step before left to write: products wait for each other meanwhile
      hidden.store_rows(arguments, current, step, head, first_row, 0, 0, lane);
      elements.save();
    }
    // The slot read in the step before is free: every lane passed the barrier since.
    ring.copy_next(slot == 0 ? stages - 1 : slot - 1, step + stages - 1 < arguments.steps);
#pragma unroll
    for (int group = 0; group < Shape::warp_groups; group++) {
      float sum[Shape::gates];
#pragma unroll
      for (int gate = 0; gate < Shape::gates; gate++) sum[gate] = sums.of_group(group, gate);
      *hidden.at(1 - current, lane.batch_row(group), lane.unit(group)) =
          from_float<Scalar>(elements.step(group, sum, input[group]));
    }
    slot = slot == stages - 1 ? 0 : slot + 1;
    ring.template wait<stages - 2>();
    __syncthreads();
  }
  hidden.store_rows(arguments, arguments.steps % 2, arguments.steps, head, first_row, 0, 0, lane);
  elements.save();
  elements.store_last(arguments, head, first_row, 0, lane);
}

}  // namespace kerneltune
