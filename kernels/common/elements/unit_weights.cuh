// The weights of single units, of cells that have some (Cell::weights): [H, P, D] in storage type.
#pragma once
#include "../arguments.cuh"
#include "../numeric/scalar.cuh"
#include "../shape/product_shape.cuh"

namespace kerneltune {

template <class Cell, class = void>
constexpr int weights_of = 0;
template <class Cell>
constexpr int weights_of<Cell, decltype(static_cast<void>(Cell::weights))> = Cell::weights;

// Those of one unit. Without any there is nothing to load.
template <class Cell>
struct UnitWeights {
  float value[at_least_one(weights_of<Cell>)];

  // unit: of the head. arguments: in a kernel of such a cell they are the struct with the weights.
  template <class Scalar, class Arguments>
  __device__ __forceinline__ void load(const Arguments& arguments, int head, int head_dim, int unit,
                                       bool present) {
    if constexpr (weights_of<Cell> > 0) {
      const Scalar* weights = static_cast<const Scalar*>(with_weights(arguments).weights);
#pragma unroll
      for (int w = 0; w < Cell::weights; w++)
        value[w] = present
                       ? to_float(weights[(static_cast<size_t>(head) * Cell::weights + w) * head_dim + unit])
                       : 0.0f;
    }
  }
};

}  // namespace kerneltune
