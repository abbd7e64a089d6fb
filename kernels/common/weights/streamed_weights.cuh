// Streamed weights: what a warp copies of R in every step, and how it becomes mma A fragments.
// A warp copies a pair of k tiles at a time.
#pragma once
#include "../ptx/mma.cuh"
#include "../shape/product_shape.cuh"
#include "recurrent_weights.cuh"
#include "../exchange/shared_words.cuh"

namespace kerneltune {

// The A fragments of two k tiles, in the order ChunkedOrder.
template <class Shape>
struct PairFragments {
  unsigned word[Shape::m_tiles][2][4];

  __device__ __forceinline__ void fragment(unsigned (&a)[4], int k, int m) const {
#pragma unroll
    for (int i = 0; i < 4; i++) a[i] = prepared_weights<typename Shape::Scalar>(word[m][k % 2][i]);
  }
};

// A lane's copies of 16 bytes from device memory to shared memory, COUNT at a time. Asynchronous copies
// arrive in groups, and the reader waits for a group. Without asynchronous copies, all COUNT loads are in
// flight before the first is awaited, and other warps use the time.
template <class Shape, int COUNT>
class StreamedParts {
  using Scalar = typename Shape::Scalar;

 public:
  static constexpr bool padded = Shape::k_padded != Shape::k_size;

  // Starts copy `i`. Writes zeros where the sum has ended; nothing is read then, and `valid` is any valid
  // address. AHEAD: aligned bytes that the same request brings to L2, because this block or another soon
  // needs them; 0 for none.
  template <int AHEAD>
  __device__ __forceinline__ void start(int i, unsigned address, const Scalar* from, const Scalar* valid,
                                        bool present) {
    if constexpr (!Shape::async_copy) {
      target[i] = address;
      // Bypasses L1, which may hold operands of an earlier step.
      value[i] = !padded || present ? load_shared_by_gpu(from) : make_uint4(0, 0, 0, 0);
    } else if constexpr (padded) {
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address),
                   "l"(present ? from : valid), "r"(present ? 16 : 0)
                   : "memory");
    } else if constexpr (AHEAD == 256) {
      asm volatile("cp.async.cg.shared.global.L2::256B [%0], [%1], 16;" ::"r"(address), "l"(from) : "memory");
    } else if constexpr (AHEAD == 128) {
      asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(address), "l"(from) : "memory");
    } else {
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address), "l"(from) : "memory");
    }
  }

  // Completes the copies, after the last start.
  __device__ __forceinline__ void finish() const {
    if constexpr (!Shape::async_copy) {
#pragma unroll
      for (int i = 0; i < COUNT; i++)
        asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(target[i]), "r"(value[i].x),
                     "r"(value[i].y), "r"(value[i].z), "r"(value[i].w)
                     : "memory");
    }
  }

 private:
  static constexpr int held = Shape::async_copy ? 1 : COUNT;
  unsigned target[held];
  uint4 value[held];
};

// Close a group of a lane's asynchronous copies; wait until all but the newest NEWER groups have arrived.
template <class Shape>
__device__ __forceinline__ void commit_copies() {
  if constexpr (Shape::async_copy) asm volatile("cp.async.commit_group;" ::: "memory");
}
template <class Shape, int NEWER>
__device__ __forceinline__ void wait_for_copies() {
  if constexpr (Shape::async_copy) asm volatile("cp.async.wait_group %0;" ::"n"(NEWER) : "memory");
}

// Forward: a row of the product is a row of R. A lane's 16 bytes of a row are its words of both tiles, so it
// copies what it reads.
template <class Shape>
class StreamedRows {
  using Scalar = typename Shape::Scalar;
  using Parts = StreamedParts<Shape, Shape::row_halves>;
  static constexpr int pair_size = 2 * Shape::k_tile;

 public:
  static constexpr bool of_other_lanes = false;  // whether a lane reads what other lanes copied

  __device__ __forceinline__ StreamedRows(const void* recurrent, int head, int first_unit,
                                          const Lane<Shape>& lane)
      : first_k(lane.k_split * (Shape::warp_k_tiles / 2 * pair_size) + lane.quad * Shape::part),
        place(lane.lane * 16) {
    const int unit = first_unit + lane.unit_warp * Shape::warp_units + lane.row;
    const size_t row = static_cast<size_t>(head) * Shape::gates * Shape::head_dim + unit;
    source = static_cast<const Scalar*>(recurrent) + row * Shape::head_dim + first_k;
  }

