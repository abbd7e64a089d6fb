// Exchange of operands between blocks anywhere on the GPU, through L2.
// All blocks of a group must run at the same time.
//
// Operands travel through the slots of the workspace, which are used in turn. Each word carries its own
// arrival mark: it holds 0xffffffff until the data arrives. That is a NaN (or two) that no conversion
// produces. A block reads a slot straight into its mma fragments and repeats the reads that found the mark.
// There is no barrier between blocks. The host fills the workspace with the mark before a launch.
//
// Why a block never takes an old word for a new one:
// - Let s be half the number of slots. When all warps of a block have received exchange e (its block barrier
//   tells), all other blocks have received e - 1.
// - If e is a multiple of s, the block then writes the mark over its own part of the slots of e - s to e - 1.
//   Exchanges e + s to e + 2 s - 1 will use these slots.
// - A fence follows. It delays a warp by 900 cycles, then all others, so many slots are
//   marked at once.
// - The fence and the block's next barrier order the marks before the block publishes e + 2.
// - A block that polls for e + s or later has received all of e + s - 1. If s >= 3 this includes e + 2, so
//   the block sees the mark or the new data.
// This relies on two facts: all these accesses meet in L2 in the order in which they are issued after the
// fence, and polls are not issued before the preceding loop has ended. The PTX memory model alone would also
// require a fence in each publishing and each receiving thread, on the path between blocks.
#pragma once
#include "../shape/product_shape.cuh"
#include "../weights/recurrent_weights.cuh"
#include "shared_words.cuh"

namespace kerneltune {

constexpr unsigned not_arrived = 0xffffffffu;

__device__ __forceinline__ unsigned cycle() {
  unsigned now;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(now)::"memory");
  return now;
}

// Returns when at least `count` cycles have passed since `begin`.
__device__ __forceinline__ void pass_cycles(unsigned begin, unsigned count) {
  while (cycle() - begin < count) {
  }
}

// The mark is the largest possible word, so a value holds a mark if its largest word is the mark.
__device__ __forceinline__ unsigned largest_word(const uint4& value) {
  return max(max(value.x, value.y), max(value.z, value.w));
}

// One block's view of the slots [SLOTS][groups][k_size / part][batch_tile][part], and what one lane has
// received: for each n tile and pair of k tiles the 16 bytes that are its B fragments of both (ChunkedOrder).
// In this order a warp reads whole lines, and each line has one writer. A line that several blocks write
// while others poll it takes twice the time (benchmarks/NOTES.md).
//
// A lane's part is received in ROUNDS where it would take too many registers at once; each round is
// multiplied before the next is requested. Within a round, a warp waits for one of BUNCHES at a time and
// multiplies it while the next arrives.
template <class Shape, int SLOTS, int ROUNDS = 1, int BUNCHES = 1>
struct GridExchange {
  using Scalar = typename Shape::Scalar;
  static constexpr int pairs = Shape::warp_k_tiles / 2 / ROUNDS;  // of a round
  static constexpr int bunch = (pairs + BUNCHES - 1) / BUNCHES;   // pairs that are awaited together
  static constexpr int pair_size = 2 * Shape::k_tile;
  static constexpr int cleared_at_once = SLOTS / 2;
  static constexpr int tile_elements = Shape::batch_tile * Shape::k_size;
  static_assert(cleared_at_once >= 3 && SLOTS % 2 == 0,
                "marks must be there before their slots are read again");
  static_assert(Shape::warp_k_tiles % (2 * ROUNDS) == 0, "k tiles are read in pairs, as many in every round");

  uint4 part[Shape::n_tiles][pairs];
  Scalar* tile;          // of this group, in slot 0
  int slot_elements;     // distance between slots
  const Scalar* source;  // this lane's part of the newest exchange
  Scalar* next;          // slot of the exchange after it
  // Exchanges so far, over all jobs. Below 2^31: the states of so many steps fit no memory.
  unsigned published = 0;

  __device__ __forceinline__ GridExchange(void* workspace, int group, int groups)
      : tile(static_cast<Scalar*>(workspace) + group * tile_elements),
        slot_elements(groups * tile_elements) {}

  __device__ __forceinline__ Scalar* slot(unsigned exchange) const {
    return tile + static_cast<int>(exchange % SLOTS) * slot_elements;
  }

  // Computes the next slot's address while operands are awaited. Otherwise the compiler would compute it
  // where it is used, on the path between blocks.
  __device__ __forceinline__ void prepare_next() {
    next = slot(published + 1);
    asm volatile("" : "+l"(next));
  }

  // Makes the next exchange the newest.
  __device__ __forceinline__ void advance(const Lane<Shape>& lane) {
    published++;
    source = next + (first_k(lane) / Shape::part * Shape::batch_tile + lane_row(lane)) * Shape::part;
  }

