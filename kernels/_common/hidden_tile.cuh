// h of one head and batch tile in shared memory, as the B operand of the next step: two buffers [k_padded / 8][batch_tile][8], in which
// the rows of an 8 x 8 matrix fill all banks once.
#pragma once
#include "arguments.cuh"
#include "elements.cuh"
#include "forward_shape.cuh"
#include "mma.cuh"
#include "recurrent_weights.cuh"

namespace kerneltune {

template <class Shape>
struct HiddenTile {
  using Scalar = typename Shape::Scalar;
  static constexpr int chunk_elements = Shape::batch_tile * 8;  // 8 units of all batch rows
  static constexpr int buffer_elements = Shape::k_padded / 8 * chunk_elements;
  static constexpr int buffer_bytes = buffer_elements * 2;
  static constexpr int shared_bytes = 2 * buffer_bytes;

  Scalar* buffers;
  unsigned fragment_address;  // of this lane's row in the first buffer

  __device__ __forceinline__ HiddenTile(void* shared_storage, const Lane<Shape>& lane) : buffers(static_cast<Scalar*>(shared_storage)) {
    const int row = Shape::column_row(0, lane.lane % 8), unit = lane.k_split * Shape::warp_k_tiles * 16 + lane.lane / 8 * 8;
    fragment_address = shared_address(at(0, row, unit));
  }

  // The initial h in buffer 0; zeros where the batch or the head ends, and all over buffer 1.
  __device__ __forceinline__ void fill(const ForwardArguments& arguments, int head, int first_row) {
    const Scalar* states = static_cast<const Scalar*>(arguments.states);
    for (int i = threadIdx.x; i < 2 * buffer_elements; i += Shape::threads) {
      const int inside = i % buffer_elements;
      const int row = first_row + inside / 8 % Shape::batch_tile, unit = inside / chunk_elements * 8 + inside % 8;
      const bool present = i < buffer_elements && row < arguments.batch && unit < Shape::head_dim;
      buffers[i] = present ? states[state_index<Shape>(arguments, 0, 0, row, head, unit)] : Scalar{0};
    }
  }

  __device__ __forceinline__ Scalar* at(int buffer, int row, int unit) const {
    return buffers + buffer * buffer_elements + unit / 8 * chunk_elements + row * 8 + unit % 8;
  }

  // accumulators += R h, h from `buffer`. Two k tiles are one ldmatrix.
  template <int MMA_K, class Weights>
  __device__ __forceinline__ void multiply(Accumulators<Shape>& accumulators, const Weights& weights, int buffer) const {
#pragma unroll
    for (int n = 0; n < Shape::n_tiles; n++) {
      const unsigned address = fragment_address + buffer * buffer_bytes + n * 8 * 8 * 2;
#pragma unroll
      for (int k = 0; k + 1 < Shape::warp_k_tiles; k += 2) {
        unsigned b[4];
        load_matrix_x4(b, address + k * 2 * chunk_elements * 2);
        accumulators.template add_k_tile<MMA_K>(weights, k, n, b[0], b[1]);
        accumulators.template add_k_tile<MMA_K>(weights, k + 1, n, b[2], b[3]);
      }
      if constexpr (Shape::warp_k_tiles % 2 == 1) {
        unsigned b0, b1;
        load_matrix_x2(b0, b1, address + (Shape::warp_k_tiles - 1) * 2 * chunk_elements * 2);
        accumulators.template add_k_tile<MMA_K>(weights, Shape::warp_k_tiles - 1, n, b0, b1);
      }
    }
    accumulators.join_chains();
  }

  // 16 bytes of h (8 units of one batch row) from `buffer` to states, by the first 4 * warp_groups lanes of each warp: the rows that
  // the warp itself wrote. time: which h this is.
  __device__ __forceinline__ void store_rows(const ForwardArguments& arguments, int buffer, int time, int head, int first_row,
                                             int first_unit, int unit_offset, const Lane<Shape>& lane) {
#pragma unroll
    for (int packet = lane.lane; packet < 4 * Shape::warp_groups; packet += 32) {
      const int row = lane.group_batch_row(packet / 4, packet % 4), unit = lane.unit(packet / 4) - lane.row;
      if (!lane.finishes() || first_row + row >= arguments.batch) continue;
      const uint4 value = *reinterpret_cast<const uint4*>(at(buffer, row, unit_offset + unit));
      Scalar* states = static_cast<Scalar*>(arguments.states);
      __stcs(reinterpret_cast<uint4*>(states + state_index<Shape>(arguments, 0, time, first_row + row, head, first_unit + unit)), value);
    }
  }
};

}  // namespace kerneltune
