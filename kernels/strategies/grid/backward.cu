// Backward pass of a recurrent cell, strategy "grid".
// The units of one head and batch tile are spread over a group of thread blocks anywhere on the GPU, which
// exchange the gates' gradients through L2 (grid_exchange.cuh). The launch is cooperative: all blocks of a
// group must run at the same time. Groups take (head, batch tile) jobs in turn until none is left, so any
// batch runs on the groups that fit.
#include "../../common/elements/gradient_elements.cuh"
#include "../../common/rings/gradient_ring.cuh"
#include "../../common/exchange/grid_exchange.cuh"
#include "../../common/exchange/partial_sums.cuh"
#include "../../common/weights/recurrent_weights.cuh"

namespace kerneltune {

// Publishes a lane's gradients in whole words: each word that others see holds its arrival mark or is
// complete.
template <class Shape>
struct GradientOutlet {
  using Words = GateWords<Shape>;
  using Scalar = typename Shape::Scalar;

  int first_operand[Shape::warp_groups];  // k; negative for lanes that publish nothing

  __device__ __forceinline__ GradientOutlet(int rows, int first_unit, const Lane<Shape>& lane) {
#pragma unroll
    for (int group = 0; group < Shape::warp_groups; group++) {
      const bool publishes = lane.finishes() && Words::of_recurrent(lane) && lane.batch_row(group) < rows;
      first_operand[group] =
          publishes ? (first_unit + lane.unit(group) - Words::units_before(lane)) * Shape::operands : -1;
    }
  }

  // slot: of the exchange.
  __device__ __forceinline__ void publish(Scalar* slot, const Words& words, int group,
                                          const Lane<Shape>& lane) const {
    if (first_operand[group] < 0) return;
    words.publish(slot, first_operand[group], lane.batch_row(group));
  }
};

template <class Cell, class Tiling>
struct GridBackward {
  using Shape = BackwardShape<Cell, Tiling>;
  using Weights = RecurrentWeights<Shape, ChunkedOrder, Tiling::register_k_tiles>;
  using Ring = GradientRing<Cell, Shape, Tiling>;
  using Partials = PartialSums<Shape>;
  using Exchange = GridExchange<Shape, Tiling::exchange_slots, Tiling::receive_rounds, 2>;
  static constexpr int partial_bytes = Partials::shared_bytes;  // of each of two buffers
  static_assert(Shape::k_splits > 1, "the sum is split");
  static_assert(Weights::shared_bytes + Ring::shared_bytes + 2 * partial_bytes == Tiling::shared_memory,
                "shared memory as solved");
  static constexpr int stages = Tiling::input_stages;
  static constexpr int prefetch_distance = 4;  // in steps
  // Requests the next operands early, except where the first of several rounds alone fills so many registers
  // that R lacks them: 1 x 2048.
  static constexpr bool asks_early = Tiling::receive_rounds == 1 || Shape::n_tiles == 1;
  static constexpr int marking_warp = Shape::warps - 1;
  // Cycles until the first poll (kernel.cu). They begin when a warp's own gradients are out, or when a warp
  // without gradients reaches the block's barrier.
  static constexpr unsigned head_start = 300;

  // Runs one head and batch tile from the last step to the first. shared_memory: weights, ring, two buffers
  // of partial sums.
  static __device__ __forceinline__ void run_job(const BackwardArguments& arguments, int head, int first_row,
                                                 int first_unit, const Lane<Shape>& lane, Exchange& exchange,
                                                 unsigned char* shared_memory) {
    unsigned char* const ring_storage = shared_memory + Weights::shared_bytes;
    const Partials partials(ring_storage + Ring::shared_bytes, lane);
    const Weights weights(arguments.recurrent, head, first_unit, lane, shared_memory);
    Ring ring(arguments, head, first_row, first_unit, lane, ring_storage);
    ring.begin(arguments.steps);
    GradientElements<Cell, Shape> elements;
    elements.begin(arguments, head, first_row, first_unit, lane);
    const int rows = arguments.batch - first_row;
    const GradientOutlet<Shape> outlet(rows, first_unit, lane);

    int slot = 0;
    float through_recurrence[Shape::warp_groups];
    // One product more than steps: the last gives the gradient by the initial h.
    for (int done = 0;; done++) {
      Accumulators<Shape> sums;
      sums.clear();
      exchange.prepare_next();
      if (done > 0) {
#pragma unroll
        for (int round = 0; round < Tiling::receive_rounds; round++) {
          if (round > 0 || !asks_early) exchange.request(rows, lane, round);
          exchange.template multiply_arriving<Tiling::mma_k>(sums, weights, round);
        }
      }
      sums.join_chains();
      // Two buffers: a warp may be ahead of the warps that add this step's parts, but not by two barriers.
      const int buffer = done % 2;
      partials.store(sums, buffer);
      // The record is read after the barrier, for the same reason as W x (kernel.cu).
      StepRecord<Cell> record[Shape::warp_groups];
      ring.template wait<stages - 2>();
      __syncthreads();
      if (lane.finishes()) {
        ring.read(record, slot);
#pragma unroll
        for (int group = 0; group < Shape::warp_groups; group++) {
          float sum[1] = {0.0f};
          partials.add(sum, group, buffer);
          through_recurrence[group] = sum[0];
        }
      }
      if (done < arguments.steps && lane.finishes()) {
#pragma unroll
        for (int group = 0; group < Shape::warp_groups; group++) {
          elements.step(group, through_recurrence[group], record[group], lane);
          outlet.publish(exchange.next, elements.words[group], group, lane);
        }
      }
      const unsigned published = cycle();
      const unsigned received = exchange.published;
      if (done < arguments.steps) {
        exchange.advance(lane);
        if (lane.finishes()) elements.write();
        if constexpr (asks_early) {
          pass_cycles(published, head_start);
          exchange.request(rows, lane);
        }
      }
      if (done > 0 && lane.warp == marking_warp) exchange.clear_before(received, first_unit, lane);
      if (done == arguments.steps) break;
      ring.template prefetch<prefetch_distance>(done + stages - 1 + prefetch_distance < arguments.steps);
      ring.copy_next(slot == 0 ? stages - 1 : slot - 1, done + stages - 1 < arguments.steps);
      slot = slot == stages - 1 ? 0 : slot + 1;
    }
    if (!lane.finishes()) return;
#pragma unroll
    for (int group = 0; group < Shape::warp_groups; group++)
      elements.finish(group, through_recurrence[group], arguments, head, first_row, first_unit, lane);
  }
};

template <class Cell, class Tiling>
__device__ __forceinline__ void grid_backward(const BackwardArguments& arguments) {
  using Backward = GridBackward<Cell, Tiling>;
  using Shape = typename Backward::Shape;
  constexpr int group_blocks = Shape::head_dim / Shape::block_units;
  extern __shared__ __align__(128) unsigned char shared_memory[];
  const Lane<Shape> lane;
  const int groups = gridDim.x / group_blocks;
  const int first_unit = blockIdx.x % group_blocks * Shape::block_units;
  typename Backward::Exchange exchange(arguments.workspace, blockIdx.x / group_blocks, groups);
  const int batch_tiles = (arguments.batch + Shape::batch_tile - 1) / Shape::batch_tile;
  for (int job = blockIdx.x / group_blocks; job < arguments.heads * batch_tiles; job += groups) {
    Backward::run_job(arguments, job % arguments.heads, job / arguments.heads * Shape::batch_tile, first_unit,
                      lane, exchange, shared_memory);
    __syncthreads();  // the next job overwrites the partial sums and the rings
  }
}

}  // namespace kerneltune
