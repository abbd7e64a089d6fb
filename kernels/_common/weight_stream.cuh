// R of one warp streamed from device memory again in every step, for heads that fit nowhere, together with the operands that it meets:
// both through a ring in shared memory that a warp keeps for itself, so that no barrier stands between warps.
#pragma once
#include "mma.cuh"
#include "product_shape.cuh"
#include "streamed_weights.cuh"

namespace kerneltune {

// Ring: [warps][stages][row halves of weights, then n tiles of operands][32 lanes][16 bytes]; a stage is a pair of k tiles. Weights
// (StreamedRows, StreamedColumns) tells what is copied of R and how it becomes fragments. A lane's operands are its own B fragments.
//
// Weights do not depend on the step before: their copies run ahead into the next step, across the exchange. Operands do: those of a step's
// first stages are copied when they are there (begin_step), the others together with the weights of the same stage.
template <class Shape, class Weights, int STAGES>
class WeightStream {
  using Scalar = typename Shape::Scalar;
  using Parts = StreamedParts<Shape, Shape::n_tiles>;  // of operands
  static constexpr int pair_size = 2 * Shape::k_tile;
  static constexpr int weight_bytes = Shape::row_halves * 512;
  static constexpr int stage_bytes = weight_bytes + Shape::n_tiles * 512;

 public:
  static constexpr int pairs = Shape::warp_k_tiles / 2;
  static constexpr int shared_bytes = Shape::warps * STAGES * stage_bytes;
  static_assert(Shape::warp_k_tiles % 2 == 0, "k tiles are read in pairs");

  // Starts the copies for `steps` steps. recurrent: R of all heads; first_unit: of this block within the head.
  __device__ __forceinline__ WeightStream(const void* recurrent, int head, int first_unit, int steps, const Lane<Shape>& lane,
                                          unsigned char* shared_storage)
      : weights(recurrent, head, first_unit, lane),
        ring(shared_address(shared_storage) + lane.warp * STAGES * stage_bytes),
        operands(reinterpret_cast<const uint4*>(shared_storage + lane.warp * STAGES * stage_bytes + weight_bytes) + lane.lane),
        first_k(lane.k_split * (pairs * pair_size) + lane.quad * Shape::part),
        ahead_left(static_cast<long long>(steps) * pairs) {
#pragma unroll 1
    for (int s = 0; s < STAGES; s++) {
      copy_weights(s);
      commit_copies<Shape>();
    }
  }

  // from: operands [k / part][batch tile][part], all of them written, behind whatever makes them visible to this thread.
  __device__ __forceinline__ void begin_step(const Scalar* from, const Lane<Shape>& lane) {
    source = from + (first_k / Shape::part * Shape::batch_tile + Shape::column_row(0, lane.row)) * Shape::part;
    target = ring + weight_bytes + lane.lane * 16;
#pragma unroll 1
    for (int s = 0; s < STAGES; s++) {
      if (s < pairs) copy_operands((slot + s) % STAGES, s);
      commit_copies<Shape>();
    }
  }

  // accumulators += weights times operands, for all of the warp's k tiles.
  template <int MMA_K>
  __device__ __forceinline__ void multiply(Accumulators<Shape>& accumulators) {
#pragma unroll 1
    for (int pair = 0; pair < pairs; pair++) {
      // Behind this pair's operands stand those of the first stages still to come, or the pairs copied since: always as many.
      wait_for_copies<Shape, STAGES - 1>();
      if constexpr (Weights::of_other_lanes) __syncwarp();  // what the others copied is there
      PairFragments<Shape> fragments;
      weights.read(fragments, ring + slot * stage_bytes);
#pragma unroll
      for (int n = 0; n < Shape::n_tiles; n++) {
        const uint4 b = operands[slot * (stage_bytes / 16) + n * 32];
        accumulators.template add_k_tile<MMA_K>(fragments, 0, n, b.x, b.y);
        accumulators.template add_k_tile<MMA_K>(fragments, 1, n, b.z, b.w);
      }
      if constexpr (Weights::of_other_lanes) __syncwarp();  // the others have read
      copy_weights(slot);
      if (pair + STAGES < pairs) copy_operands(slot, pair + STAGES);
      commit_copies<Shape>();
      slot = slot == STAGES - 1 ? 0 : slot + 1;
    }
    accumulators.join_chains();
  }

 private:
  // The coming pair of weights, over and over as long as there are steps.
  __device__ __forceinline__ void copy_weights(int into) {
    if (ahead_left > 0) {
      weights.copy(ring + into * stage_bytes, ahead);
      ahead_left--;
      ahead = ahead == pairs - 1 ? 0 : ahead + 1;
    }
  }

  __device__ __forceinline__ void copy_operands(int into, int pair) {
    const bool present = !Parts::padded || first_k + pair * pair_size < Shape::k_size;
    Parts copied;
#pragma unroll
    for (int n = 0; n < Shape::n_tiles; n++)
      copied.template start<0>(n, target + into * stage_bytes + n * 512, source + (pair * 4 * Shape::batch_tile + n * 8) * Shape::part, source,
                               present);
    copied.finish();
  }

  Weights weights;
  unsigned ring;          // the warp's first stage
  const uint4* operands;  // of this lane, in the first stage
  unsigned target;        // the same as an address
  const Scalar* source;   // of this lane's operands
  int first_k;            // of the sum, of this lane
  int slot = 0;           // of the pair that is multiplied next
  int ahead = 0;          // the pair whose weights are copied next
  long long ahead_left;   // pairs still to be copied, all steps together
};

}  // namespace kerneltune
