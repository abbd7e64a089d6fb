// A lane's new gradients of all gates in storage type, as the whole words in which they go out.
//
// With an even number of gates a lane's own are whole words. With an odd one the lanes of two neighbouring units share: that of the even
// unit takes both units' gradients by W x, that of the odd one both units' gradients by R h + bias, which are the next operands.
#pragma once
#include "product_shape.cuh"
#include "scalar.cuh"

namespace kerneltune {

template <class Shape>
struct GateWords {
  using Scalar = typename Shape::Scalar;
  static constexpr int gates = Shape::gates;
  static constexpr bool in_pairs = gates % 2 == 1;
  static constexpr int count = in_pairs ? gates : gates / 2;

  unsigned word[count];

  static __device__ __forceinline__ bool of_input(const Lane<Shape>& lane) { return !in_pairs || lane.row % 2 == 0; }
  static __device__ __forceinline__ bool of_recurrent(const Lane<Shape>& lane) { return !in_pairs || lane.row % 2 == 1; }
  // The words begin at the gradients of the lane's unit less this.
  static __device__ __forceinline__ int units_before(const Lane<Shape>& lane) { return in_pairs ? lane.row % 2 : 0; }

  // By all lanes of the warp.
  __device__ __forceinline__ void pack(const float (&input)[gates], const float (&recurrent)[gates], const Lane<Shape>& lane) {
    float value[2 * count];
    if constexpr (in_pairs) {
      const bool even = lane.row % 2 == 0;
#pragma unroll
      for (int gate = 0; gate < gates; gate++) {
        const float received = __shfl_xor_sync(0xffffffffu, even ? recurrent[gate] : input[gate], 4);
        value[gate] = even ? input[gate] : received;
        value[gates + gate] = even ? received : recurrent[gate];
      }
    } else {
#pragma unroll
      for (int gate = 0; gate < gates; gate++) value[gate] = recurrent[gate];
    }
#pragma unroll
    for (int i = 0; i < count; i++) word[i] = Scalar::pack(value[2 * i], value[2 * i + 1]);
  }

  // To where they stand side by side in device memory, not to be read again soon.
  __device__ __forceinline__ void write(Scalar* target) const {
    if constexpr (count == 2) {
      __stcs(reinterpret_cast<uint2*>(target), make_uint2(word[0], word[1]));
    } else {
#pragma unroll
      for (int i = 0; i < count; i++) __stcs(reinterpret_cast<unsigned*>(target) + i, word[i]);
    }
  }
};

}  // namespace kerneltune
