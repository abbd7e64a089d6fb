// Strategy "product": between a library's matrix products, a step's elements.
// Each thread computes `lane_units` units of one batch row; arrays are read in the widest words that they
// allow.
#pragma once
#include "../../common/arguments.cuh"
#include "../../common/numeric/activations.cuh"
#include "../../common/numeric/scalar.cuh"

namespace kerneltune {

// WORDS contiguous 32-bit words. `streams`: not read again soon.
template <int WORDS>
__device__ __forceinline__ void load_words(unsigned (&word)[WORDS], const unsigned* source, bool streams) {
  if constexpr (WORDS % 4 == 0) {
#pragma unroll
    for (int i = 0; i < WORDS; i += 4) {
      const uint4* place = reinterpret_cast<const uint4*>(source + i);
      const uint4 four = streams ? __ldcs(place) : *place;
      word[i] = four.x, word[i + 1] = four.y, word[i + 2] = four.z, word[i + 3] = four.w;
    }
  } else if constexpr (WORDS % 2 == 0) {
#pragma unroll
    for (int i = 0; i < WORDS; i += 2) {
      const uint2* place = reinterpret_cast<const uint2*>(source + i);
      const uint2 two = streams ? __ldcs(place) : *place;
      word[i] = two.x, word[i + 1] = two.y;
    }
  } else {
#pragma unroll
    for (int i = 0; i < WORDS; i++) word[i] = streams ? __ldcs(source + i) : source[i];
  }
}

template <int WORDS>
__device__ __forceinline__ void store_words(unsigned* target, const unsigned (&word)[WORDS], bool streams) {
  if constexpr (WORDS % 4 == 0) {
#pragma unroll
    for (int i = 0; i < WORDS; i += 4) {
      uint4* place = reinterpret_cast<uint4*>(target + i);
      const uint4 four = make_uint4(word[i], word[i + 1], word[i + 2], word[i + 3]);
      if (streams)
        __stcs(place, four);
      else
        *place = four;
    }
  } else if constexpr (WORDS % 2 == 0) {
#pragma unroll
    for (int i = 0; i < WORDS; i += 2) {
      uint2* place = reinterpret_cast<uint2*>(target + i);
      const uint2 two = make_uint2(word[i], word[i + 1]);
      if (streams)
        __stcs(place, two);
      else
        *place = two;
    }
  } else {
#pragma unroll
    for (int i = 0; i < WORDS; i++) {
      if (streams)
        __stcs(target + i, word[i]);
      else
        target[i] = word[i];
    }
  }
}

// COUNT contiguous values, whole words.
template <class Scalar, int COUNT>
__device__ __forceinline__ void load_values(float (&value)[COUNT], const void* array, size_t place,
                                            bool streams = false) {
  constexpr int each = 4 / sizeof(Scalar);
  static_assert(COUNT % each == 0, "whole words");
  unsigned word[COUNT / each];
  const Scalar* source = static_cast<const Scalar*>(array) + place;
  load_words(word, reinterpret_cast<const unsigned*>(source), streams);
#pragma unroll
  for (int i = 0; i < COUNT / each; i++) {
    value[i * each] = Scalar::low(word[i]);
    if constexpr (each == 2) value[i * 2 + 1] = Scalar::high(word[i]);
  }
}

template <class Scalar, int COUNT>
__device__ __forceinline__ void store_values(void* array, size_t place, const float (&value)[COUNT],
                                             bool streams = false) {
  constexpr int each = 4 / sizeof(Scalar);
  static_assert(COUNT % each == 0, "whole words");
  unsigned word[COUNT / each];
#pragma unroll
  for (int i = 0; i < COUNT / each; i++) {
    if constexpr (each == 2)
      word[i] = Scalar::pack(value[i * 2], value[i * 2 + 1]);
    else
      word[i] = __float_as_uint(value[i]);
  }
  Scalar* target = static_cast<Scalar*>(array) + place;
  store_words(reinterpret_cast<unsigned*>(target), word, streams);
}

// A part of the workspace begins at a multiple of 256 bytes.
__device__ __forceinline__ size_t part_bytes(size_t bytes) { return (bytes + 255) / 256 * 256; }

// The units of this thread.
template <class Tiling>
struct UnitsOfThread {
  static constexpr int count = Tiling::lane_units;
  size_t all;   // elements of a step, [B, H, D]
  size_t here;  // the first one's place there
  int row, head, unit;

  __device__ __forceinline__ UnitsOfThread(int batch, int heads)
      : all(static_cast<size_t>(batch) * heads * Tiling::head_dim),
        here((static_cast<size_t>(blockIdx.x) * Tiling::threads + threadIdx.x) * count) {
    const size_t row_head = here / Tiling::head_dim;
    unit = static_cast<int>(here - row_head * Tiling::head_dim);
    row = static_cast<int>(row_head / heads);
    head = static_cast<int>(row_head - static_cast<size_t>(row) * heads);
  }
  __device__ __forceinline__ bool present() const { return here < all; }
};

}  // namespace kerneltune
