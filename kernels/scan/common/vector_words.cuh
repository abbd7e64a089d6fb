// A thread's channels of a step as words of registers, and their way to and from memory.
#pragma once
#include "scan_shape.cuh"

namespace kerneltune {

template <class Shape>
struct VectorWords {
  using Scalar = typename Shape::Scalar;
  unsigned word[Shape::words];

  __device__ __forceinline__ float value(int channel) const {
    if constexpr (sizeof(Scalar) == 4)
      return Scalar::low(word[channel]);
    else
      return channel % 2 ? Scalar::high(word[channel / 2]) : Scalar::low(word[channel / 2]);
  }

  __device__ __forceinline__ void load_shared(unsigned address) {
    if constexpr (Shape::vector_bytes == 16)
      asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(word[0]), "=r"(word[1]), "=r"(word[2]), "=r"(word[3]) : "r"(address));
    else if constexpr (Shape::vector_bytes == 8)
      asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(word[0]), "=r"(word[1]) : "r"(address));
    else if constexpr (Shape::vector_bytes == 4)
      asm volatile("ld.shared.u32 %0, [%1];" : "=r"(word[0]) : "r"(address));
    else {
      unsigned short half;
      asm volatile("ld.shared.u16 %0, [%1];" : "=h"(half) : "r"(address));
      word[0] = half;
    }
  }

  // To shared memory: asynchronously, or at once where there are no such copies or the vector is too short for one.
  static __device__ __forceinline__ void copy(unsigned address, const void* from) {
    if constexpr (!Shape::Tiling::async_copy || Shape::vector_bytes < 4)
      copy_at_once(address, from);
    else if constexpr (Shape::vector_bytes == 16)
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address), "l"(from) : "memory");
    else if constexpr (Shape::vector_bytes == 8)
      asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(address), "l"(from) : "memory");
    else
      asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(address), "l"(from) : "memory");
  }

  // Written once and not read again soon.
  static __device__ __forceinline__ void store(void* to, const float (&value)[Shape::vector]) {
    if constexpr (Shape::vector_bytes == 16)
      __stcs(static_cast<uint4*>(to), make_uint4(packed(value, 0), packed(value, 1), packed(value, 2), packed(value, 3)));
    else if constexpr (Shape::vector_bytes == 8)
      __stcs(static_cast<uint2*>(to), make_uint2(packed(value, 0), packed(value, 1)));
    else if constexpr (Shape::vector_bytes == 4)
      __stcs(static_cast<unsigned*>(to), packed(value, 0));
    else
      __stcs(static_cast<unsigned short*>(to), from_float<Scalar>(value[0]).bits);
  }

 private:
  static __device__ __forceinline__ void copy_at_once(unsigned address, const void* from) {
    if constexpr (Shape::vector_bytes == 16) {
      const uint4 value = __ldcs(static_cast<const uint4*>(from));
      asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(value.x), "r"(value.y), "r"(value.z), "r"(value.w) : "memory");
    } else if constexpr (Shape::vector_bytes == 8) {
      const uint2 value = __ldcs(static_cast<const uint2*>(from));
      asm volatile("st.shared.v2.u32 [%0], {%1, %2};" ::"r"(address), "r"(value.x), "r"(value.y) : "memory");
    } else if constexpr (Shape::vector_bytes == 4) {
      asm volatile("st.shared.u32 [%0], %1;" ::"r"(address), "r"(__ldcs(static_cast<const unsigned*>(from))) : "memory");
    } else {
      asm volatile("st.shared.u16 [%0], %1;" ::"r"(address), "h"(__ldcs(static_cast<const unsigned short*>(from))) : "memory");
    }
  }

  static __device__ __forceinline__ unsigned packed(const float (&value)[Shape::vector], int word) {
    if constexpr (sizeof(Scalar) == 4)
      return __float_as_uint(value[word]);
    else
      return Scalar::pack(value[2 * word], value[2 * word + 1]);
  }
};

}  // namespace kerneltune
