// A thread's channels of a step as words of registers, and their way to and from memory.
#pragma once
#include "moves.cuh"
#include "scan_shape.cuh"

namespace kerneltune {

template <class Shape>
struct VectorWords {
  using Scalar = typename Shape::Scalar;
  unsigned word[Shape::words];

  __device__ __forceinline__ float value(int channel) const { return number_of<Scalar>(word, channel); }

  __device__ __forceinline__ void load_shared(unsigned address) {
    read_shared(word, address, Shape::vector_bytes);
  }

  // To shared memory: asynchronously, or at once where there are no such copies or the vector is too short
  // for one.
  static __device__ __forceinline__ void copy(unsigned address, const void* from) {
    if constexpr (Shape::Tiling::async_copy && Shape::vector_bytes >= 4) {
      copy_async(address, from, Shape::vector_bytes);
    } else {
      VectorWords words;
      read_global(words.word, from, Shape::vector_bytes);
      write_shared(address, words.word, Shape::vector_bytes);
    }
  }

  // Written once and not read again soon.
  static __device__ __forceinline__ void store(bool wanted, void* to, const float (&value)[Shape::vector]) {
    store_global<Scalar>(to, value, Shape::vector, wanted);
  }
};

}  // namespace kerneltune
