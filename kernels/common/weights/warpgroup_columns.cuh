// A block's columns of R in shared memory, kept for the whole sequence: the B operand of R^T d.
// There is one matrix (wgmma.cuh) of block_units columns for each k tile. Position k of the sum holds gate
// k % operands of unit k / operands.
#pragma once
#include "../ptx/wgmma.cuh"
#include "../shape/warpgroup_gradient_shape.cuh"

namespace kerneltune {

template <class Shape>
struct WarpgroupColumns {
  using Scalar = typename Shape::Scalar;
  static constexpr int tile_bytes = Shape::block_units * matrix_row_bytes;
  static constexpr int shared_bytes = Shape::k_tiles * tile_bytes;

  // Called by the computing warps. recurrent: R of all heads. first_unit: the block's first unit within the
  // head. fence_shared_for_async and a barrier must follow.
  static __device__ __forceinline__ void load(const void* recurrent, int head, int first_unit,
                                              unsigned char* storage) {
    constexpr int pairs = Shape::block_units / 2, octets = Shape::k_tiles * 2;
    const unsigned* const rows = static_cast<const unsigned*>(recurrent);
#pragma unroll 2
    for (int i = threadIdx.x; i < pairs * octets; i += 32 * Shape::warps) {
      const int unit = i % pairs * 2, octet = i / pairs;
      unsigned word[8];  // R of two columns
#pragma unroll
      for (int k = 0; k < 8; k++) {
        const int gate = k % Shape::operands, from = (octet * 8 + k) / Shape::operands;
        const size_t row = (static_cast<size_t>(head) * Shape::gates + gate) * Shape::head_dim + from;
        word[k] = gate < Shape::gates ? rows[(row * Shape::head_dim + first_unit + unit) / 2] : 0u;
      }
      unsigned char* const tile = storage + octet / 2 * tile_bytes;
#pragma unroll
      for (int column = 0; column < 2; column++)
        *reinterpret_cast<uint4*>(tile + matrix_place(unit + column, octet % 2)) =
            make_uint4(both(word[0], word[1], column), both(word[2], word[3], column),
                       both(word[4], word[5], column), both(word[6], word[7], column));
    }
  }

 private:
  // The lower halves of two words, or the upper ones.
  static __device__ __forceinline__ unsigned both(unsigned first, unsigned second, int upper) {
    return upper ? first >> 16 | (second & 0xffff0000u) : (first & 0xffffu) | second << 16;
  }
};

}  // namespace kerneltune