  // stage: its address in shared memory. pair: index of the pair of k tiles.
  __device__ __forceinline__ void copy(unsigned stage, int pair) const {
    const Scalar* const from = source + pair * pair_size;
    const bool present = !Parts::padded || first_k + pair * pair_size < Shape::k_size;
    Parts copied;
#pragma unroll
    for (int half = 0; half < Shape::row_halves; half++) {
      constexpr size_t gate_stride = static_cast<size_t>(Shape::head_dim) * Shape::head_dim;
      const size_t offset =
          half % Shape::gates * gate_stride + static_cast<size_t>(half / Shape::gates * 8) * Shape::head_dim;
      copied.template start<256>(half, stage + place + half * 512, from + offset, source,
                                 present);  // the coming stages continue the row
    }
    copied.finish();
  }

  __device__ __forceinline__ void read(PairFragments<Shape>& fragments, unsigned stage) const {
#pragma unroll
    for (int half = 0; half < 2 * Shape::m_tiles; half++) {
      unsigned (&tile)[2][4] = fragments.word[half / 2];
      unsigned word[4] = {0, 0, 0, 0};
      if (half < Shape::row_halves)
        asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(word[0]), "=r"(word[1]), "=r"(word[2]), "=r"(word[3])
                     : "r"(stage + place + half * 512)
                     : "memory");
#pragma unroll
      for (int i = 0; i < 4; i++) tile[i / 2][i % 2 * 2 + half % 2] = word[i];
    }
  }

 private:
  const Scalar* source;  // this lane's part of its first row and pair
  int first_k;           // this lane's first k in the sum
  int place;             // offset of this lane within 512 bytes
};

// Backward: a row of the product is a column of R, that is a unit of h. The sum runs over R's rows: k % gates
// is the gate and k / gates the unit. R is read as it is laid out: neighbouring lanes copy neighbouring units
// of a row of R. ldmatrix transposes the fragments when it reads them from shared memory.
//
// Stage: [parts of 16 bytes of a row][rows of a pair][16 bytes]. The rows are in the order in which
// ChunkedOrder puts them into the fragments, so a matrix of 8 x 16 bytes covers each bank once. turn_of
// permutes them so that the copies of 8 lanes do so, too.
template <class Shape>
class StreamedColumns {
  using Scalar = typename Shape::Scalar;
  static constexpr int word_values = 4 / sizeof(Scalar);
  static constexpr int pair_size = 2 * Shape::k_tile;
  static constexpr int parts = Shape::warp_units / Shape::part;  // of a row
  static constexpr int lane_rows = 32 / parts;                   // rows that a warp copies at once
  static constexpr int part_bytes = pair_size * 16;
  static constexpr int copies = pair_size / lane_rows;
  using Parts = StreamedParts<Shape, copies>;
  static_assert(parts <= 32 && (parts & (parts - 1)) == 0, "a warp copies whole rows");
  static_assert(parts * part_bytes == Shape::row_halves * 512, "the stage of the ring");

 public:
  static constexpr bool of_other_lanes = true;

  __device__ __forceinline__ StreamedColumns(const void* recurrent, int head, int first_unit,
                                             const Lane<Shape>& lane)
      : first_k(lane.k_split * (Shape::warp_k_tiles / 2 * pair_size) + k_of(lane.lane / parts)),
        row(lane.lane / parts) {
    const size_t head_rows = static_cast<size_t>(head) * Shape::operands * Shape::head_dim;
    const int unit = first_unit + lane.unit_warp * Shape::warp_units + lane.lane % parts * Shape::part;
    source = static_cast<const Scalar*>(recurrent) + head_rows * Shape::head_dim + unit;
    part_place = lane.lane % parts * part_bytes;
    part_turn = turn_of(lane.lane % parts);
    if constexpr (sizeof(Scalar) == 4)
      fragment_place =
          lane.row / 4 * part_bytes + (lane.quad ^ turn_of(lane.row / 4)) * 16 + lane.row % 4 * 4;
    else if constexpr (Shape::row_halves == 1)
      fragment_place = lane.lane * 16;
    else
      fragment_place = lane.lane / 8 % 2 * part_bytes +
                       ((lane.lane / 16 * 8 + lane.lane % 8) ^ turn_of(lane.lane / 8 % 2)) * 16;
  }