  // Requests this lane's part of the newest exchange, or of one round of it. The loads run while the caller
  // does something else. rows: batch rows of the tile that exist.
  __device__ __forceinline__ void request(int rows, const Lane<Shape>& lane, int round = 0) {
#pragma unroll
    for (int n = 0; n < Shape::n_tiles; n++)
#pragma unroll
      for (int pair = 0; pair < pairs; pair++)
        part[n][pair] = present(n, round * pairs + pair, rows, lane)
                            ? load_shared_by_gpu(source + place(n, round * pairs + pair))
                            : make_uint4(0, 0, 0, 0);
  }

  // accumulators += weights times the operands requested in this round, each bunch of pairs as soon as it is
  // there. Loads return in order, so the first products run while the last operands arrive. The whole warp
  // votes; otherwise the compiler waits for all loads.
  template <int MMA_K, class Weights>
  __device__ __forceinline__ void multiply_arriving(Accumulators<Shape>& accumulators, const Weights& weights,
                                                    int round = 0) {
#pragma unroll
    for (int first = 0; first < pairs; first += bunch) {
      while (__any_sync(0xffffffffu, missing(first))) ask_again(first, round);
#pragma unroll
      for (int pair = first; pair < first + bunch && pair < pairs; pair++)
        multiply_pair<MMA_K>(accumulators, weights, pair, round);
    }
  }

  // Once every half of the slots, writes the mark over this block's part of them. Called by one warp, after
  // the whole block has received the exchange.
  __device__ __forceinline__ void clear_before(unsigned received, int block_unit,
                                               const Lane<Shape>& lane) const {
    if (received % cleared_at_once != 0) return;
    constexpr int chunks = Shape::batch_tile * Shape::block_units * Shape::operands / Shape::part;
    for (int chunk = lane.lane; chunk < cleared_at_once * chunks; chunk += 32) {
      Scalar* const target =
          slot(received - 1 - chunk / chunks) + block_unit * Shape::operands * Shape::batch_tile;
      store_shared_by_gpu(target + chunk % chunks * Shape::part,
                          make_uint4(not_arrived, not_arrived, not_arrived, not_arrived));
    }
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
  }

  // The first operand of this lane's part.
  static __device__ __forceinline__ int first_k(const Lane<Shape>& lane) {
    return lane.k_split * Shape::warp_k_tiles * Shape::k_tile + Shape::part * lane.quad;
  }

  // accumulators += weights times the operands received in this round.
  template <int MMA_K, class Weights>
  __device__ __forceinline__ void multiply(Accumulators<Shape>& accumulators, const Weights& weights,
                                           int round = 0) const {
#pragma unroll
    for (int pair = 0; pair < pairs; pair++) multiply_pair<MMA_K>(accumulators, weights, pair, round);
  }

 private:
  template <int MMA_K, class Weights>
  __device__ __forceinline__ void multiply_pair(Accumulators<Shape>& accumulators, const Weights& weights,
                                                int pair, int round) const {
#pragma unroll
    for (int k = 0; k < 2; k++)
#pragma unroll
      for (int n = 0; n < Shape::n_tiles; n++) {
        const uint4& operands = part[n][pair];
        accumulators.template add_k_tile<MMA_K>(weights, 2 * (round * pairs + pair) + k, n,
                                                k ? operands.z : operands.x, k ? operands.w : operands.y);
      }
  }

  // Repeats the loads that found a mark, from pair `first_pair` on.
  __device__ __forceinline__ void ask_again(int first_pair, int round) {
#pragma unroll
    for (int n = 0; n < Shape::n_tiles; n++)
#pragma unroll
      for (int pair = 0; pair < pairs; pair++)
        if (pair >= first_pair && largest_word(part[n][pair]) == not_arrived)
          part[n][pair] = load_shared_by_gpu(source + place(n, round * pairs + pair));
  }

  // Whether a word of the bunch that begins with pair `first` has not arrived.
  __device__ __forceinline__ bool missing(int first) const {
    unsigned largest = 0;
#pragma unroll
    for (int n = 0; n < Shape::n_tiles; n++)
#pragma unroll
      for (int pair = first; pair < first + bunch && pair < pairs; pair++)
        largest = max(largest, largest_word(part[n][pair]));
    return largest == not_arrived;
  }

  // Offset of the 16 bytes of an n tile and pair within this lane's part.
  static __device__ __forceinline__ constexpr int place(int n, int pair) {
    return (pair * 4 * Shape::batch_tile + n * 8) * Shape::part;
  }

  static __device__ __forceinline__ int lane_row(const Lane<Shape>& lane) {
    return Shape::column_row(0, lane.row);
  }
  static __device__ __forceinline__ bool present(int n, int pair, int rows, const Lane<Shape>& lane) {
    return Shape::column_row(n, lane.row) < rows &&
           (Shape::k_padded == Shape::k_size || first_k(lane) + pair * pair_size < Shape::k_size);
  }
};

}  // namespace kerneltune
