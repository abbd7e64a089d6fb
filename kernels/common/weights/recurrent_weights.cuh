// One warp's share of R as mma A fragments, kept for the whole sequence, and the accumulators of its product.
// The first register_k_tiles are in registers. The rest is in shared memory in fragment order: a lane reads a
// tile by one 16-byte load without bank conflicts.
#pragma once
#include "../ptx/mma.cuh"
#include "../shape/product_shape.cuh"

namespace kerneltune {

// Order of the operands within a k tile: the first operand of each word; WORD operands share a word. Any
// order is correct if R and the operands agree on it.
struct NaturalOrder {
  template <int WORD>
  static __device__ __forceinline__ int k(int k_tile, int half, int quad) {
    return k_tile * (8 * WORD) + half * (4 * WORD) + WORD * quad;
  }
};
// Two k tiles take 16 consecutive words. Quad q takes the 4 words from 4 q on, so its B fragments of both
// tiles are one 16-byte load.
struct ChunkedOrder {
  template <int WORD>
  static __device__ __forceinline__ int k(int k_tile, int half, int quad) {
    return k_tile / 2 * (16 * WORD) + 4 * WORD * quad + k_tile % 2 * (2 * WORD) + half * WORD;
  }
};

template <class Shape, class Order, int REGISTER_K_TILES>
struct RecurrentWeights {
  static constexpr int shared_k_tiles = Shape::warp_k_tiles - REGISTER_K_TILES;
  static constexpr int shared_bytes = shared_k_tiles * Shape::warps * Shape::m_tiles * 32 * 16;

  unsigned registers[REGISTER_K_TILES > 0 ? REGISTER_K_TILES : 1][Shape::m_tiles][4];
  uint4* shared;  // [shared_k_tiles][warps][m_tiles][32]

  // recurrent: R of all heads. first_unit: the block's first unit within the head. Each warp reads back only
  // what it wrote.
  __device__ __forceinline__ RecurrentWeights(const void* recurrent, int head, int first_unit,
                                              const Lane<Shape>& lane, void* shared_storage) {
    const int warp_first = first_unit + lane.unit_warp * Shape::warp_units;
    const int first_k_tile = lane.k_split * Shape::warp_k_tiles;
    shared = static_cast<uint4*>(shared_storage) + (lane.warp * Shape::m_tiles * 32 + lane.lane);
#pragma unroll
    for (int k = 0; k < REGISTER_K_TILES; k++)
#pragma unroll
      for (int m = 0; m < Shape::m_tiles; m++)
        read_fragment(registers[k][m], recurrent, head, warp_first, first_k_tile + k, m, lane);
#pragma unroll 1
    for (int k = 0; k < shared_k_tiles; k++)
#pragma unroll
      for (int m = 0; m < Shape::m_tiles; m++) {
        unsigned fragment[4];
        read_fragment(fragment, recurrent, head, warp_first, first_k_tile + REGISTER_K_TILES + k, m, lane);
        shared[shared_index(k, m)] = make_uint4(fragment[0], fragment[1], fragment[2], fragment[3]);
      }
  }

  __device__ __forceinline__ void fragment(unsigned (&a)[4], int k, int m) const {
    if (k < REGISTER_K_TILES) {
#pragma unroll
      for (int i = 0; i < 4; i++) a[i] = registers[k][m][i];
    } else {
      const uint4 value = shared[shared_index(k - REGISTER_K_TILES, m)];
      a[0] = value.x;
      a[1] = value.y;
      a[2] = value.z;
      a[3] = value.w;
    }
  }

 private:
  static __device__ __forceinline__ int shared_index(int k, int m) {
    return (k * Shape::warps * Shape::m_tiles + m) * 32;
  }