  // stage: its address in shared memory. pair: index of the pair of k tiles.
  __device__ __forceinline__ void copy(unsigned stage, int pair) const {
    Parts copied;
#pragma unroll
    for (int i = 0; i < copies; i++) {
      const unsigned k = (first_k | k_of(i * lane_rows)) + pair * pair_size;
      const bool present = !Parts::padded || k < Shape::k_size;
      const unsigned line =
          k % Shape::operands * Shape::head_dim + k / Shape::operands;  // row of R in its head
      const unsigned place = ((row | i * lane_rows) ^ part_turn) * 16;
      // Another warp or block copies the rest of this line of memory at about the same time.
      copied.template start<128>(i, stage + part_place + place,
                                 source + static_cast<size_t>(line) * Shape::head_dim, source, present);
    }
    copied.finish();
  }

  __device__ __forceinline__ void read(PairFragments<Shape>& fragments, unsigned stage) const {
#pragma unroll
    for (int m = 0; m < Shape::m_tiles; m++)
      if constexpr (sizeof(Scalar) == 4)
        read_words(fragments.word[m], stage + fragment_place, m);
      else
        read_matrices(fragments.word[m], stage + fragment_place, m);
  }

 private:
  // The operand of a pair at position `place`. A permutation of bits, so k_of(a | b) == (k_of(a) | k_of(b)).
  static __device__ __forceinline__ constexpr int k_of(int place) {
    const int tile = place / Shape::k_tile, half = place / (Shape::k_tile / 2) % 2,
              quad = place / word_values % 4;
    return 4 * word_values * quad + 2 * word_values * tile + word_values * half + place % word_values;
  }
  // Positions are permuted by exclusive or with this value: 0 4 2 6 1 5 3 7.
  static __device__ __forceinline__ constexpr int turn_of(int part) {
    return part % 2 * 4 + part / 2 % 2 * 2 + part / 4 % 2;
  }

  // Matrices of 8 operands x 8 units: two groups of units and two halves of a k tile.
  static __device__ __forceinline__ void read_matrices(unsigned (&tile)[2][4], unsigned address, int m) {
    if constexpr (Shape::row_halves > 1) {
#pragma unroll
      for (int k_tile = 0; k_tile < 2; k_tile++)
        load_matrix_x4_transposed(
            tile[k_tile],
            (address + 2 * m * part_bytes + k_tile * (Shape::k_tile * 16)) ^ (turn_of(2 * m) * 16));
    } else {
      unsigned word[4];  // of one group, both k tiles
      load_matrix_x4_transposed(word, address);
#pragma unroll
      for (int i = 0; i < 4; i++) {
        tile[i / 2][i % 2 * 2] = word[i];
        tile[i / 2][i % 2 * 2 + 1] = 0;
      }
    }
  }

  static __device__ __forceinline__ void read_words(unsigned (&tile)[2][4], unsigned address, int m) {
#pragma unroll
    for (int k_tile = 0; k_tile < 2; k_tile++)
#pragma unroll
      for (int i = 0; i < 4; i++) {
        const int half = 2 * m + i % 2;  // half of the product's rows: two parts of a row of R
        const unsigned from = (address + half * 2 * part_bytes + k_tile * (Shape::k_tile * 16)) ^
                              (turn_of(2 * half) * 16 + i / 2 * 64);
        tile[k_tile][i] = 0;
        if (half < Shape::row_halves)
          asm volatile("ld.shared.u32 %0, [%1];" : "=r"(tile[k_tile][i]) : "r"(from) : "memory");
      }
  }

  const Scalar* source;  // this lane's part of the head's first row
  int first_k;           // of this lane's first copy, in the sum
  int row;               // its position in a stage
  unsigned part_place;   // of this lane's part
  int part_turn;
  unsigned fragment_place;  // where this lane's fragments begin
};

}  // namespace kerneltune
