// A lane's new gradients of all gates in storage type, packed into whole words.
//
// A lane's own gradients are whole words if values have 32 bits or the number of gates is even. Otherwise the
// lanes of two neighbouring units share words: the lane of the even unit holds both units' gradients by W x,
// the lane of the odd unit both units' gradients by R h + bias, which are the next operands.
#pragma once
#include "../exchange/shared_words.cuh"
#include "../shape/product_shape.cuh"
#include "../numeric/scalar.cuh"

namespace kerneltune {

template <class Shape>
struct GateWords {
  using Scalar = typename Shape::Scalar;
  static constexpr int gates = Shape::gates;
  static constexpr int word_values = 4 / sizeof(Scalar);  // values in a word
  static constexpr bool in_pairs = gates % word_values != 0;
  static constexpr int count = in_pairs ? gates : gates / word_values;
  // Whether a lane holds words of both kinds: the kinds differ, and the lane keeps its own.
  static constexpr bool keeps_input = Shape::separate_gradients && !in_pairs;

  unsigned word[count];
  unsigned input_word[keeps_input ? count : 1];

  static __device__ __forceinline__ bool of_input(const Lane<Shape>& lane) {
    return !in_pairs || lane.row % 2 == 0;
  }
  static __device__ __forceinline__ bool of_recurrent(const Lane<Shape>& lane) {
    return !in_pairs || lane.row % 2 == 1;
  }
  // The distance, in units, from the first unit in the words to the lane's unit.
  static __device__ __forceinline__ int units_before(const Lane<Shape>& lane) {
    return in_pairs ? lane.row % 2 : 0;
  }

  // Called by all lanes of the warp.
  __device__ __forceinline__ void pack(const float (&input)[gates], const float (&recurrent)[gates],
                                       const Lane<Shape>& lane) {
    float value[word_values * count];
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
    for (int i = 0; i < count; i++) {
      word[i] = word_of<Scalar>(value[word_values * i], value[word_values * i + word_values - 1]);
      if constexpr (keeps_input && word_values == 1) input_word[i] = __float_as_uint(input[i]);
      if constexpr (keeps_input && word_values == 2)
        input_word[i] = word_of<Scalar>(input[2 * i], input[2 * i + 1]);
    }
  }

  // Writes to contiguous device memory that is not read again soon.
  __device__ __forceinline__ void write(Scalar* target) const { write(target, word); }
  __device__ __forceinline__ void write_input(Scalar* target) const { write(target, input_word); }

  // Writes to a slot of an exchange in device memory, [k / part][batch tile][part]: the operands of batch row
  // `row` from `k` on.
  __device__ __forceinline__ void publish(Scalar* slot, int k, int row) const {
    if constexpr (count == 4) {
      store_shared_by_gpu(place(slot, k, row), make_uint4(word[0], word[1], word[2], word[3]));
    } else if constexpr (count == 2) {
      store_shared_by_gpu(place(slot, k, row), make_uint2(word[0], word[1]));
    } else {
#pragma unroll
      for (int i = 0; i < count; i++) store_shared_by_gpu(place(slot, k + i * word_values, row), word[i]);
    }
  }

 private:
  static __device__ __forceinline__ Scalar* place(Scalar* slot, int k, int row) {
    return slot + (k / Shape::part * Shape::batch_tile + row) * Shape::part + k % Shape::part;
  }

  static __device__ __forceinline__ void write(Scalar* target, const unsigned (&words)[count]) {
    if constexpr (count == 4) {
      __stcs(reinterpret_cast<uint4*>(target), make_uint4(words[0], words[1], words[2], words[3]));
    } else if constexpr (count == 2) {
      __stcs(reinterpret_cast<uint2*>(target), make_uint2(words[0], words[1]));
    } else {
#pragma unroll
      for (int i = 0; i < count; i++) __stcs(reinterpret_cast<unsigned*>(target) + i, words[i]);
    }
  }
};

}  // namespace kerneltune
