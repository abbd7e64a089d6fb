// Streams one warp's part of R from device memory in every step, with the matching operands.
// For heads whose R fits nowhere on the chip. Weights and operands pass through a ring in shared memory that
// belongs to one warp, so no barrier between warps is needed. The part of R that fits beside the ring stays
// on the chip.
#pragma once
#include "../ptx/mma.cuh"
#include "../shape/product_shape.cuh"
#include "streamed_weights.cuh"

namespace kerneltune {

// A warp has three kinds of pairs of k tiles. The first pairs are streamed. The next SHARED_PAIRS stay in
// shared memory for the whole sequence, the last REGISTER_PAIRS in registers. Weights (StreamedRows,
// StreamedColumns) defines what is copied of R and how it becomes fragments.
//
// Shared memory: [warps][stages, then shared pairs]. A stage is [row halves of weights, then n tiles of
// operands][32 lanes][16 bytes]. A shared pair has no operands. A lane's operands are its own B fragments.
//
// Weights do not depend on the previous step. Their copies run ahead into the next step, across the exchange
// and the pairs that stay. Operands do depend on it. begin_step copies the operands of a step's first stages
// once they are there; the others follow as earlier pairs are multiplied.
template <class Shape, class Weights, class Tiling>
class WeightStream {
  using Scalar = typename Shape::Scalar;
  using Parts = StreamedParts<Shape, Shape::n_tiles>;  // of operands
  static constexpr int stages = Tiling::stream_stages;
  static constexpr int pair_size = 2 * Shape::k_tile;
  static constexpr int weight_bytes = Shape::row_halves * 512;
  static constexpr int stage_bytes = weight_bytes + Shape::n_tiles * 512;
  static constexpr int warp_bytes = stages * stage_bytes + Tiling::shared_pairs * weight_bytes;
  static constexpr int pairs = Shape::warp_k_tiles / 2;
  static constexpr int streamed_pairs = pairs - Tiling::shared_pairs - Tiling::register_pairs;

 public:
  static constexpr int shared_bytes = Shape::warps * warp_bytes;
  static_assert(Shape::warp_k_tiles % 2 == 0, "k tiles are read in pairs");
  static_assert(streamed_pairs > 0, "what is streamed runs ahead of its use");

  // Starts the copies for `steps` steps. recurrent: R of all heads. first_unit: the block's first unit within
  // the head.
  __device__ __forceinline__ WeightStream(const void* recurrent, int head, int first_unit, int steps,
                                          const Lane<Shape>& lane, unsigned char* shared_storage)
      : weights(recurrent, head, first_unit, lane),
        ring(shared_address(shared_storage) + lane.warp * warp_bytes),
        operands(reinterpret_cast<const uint4*>(shared_storage + lane.warp * warp_bytes + weight_bytes) +
                 lane.lane),
        target(ring + weight_bytes + lane.lane * 16),
        first_k(lane.k_split * (pairs * pair_size) + lane.quad * Shape::part),
        ahead_left(static_cast<long long>(steps) * streamed_pairs) {
#pragma unroll
    for (int pair = 0; pair < Tiling::register_pairs; pair++) {  // through the first stage
      weights.copy(ring, pairs - Tiling::register_pairs + pair);
      commit_copies<Shape>();
      wait_for_copies<Shape, 0>();
      order_lanes();
      weights.read(kept[pair], ring);
      order_lanes();
    }
#pragma unroll 1
    for (int pair = 0; pair < Tiling::shared_pairs; pair++)
      weights.copy(shared_pair(pair), streamed_pairs + pair);
#pragma unroll 1
    for (int s = 0; s < stages; s++) {
      copy_weights(s);
      commit_copies<Shape>();
    }
  }

  // from: operands [k / part][batch tile][part], complete and visible to this thread.
  __device__ __forceinline__ void begin_step(const Scalar* from, const Lane<Shape>& lane) {
    source =
        from + (first_k / Shape::part * Shape::batch_tile + Shape::column_row(0, lane.row)) * Shape::part;
    operand_slot = 0;
#pragma unroll 1
    for (int s = 0; s < stages; s++) {
      if (s < pairs) copy_operands(s, s);
      commit_copies<Shape>();
    }
  }

