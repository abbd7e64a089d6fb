// The operands of one head and batch tile in shared memory: the B operand of the product.
// They are h forward and the gates' gradients backward.
// Layout: two buffers [k_padded / part][batch_tile][part]. The 8 rows of 16 bytes of a matrix cover each bank
// once.
#pragma once
#include "../ptx/mma.cuh"
#include "../shape/product_shape.cuh"
#include "../weights/recurrent_weights.cuh"

namespace kerneltune {

template <class Shape>
struct OperandTile {
  using Scalar = typename Shape::Scalar;
  static constexpr int part = Shape::part;
  static constexpr int chunk_elements = Shape::batch_tile * part;  // `part` operands of all batch rows
  static constexpr int chunk_bytes = Shape::batch_tile * 16;
  static constexpr int buffer_elements = Shape::k_padded / part * chunk_elements;
  static constexpr int buffer_bytes = Shape::k_padded / part * chunk_bytes;
  static constexpr int shared_bytes = 2 * buffer_bytes;

  Scalar* buffers;
  unsigned fragment_address;  // of this lane's row in the first buffer

  __device__ __forceinline__ OperandTile(void* shared_storage, const Lane<Shape>& lane)
      : buffers(static_cast<Scalar*>(shared_storage)) {
    const int row = Shape::column_row(0, lane.lane % 8),
              k = lane.k_split * Shape::warp_k_tiles * Shape::k_tile + lane.lane / 8 * part;
    fragment_address = shared_address(at(0, row, k));
  }

  __device__ __forceinline__ void clear() {
    for (int i = threadIdx.x; i < 2 * buffer_elements; i += Shape::threads) buffers[i] = Scalar{0};
  }

  __device__ __forceinline__ Scalar* at(int buffer, int row, int k) const {
    return buffers + buffer * buffer_elements + k / part * chunk_elements + row * part + k % part;
  }

  template <int MMA_K, class Weights>
  __device__ __forceinline__ void multiply(Accumulators<Shape>& accumulators, const Weights& weights,
                                           int buffer) const {
    multiply<MMA_K>(accumulators, weights, buffer, [] {});
  }

  // accumulators += weights times the operands in `buffer`. One ldmatrix reads two k tiles. Runs `meanwhile`
  // between the two halves of the products: a warp issues in order, so later instructions wait for the
  // products.
  template <int MMA_K, class Weights, class Meanwhile>
  __device__ __forceinline__ void multiply(Accumulators<Shape>& accumulators, const Weights& weights,
                                           int buffer, const Meanwhile& meanwhile) const {
    constexpr int pause = (Shape::warp_k_tiles - 1) / 4 * 2;
#pragma unroll
    for (int n = 0; n < Shape::n_tiles; n++) {
      const unsigned address = fragment_address + buffer * buffer_bytes + n * 8 * 16;
#pragma unroll
      for (int k = 0; k + 1 < Shape::warp_k_tiles; k += 2) {
        unsigned b[4];
        load_matrix_x4(b, address + k * 2 * chunk_bytes);
        accumulators.template add_k_tile<MMA_K>(weights, k, n, b[0], b[1]);
        accumulators.template add_k_tile<MMA_K>(weights, k + 1, n, b[2], b[3]);
        if (n == 0 && k == pause) meanwhile();
      }
      if constexpr (Shape::warp_k_tiles % 2 == 1) {
        unsigned b0, b1;
        load_matrix_x2(b0, b1, address + (Shape::warp_k_tiles - 1) * 2 * chunk_bytes);
        accumulators.template add_k_tile<MMA_K>(weights, Shape::warp_k_tiles - 1, n, b0, b1);
        if (n == 0 && Shape::warp_k_tiles == 1) meanwhile();
      }
    }
    accumulators.join_chains();
  }
};

}  // namespace kerneltune
