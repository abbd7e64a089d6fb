// A warpgroup's 64 rows of R, kept for the whole sequence, and their product with h in shared memory.
// The first register_k_tiles k tiles are in registers, the rest in shared memory.
#pragma once
#include "../ptx/mma.cuh"
#include "../shape/warpgroup_shape.cuh"
#include "../ptx/wgmma.cuh"

namespace kerneltune {

template <class Shape, int REGISTER_K_TILES>
struct WarpgroupWeights {
  using Scalar = typename Shape::Scalar;
  static constexpr int shared_k_tiles = Shape::k_tiles - REGISTER_K_TILES;
  static constexpr int tile_bytes = 64 * matrix_row_bytes;
  static constexpr int shared_bytes = shared_k_tiles * Shape::warpgroups * tile_bytes;

  unsigned registers[at_least_one(REGISTER_K_TILES)][4];
  unsigned long long shared;  // descriptor of this warpgroup's first matrix of [shared_k_tiles][warpgroups]

  // recurrent: R of all heads. first_unit: the block's first unit within the head. fence_shared_for_async and
  // a barrier must follow.
  __device__ __forceinline__ void load(const void* recurrent, int head, int first_unit,
                                       const Lane<Shape>& lane, unsigned char* storage) {
    const Rows rows(recurrent, head, first_unit + lane.warp * Shape::warp_units, lane);
#pragma unroll
    for (int k = 0; k < REGISTER_K_TILES; k++)
#pragma unroll
      for (int i = 0; i < 4; i++) registers[k][i] = rows.word(k, i);
    // The shuffle tells the compiler that all lanes have the same value.
    const int warpgroup = __shfl_sync(0xffffffffu, lane.warp / 4, 0);
    unsigned char* const matrices = storage + warpgroup * tile_bytes;
    shared = matrix_descriptor(shared_address(matrices));
#pragma unroll 1
    for (int k = 0; k < shared_k_tiles; k++)
#pragma unroll
      for (int i = 0; i < 4; i++) {
        const int row = lane.warp % 4 * 16 + i % 2 * 8 + lane.row;
        *reinterpret_cast<unsigned*>(matrices + k * (Shape::warpgroups * tile_bytes) +
                                     matrix_place(row, i / 2) + lane.quad * 4) =
            rows.word(REGISTER_K_TILES + k, i);
      }
  }

  // sums += R h over the k tiles FIRST to LAST - 1. The first k tile overwrites the sums. hidden: descriptor
  // of h in k tile 0; a k tile has batch_tile rows.
  template <int FIRST, int LAST>
  __device__ __forceinline__ void multiply(float (&sums)[Shape::n_tiles][4],
                                           unsigned long long hidden) const {
    using Mma = WarpgroupMma<Scalar, Shape::batch_tile>;
    constexpr int hidden_step = Shape::batch_tile * matrix_row_bytes / 16,
                  shared_step = Shape::warpgroups * tile_bytes / 16;
    constexpr int in_registers = LAST < REGISTER_K_TILES ? LAST : REGISTER_K_TILES,
                  first_shared = FIRST > in_registers ? FIRST : in_registers;
#pragma unroll
    for (int k = FIRST; k < in_registers; k++)
      Mma::multiply(sums, registers[k], hidden + k * hidden_step, k > 0);
    unsigned long long a = shared + (first_shared - REGISTER_K_TILES) * shared_step,
                       b = hidden + first_shared * hidden_step;
#pragma unroll 4
    for (int k = first_shared; k < LAST; k++) {
      Mma::multiply(sums, a, b, k > 0);
      a += shared_step;
      b += hidden_step;
    }
  }

 private:
  // The two rows of R whose fragments a lane holds.
  struct Rows {
    const unsigned* from[2];
    bool present[2];

    __device__ __forceinline__ Rows(const void* recurrent, int head, int warp_first,
                                    const Lane<Shape>& lane) {
#pragma unroll
      for (int half = 0; half < 2; half++) {
        const int row = half * 8 + lane.row, gate = Shape::row_gate(row);
        present[half] = gate < Shape::gates;
        const size_t place =
            (static_cast<size_t>(head) * Shape::gates + (present[half] ? gate : 0)) * Shape::head_dim +
            warp_first + Shape::row_unit(row);
        from[half] = static_cast<const unsigned*>(recurrent) + place * (Shape::head_dim / 2) + lane.quad;
      }
    }

    // Word i of a lane's fragment of k tile k.
    __device__ __forceinline__ unsigned word(int k, int i) const {
      return present[i % 2] ? from[i % 2][k * 8 + i / 2 * 4] : 0u;
    }
  };
};

}  // namespace kerneltune