  // accumulators += weights times operands, for all k tiles of the warp.
  template <int MMA_K>
  __device__ __forceinline__ void multiply(Accumulators<Shape>& accumulators) {
#pragma unroll 1
    for (int pair = 0; pair < streamed_pairs; pair++) {
      wait();
      PairFragments<Shape> fragments;
      weights.read(fragments, ring + slot * stage_bytes);
      add_pair<MMA_K>(accumulators, fragments);
      order_lanes();  // all lanes have read the stage
      copy_weights(slot);
      slot = slot == stages - 1 ? 0 : slot + 1;
      next_operands(pair);
    }
#pragma unroll 1
    for (int pair = 0; pair < Tiling::shared_pairs; pair++) {
      wait();
      PairFragments<Shape> fragments;
      weights.read(fragments, shared_pair(pair));
      add_pair<MMA_K>(accumulators, fragments);
      next_operands(streamed_pairs + pair);
    }
#pragma unroll
    for (int pair = 0; pair < Tiling::register_pairs; pair++) {
      wait();
      add_pair<MMA_K>(accumulators, kept[pair]);
      next_operands(streamed_pairs + Tiling::shared_pairs + pair);
    }
    accumulators.join_chains();
  }

 private:
  // Waits for the coming pair. The number of younger groups is always the same: operands of the first stages
  // still to come, or of pairs copied since.
  static __device__ __forceinline__ void wait() {
    wait_for_copies<Shape, stages - 1>();
    order_lanes();  // makes the other lanes' copies visible
  }
  static __device__ __forceinline__ void order_lanes() {
    if constexpr (Weights::of_other_lanes) __syncwarp();
  }

  template <int MMA_K>
  __device__ __forceinline__ void add_pair(Accumulators<Shape>& accumulators,
                                           const PairFragments<Shape>& fragments) const {
#pragma unroll
    for (int n = 0; n < Shape::n_tiles; n++) {
      const uint4 b = operands[operand_slot * (stage_bytes / 16) + n * 32];
      accumulators.template add_k_tile<MMA_K>(fragments, 0, n, b.x, b.y);
      accumulators.template add_k_tile<MMA_K>(fragments, 1, n, b.z, b.w);
    }
  }

  // After a pair of the step: copies the operands that take its place.
  __device__ __forceinline__ void next_operands(int pair) {
    if (pair + stages < pairs) copy_operands(operand_slot, pair + stages);
    commit_copies<Shape>();
    operand_slot = operand_slot == stages - 1 ? 0 : operand_slot + 1;
  }

  // Copies the weights of the coming pair; starts over as long as there are steps.
  __device__ __forceinline__ void copy_weights(int into) {
    if (ahead_left > 0) {
      weights.copy(ring + into * stage_bytes, ahead);
      ahead_left--;
      ahead = ahead == streamed_pairs - 1 ? 0 : ahead + 1;
    }
  }

  __device__ __forceinline__ void copy_operands(int into, int pair) {
    const bool present = !Parts::padded || first_k + pair * pair_size < Shape::k_size;
    Parts copied;
#pragma unroll
    for (int n = 0; n < Shape::n_tiles; n++)
      copied.template start<0>(n, target + into * stage_bytes + n * 512,
                               source + (pair * 4 * Shape::batch_tile + n * 8) * Shape::part, source,
                               present);
    copied.finish();
  }

  __device__ __forceinline__ unsigned shared_pair(int pair) const {
    return ring + stages * stage_bytes + pair * weight_bytes;
  }

  Weights weights;
  PairFragments<Shape> kept[at_least_one(Tiling::register_pairs)];
  unsigned ring;          // the warp's first stage
  const uint4* operands;  // of this lane, in the first stage
  unsigned target;        // the same as an address
  const Scalar* source;   // of this lane's operands
  int first_k;            // this lane's first k in the sum
  int slot = 0;           // of the streamed pair that is multiplied next
  int operand_slot = 0;   // of the pair that is multiplied next
  int ahead = 0;          // the pair whose weights are copied next
  long long ahead_left;   // pairs still to be copied, over all steps
};

}  // namespace kerneltune