  static __device__ __forceinline__ void read_fragment(unsigned (&a)[4], const void* recurrent, int head,
                                                       int warp_first, int k_tile, int m,
                                                       const Lane<Shape>& lane) {
#pragma unroll
    for (int i = 0; i < 4; i++) {
      const int row_half = 2 * m + i % 2;
      const int unit = warp_first + row_half / Shape::results * 8 + lane.row;
      const int k = Order::template k<Shape::part / 4>(k_tile, i / 2, lane.quad);
      const bool present = row_half < Shape::row_halves && k < Shape::k_size;
      a[i] = prepared_weights<typename Shape::Scalar>(
          Shape::weight_word(recurrent, present, head, row_half % Shape::results, unit, k));
    }
  }
};

// The sums of one warp as mma C fragments. Successive k tiles go to the mma_chains in turn. A product does
// not wait for the previous one, which matters where a warp has few tiles side by side.
template <class Shape>
struct Accumulators {
  // Tensor cores truncate sums: float32 loses 7e-8 of the sum for each k tile. With many k tiles, each is
  // summed apart.
  static constexpr bool sums_apart =
      exact_products<typename Shape::Scalar> && Shape::warp_k_tiles > 64 * Shape::mma_chains;

  float value[Shape::mma_chains][Shape::m_tiles][Shape::n_tiles][4];

  __device__ __forceinline__ void clear(int first_chain = 0) {
#pragma unroll
    for (int chain = first_chain; chain < Shape::mma_chains; chain++)
#pragma unroll
      for (int m = 0; m < Shape::m_tiles; m++)
#pragma unroll
        for (int n = 0; n < Shape::n_tiles; n++)
#pragma unroll
          for (int i = 0; i < 4; i++) value[chain][m][n][i] = 0.0f;
  }

  // Result `result` (forward: gate) of the element at column parity `parity`, unit group `unit_group` of the
  // warp and n tile `n`.
  __device__ __forceinline__ float& element(int unit_group, int n, int parity, int result) {
    const int row_half = unit_group * Shape::results + result;
    return value[0][row_half / 2][n][row_half % 2 * 2 + parity];
  }

  // Result `result` of this lane's element in the warp's group `index`, where the sum is not split.
  __device__ __forceinline__ float& of_group(int index, int result) {
    constexpr int unit_columns = Shape::n_tiles * Shape::columns_per_lane;
    const int column = index % unit_columns;
    return element(index / unit_columns, column / Shape::columns_per_lane, column % Shape::columns_per_lane,
                   result);
  }

  template <int MMA_K, class Weights>
  __device__ __forceinline__ void add_k_tile(const Weights& weights, int k, int n, unsigned b0, unsigned b1) {
#pragma unroll
    for (int m = 0; m < Shape::m_tiles; m++) {
      unsigned a[4];
      weights.fragment(a, k, m);
      float (&sum)[4] = value[k % Shape::mma_chains][m][n];
      if constexpr (sums_apart) {
        // A zero that depends on the sum makes each product wait for the previous one. All k tiles side by
        // side would take too many registers.
        unsigned none = 0;
        asm("" : "+r"(none));
        float part[4];
#pragma unroll
        for (int i = 0; i < 4; i++)
          part[i] = __uint_as_float(min(__float_as_uint(sum[i]), none));  // min, as ptxas would fold &
        WarpMma<typename Shape::Scalar, MMA_K>::accumulate(part, a, b0, b1);
#pragma unroll
        for (int i = 0; i < 4; i++) sum[i] += part[i];
      } else {
        WarpMma<typename Shape::Scalar, MMA_K>::accumulate(sum, a, b0, b1);
      }
    }
  }

  // Adds up the chains, after the last k tile.
  __device__ __forceinline__ void join_chains() {
#pragma unroll
    for (int chain = 1; chain < Shape::mma_chains; chain++)
#pragma unroll
      for (int m = 0; m < Shape::m_tiles; m++)
#pragma unroll
        for (int n = 0; n < Shape::n_tiles; n++)
#pragma unroll
          for (int i = 0; i < 4; i++) value[0][m][n][i] += value[chain][m][n][i];
  }
};

}  // namespace kerneltune
