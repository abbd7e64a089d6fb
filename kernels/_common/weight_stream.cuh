// R of one warp streamed from device memory again in every step, for heads that fit nowhere, together with the operands that it meets:
// both through a ring in shared memory that each lane fills and reads for itself, in fragment order, so that it needs no barrier.
#pragma once
#include "mma.cuh"
#include "product_shape.cuh"
#include "recurrent_weights.cuh"

namespace kerneltune {

// The A fragments of two k tiles in the order ChunkedOrder: a lane's 16 bytes of a row are its words of both tiles.
template <class Shape>
struct PairFragments {
  uint4 row[Shape::m_tiles][2];

  __device__ __forceinline__ void fragment(unsigned (&a)[4], int k, int m) const {
    using Scalar = typename Shape::Scalar;
    a[0] = prepared_weights<Scalar>(k % 2 ? row[m][0].z : row[m][0].x);
    a[1] = prepared_weights<Scalar>(k % 2 ? row[m][1].z : row[m][1].x);
    a[2] = prepared_weights<Scalar>(k % 2 ? row[m][0].w : row[m][0].y);
    a[3] = prepared_weights<Scalar>(k % 2 ? row[m][1].w : row[m][1].y);
  }
};

// Ring: [warps][stages][row halves, then n tiles][32 lanes][16 bytes]; a stage is a pair of k tiles.
//
// Weights do not depend on the step before: their copies run ahead into the next step, across the exchange. Operands do: those of a step's
// first stages are copied when they are there (begin_step), the others together with the weights of the same stage.
template <class Shape, int STAGES>
class WeightStream {
  using Scalar = typename Shape::Scalar;
  static constexpr int pair_size = 2 * Shape::k_tile;
  static constexpr int stage_bytes = (Shape::row_halves + Shape::n_tiles) * 512;
  static constexpr bool padded = Shape::k_padded != Shape::k_size;

 public:
  static constexpr int pairs = Shape::warp_k_tiles / 2;
  static constexpr int shared_bytes = Shape::warps * STAGES * stage_bytes;
  static_assert(Shape::warp_k_tiles % 2 == 0, "k tiles are read in pairs");

  // Starts the copies for `steps` steps. recurrent: R of all heads; first_unit: of this block within the head.
  __device__ __forceinline__ WeightStream(const void* recurrent, int head, int first_unit, int steps, const Lane<Shape>& lane,
                                          unsigned char* shared_storage)
      : ring(shared_address(shared_storage) + lane.warp * STAGES * stage_bytes + lane.lane * 16),
        stage(reinterpret_cast<const uint4*>(shared_storage) + lane.warp * STAGES * (stage_bytes / 16) + lane.lane),
        first_k(lane.k_split * (pairs * pair_size) + lane.quad * Shape::part),
        ahead_left(static_cast<long long>(steps) * pairs) {
    const int unit = first_unit + lane.unit_warp * Shape::warp_units + lane.row;
    const size_t row = static_cast<size_t>(head) * Shape::gates * Shape::head_dim + unit;
    weights = static_cast<const Scalar*>(recurrent) + row * Shape::head_dim + first_k;
#pragma unroll 1
    for (int s = 0; s < STAGES; s++) {
      copy_weights(s);
      commit();
    }
  }

  // operands: [k / part][batch tile][part], all of them written, behind whatever makes them visible to this thread.
  __device__ __forceinline__ void begin_step(const Scalar* operands, const Lane<Shape>& lane) {
    source = operands + (first_k / Shape::part * Shape::batch_tile + Shape::column_row(0, lane.row)) * Shape::part;
#pragma unroll 1
    for (int s = 0; s < STAGES; s++) {
      if (s < pairs) copy_operands((slot + s) % STAGES, s);
      commit();
    }
  }

  // accumulators += weights times operands, for all of the warp's k tiles.
  template <int MMA_K>
  __device__ __forceinline__ void multiply(Accumulators<Shape>& accumulators) {
#pragma unroll 1
    for (int pair = 0; pair < pairs; pair++) {
      // Behind this pair's operands stand those of the first stages still to come, or the pairs copied since: always as many.
      asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 1) : "memory");
      const uint4* const parts = stage + slot * (stage_bytes / 16);
      PairFragments<Shape> fragments;
#pragma unroll
      for (int half = 0; half < 2 * Shape::m_tiles; half++)
        fragments.row[half / 2][half % 2] = half < Shape::row_halves ? parts[half * 32] : make_uint4(0, 0, 0, 0);
#pragma unroll
      for (int n = 0; n < Shape::n_tiles; n++) {
        const uint4 b = parts[(Shape::row_halves + n) * 32];
        accumulators.template add_k_tile<MMA_K>(fragments, 0, n, b.x, b.y);
        accumulators.template add_k_tile<MMA_K>(fragments, 1, n, b.z, b.w);
      }
      copy_weights(slot);
      if (pair + STAGES < pairs) copy_operands(slot, pair + STAGES);
      commit();
      slot = slot == STAGES - 1 ? 0 : slot + 1;
    }
    accumulators.join_chains();
  }

 private:
  // The coming pair of weights, over and over as long as there are steps.
  __device__ __forceinline__ void copy_weights(int into) {
    if (ahead_left > 0) {
      const Scalar* const from = weights + ahead * pair_size;
      const bool present = !padded || first_k + ahead * pair_size < Shape::k_size;
#pragma unroll
      for (int half = 0; half < Shape::row_halves; half++) {
        constexpr size_t gate_stride = static_cast<size_t>(Shape::head_dim) * Shape::head_dim;
        const size_t offset = half % Shape::gates * gate_stride + static_cast<size_t>(half / Shape::gates * 8) * Shape::head_dim;
        // The row goes on: the following stages are asked for with the same request to memory.
        copy_part<true>(ring + into * stage_bytes + half * 512, from + offset, weights, present);
      }
      ahead_left--;
      ahead = ahead == pairs - 1 ? 0 : ahead + 1;
    }
  }

  __device__ __forceinline__ void copy_operands(int into, int pair) {
    const bool present = !padded || first_k + pair * pair_size < Shape::k_size;
#pragma unroll
    for (int n = 0; n < Shape::n_tiles; n++)
      copy_part<false>(ring + into * stage_bytes + (Shape::row_halves + n) * 512,
                       source + (pair * 4 * Shape::batch_tile + n * 8) * Shape::part, source, present);
  }

  // 16 bytes, or zeros where the sum has ended (then nothing is read; `valid` is any address that exists).
  template <bool AHEAD>
  static __device__ __forceinline__ void copy_part(unsigned address, const Scalar* from, const Scalar* valid, bool present) {
    if constexpr (padded) {
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(present ? from : valid), "r"(present ? 16 : 0)
                   : "memory");
    } else if constexpr (AHEAD) {
      asm volatile("cp.async.cg.shared.global.L2::256B [%0], [%1], 16;" ::"r"(address), "l"(from) : "memory");
    } else {
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address), "l"(from) : "memory");
    }
  }

  static __device__ __forceinline__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

  unsigned ring;         // this lane's 16 bytes of the first stage
  const uint4* stage;    // the same
  const Scalar* weights;  // this lane's part of its first row and pair
  const Scalar* source;  // of operands, likewise
  int first_k;           // of the sum, of this lane
  int slot = 0;          // of the pair that is multiplied next
  int ahead = 0;         // the pair whose weights are copied next
  long long ahead_left;  // pairs still to be copied, all steps together
};

}  // namespace kerneltune
