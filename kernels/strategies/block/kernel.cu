// Forward pass of a recurrent cell, strategy "block".
// A thread block computes one head for one batch tile, from the first step to the last. h never leaves its
// shared memory, and no block waits for another. Blocks: heads x batch tiles, heads fastest.
#include "../../common/elements/elements.cuh"
#include "../../common/exchange/hidden_tile.cuh"
#include "../../common/rings/input_ring.cuh"
#include "../../common/weights/recurrent_weights.cuh"

namespace kerneltune {

template <class Shape, class Elements>
__device__ __forceinline__ void begin_sums(Accumulators<Shape>& sums, const Elements& elements,
                                           const float (&input)[Shape::warp_groups][Shape::gates]) {
#pragma unroll
  for (int group = 0; group < Shape::warp_groups; group++)
#pragma unroll
    for (int gate = 0; gate < Shape::gates; gate++) {
      float& sum = sums.of_group(group, gate);
      sum = elements.offset(group, gate, input[group][gate]);
      // Pin the addition here; otherwise the compiler sinks it to where the next operands are awaited.
      asm volatile("" : "+f"(sum));
    }
  sums.clear(1);  // of the other chains
}

template <class Cell, class Tiling>
__device__ __forceinline__ void block_forward(const ForwardArguments& arguments) {
  using Shape = ForwardShape<Cell, Tiling>;
  using Scalar = typename Shape::Scalar;
  using Weights = RecurrentWeights<Shape, NaturalOrder, Tiling::register_k_tiles>;
  using Hidden = HiddenTile<Shape>;
  using Ring = InputRing<Shape, Tiling>;
  static_assert(Shape::k_splits == 1 && Shape::block_units == Shape::head_dim,
                "a block computes a whole head");
  static_assert(Weights::shared_bytes + Hidden::shared_bytes + Ring::shared_bytes == Tiling::shared_memory,
                "shared memory as solved");
  constexpr int stages = Tiling::input_stages;
  static_assert(stages > 3, "the two steps that are waited for and the one that is copied");

  extern __shared__ __align__(128) unsigned char shared_memory[];
  const Lane<Shape> lane;
  const int head = blockIdx.x % arguments.heads;
  const int first_row = blockIdx.x / arguments.heads * Shape::batch_tile;

  Ring ring(arguments, head, first_row, 0, lane,
            shared_memory + Weights::shared_bytes + Hidden::shared_bytes);
  ring.begin(arguments.steps);
  const Weights weights(arguments.recurrent, head, 0, lane, shared_memory);
  Hidden hidden(shared_memory + Weights::shared_bytes, lane);
  hidden.fill(arguments, head, first_row);
  Elements<Cell, Shape> elements;
  elements.load(arguments, head, first_row, 0, lane, -1);
  HiddenRows<Shape> rows(arguments, hidden, 0, head, first_row, 0, 0, lane);
  ring.template wait<stages - 3>();  // the first two steps
  __syncthreads();

  float input[Shape::warp_groups][Shape::gates];
  Accumulators<Shape> sums;
  sums.clear();  // sums of no element may keep any value: no other column uses them
  ring.read(input, 0);
  begin_sums(sums, elements, input);
  int slot = 0;
#pragma unroll 2  // the two buffers in turn
  for (int step = 0; step < arguments.steps; step++) {
    const int current = step % 2;
    const int slot_before = slot == 0 ? stages - 1 : slot - 1;
    slot = slot == stages - 1 ? 0 : slot + 1;
    float next_input[Shape::warp_groups][Shape::gates];
    hidden.template multiply<Tiling::mma_k>(sums, weights, current, [&] {
      // Writes the previous step's results and reads the next step's input. The previous step's slot is free:
      // every lane read it before the last barrier.
      rows.write(current, step > 0);
      elements.save(step > 0);
      ring.copy_next(slot_before, step + stages - 1 < arguments.steps);
      ring.read(next_input, slot);
    });
#pragma unroll
    for (int group = 0; group < Shape::warp_groups; group++) {
      float sum[Shape::gates];
#pragma unroll
      for (int gate = 0; gate < Shape::gates; gate++) sum[gate] = sums.of_group(group, gate);
      *hidden.at(1 - current, lane.batch_row(group), lane.unit(group)) =
          from_float<Scalar>(elements.step(group, sum, input[group]));
    }
    begin_sums(sums, elements, next_input);
#pragma unroll
    for (int group = 0; group < Shape::warp_groups; group++)
#pragma unroll
      for (int gate = 0; gate < Shape::gates; gate++) input[group][gate] = next_input[group][gate];
    ring.template wait<stages - 3>();  // the step after the next
    __syncthreads();
  }
  rows.write(arguments.steps % 2, true);
  elements.save();
  elements.store_last(arguments, head, first_row, 0, lane);
}

}  // namespace kerneltune
