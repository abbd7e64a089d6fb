// The exchange of operands between blocks anywhere on the GPU, through L2. All blocks of a group must run at the same time.
//
// Operands travel through four slots of the workspace, used in turn, and every word of it carries its own arrival mark: a slot holds
// 0xffffffff, a NaN (or two) that no conversion produces, until the data comes. A block reads a slot straight into its mma fragments and
// repeats the reads that found the mark; there is no barrier between blocks. The host fills the workspace with the mark before a launch.
//
// Why a word that is read is never an old one. When all its warps have received exchange e (its barrier says so), a block knows that all
// others have received e - 1, and puts the mark back over its own part of slot (e - 1) % 4, which e + 3 will use. A fence and the block's
// next barrier order that mark before the block publishes e + 2. Whoever polls for e + 3 has received all of e + 2, and so sees the mark
// or e + 3. This leans on L2 being where all these accesses meet, in the order in which they are issued behind the fence, and on polls
// not being issued before the loop ahead of them has ended; the PTX memory model alone would also ask for a fence in each publishing
// and each receiving thread, on the path between blocks.
#pragma once
#include "product_shape.cuh"
#include "recurrent_weights.cuh"

namespace kerneltune {

constexpr unsigned not_arrived = 0xffffffffu;

__device__ __forceinline__ uint4 load_shared_by_gpu(const void* pointer) {
  uint4 value;
  asm volatile("ld.relaxed.gpu.global.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
               : "l"(pointer)
               : "memory");
  return value;
}

__device__ __forceinline__ void store_shared_by_gpu(void* pointer, unsigned value) {
  asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(pointer), "r"(value) : "memory");
}

__device__ __forceinline__ void store_shared_by_gpu(void* pointer, uint2 value) {
  asm volatile("st.relaxed.gpu.global.v2.u32 [%0], {%1, %2};" ::"l"(pointer), "r"(value.x), "r"(value.y) : "memory");
}

__device__ __forceinline__ void store_shared_by_gpu(void* pointer, uint4 value) {
  asm volatile("st.relaxed.gpu.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(pointer), "r"(value.x), "r"(value.y), "r"(value.z), "r"(value.w)
               : "memory");
}

__device__ __forceinline__ bool arrived(const uint4& value) {
  return value.x != not_arrived && value.y != not_arrived && value.z != not_arrived && value.w != not_arrived;
}

// One block's view of the slots [4][groups][k_size / part][batch_tile][part], and one lane's part of what has been received: for each n tile
// and pair of k tiles the 16 bytes that are its B fragments of both (ChunkedOrder). In this order a warp reads whole lines, and a
// line has one writer: lines written by several blocks while others poll them cost twice the time (benchmarks/NOTES.md).
//
// Where a lane's part would take too many registers at once, it is received in ROUNDS, each multiplied before the next.
template <class Shape, int ROUNDS = 1>
struct GridExchange {
  using Scalar = typename Shape::Scalar;
  static constexpr int pairs = Shape::warp_k_tiles / 2 / ROUNDS;  // of a round
  static constexpr int pair_size = 2 * Shape::k_tile;
  static constexpr int slots = 4;
  static constexpr int tile_elements = Shape::batch_tile * Shape::k_size;
  static_assert(Shape::warp_k_tiles % (2 * ROUNDS) == 0, "k tiles are read in pairs, as many in every round");

  uint4 part[Shape::n_tiles][pairs];
  Scalar* tile;       // of this group in slot 0
  int slot_elements;  // from one slot to the next
  int published = 0;  // exchanges so far, all jobs together: below 2^31, since so many steps would fit no memory

  __device__ __forceinline__ GridExchange(void* workspace, int group, int groups)
      : tile(static_cast<Scalar*>(workspace) + group * tile_elements), slot_elements(groups * tile_elements) {}

  __device__ __forceinline__ Scalar* slot(int exchange) const { return tile + exchange % slots * slot_elements; }

  // The newest exchange; returns when all of this lane's part (in this round) is there. rows: batch rows of the tile that exist.
  __device__ __forceinline__ void receive(int rows, const Lane<Shape>& lane, int round = 0) {
    const Scalar* source = slot(published) + ((first_k(lane) + round * pairs * pair_size) / Shape::part * Shape::batch_tile + lane_row(lane)) * Shape::part;
    bool complete;
#pragma unroll
    for (int n = 0; n < Shape::n_tiles; n++)
#pragma unroll
      for (int pair = 0; pair < pairs; pair++)
        part[n][pair] = present(n, round * pairs + pair, rows, lane) ? make_uint4(not_arrived, 0, 0, 0) : make_uint4(0, 0, 0, 0);
    do {
      complete = true;
#pragma unroll
      for (int n = 0; n < Shape::n_tiles; n++)
#pragma unroll
        for (int pair = 0; pair < pairs; pair++)
          if (!arrived(part[n][pair]))
            part[n][pair] = load_shared_by_gpu(source + (pair * 4 * Shape::batch_tile + n * 8) * Shape::part);
#pragma unroll
      for (int n = 0; n < Shape::n_tiles; n++)
#pragma unroll
        for (int pair = 0; pair < pairs; pair++) complete = complete && arrived(part[n][pair]);
    } while (!complete);
    __syncwarp();
  }

  // Puts the mark back over this block's part of the exchange before the newest. By one warp, after the whole block has received.
  __device__ __forceinline__ void clear_previous(int block_unit, const Lane<Shape>& lane) const {
    Scalar* target = slot(published + slots - 1) + block_unit * Shape::operands * Shape::batch_tile;
    for (int chunk = lane.lane; chunk < Shape::batch_tile * Shape::block_units * Shape::operands / Shape::part; chunk += 32)
      store_shared_by_gpu(target + chunk * Shape::part, make_uint4(not_arrived, not_arrived, not_arrived, not_arrived));
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
  }

  // The first operand of this lane's part.
  static __device__ __forceinline__ int first_k(const Lane<Shape>& lane) {
    return lane.k_split * Shape::warp_k_tiles * Shape::k_tile + Shape::part * lane.quad;
  }

  // accumulators += weights times what was received in this round.
  template <int MMA_K, class Weights>
  __device__ __forceinline__ void multiply(Accumulators<Shape>& accumulators, const Weights& weights, int round = 0) const {
#pragma unroll
    for (int k = 0; k < 2 * pairs; k++)
#pragma unroll
      for (int n = 0; n < Shape::n_tiles; n++) {
        const uint4& operands = part[n][k / 2];
        accumulators.template add_k_tile<MMA_K>(weights, round * 2 * pairs + k, n, k % 2 ? operands.z : operands.x,
                                                k % 2 ? operands.w : operands.y);
      }
  }

 private:
  static __device__ __forceinline__ int lane_row(const Lane<Shape>& lane) { return Shape::column_row(0, lane.row); }
  static __device__ __forceinline__ bool present(int n, int pair, int rows, const Lane<Shape>& lane) {
    return Shape::column_row(n, lane.row) < rows && (Shape::k_padded == Shape::k_size || first_k(lane) + pair * pair_size < Shape::k_size);
  }
};

}  // namespace kerneltune
