// Numbers of a thread as words of registers, 2 to 16 bytes together, and their way to and from memory.
// `bytes` is known when it is compiled.
#pragma once
#include "../../common/numeric/scalar.cuh"

namespace kerneltune {

// Number `index` of words that hold numbers side by side.
template <class Scalar>
__device__ __forceinline__ float number_of(const unsigned* word, int index) {
  if constexpr (sizeof(Scalar) == 4)
    return Scalar::low(word[index]);
  else
    return index % 2 ? Scalar::high(word[index / 2]) : Scalar::low(word[index / 2]);
}

__device__ __forceinline__ void read_shared(unsigned* word, unsigned address, int bytes) {
  if (bytes == 16)
    asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(word[0]), "=r"(word[1]), "=r"(word[2]), "=r"(word[3])
                 : "r"(address));
  else if (bytes == 8)
    asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(word[0]), "=r"(word[1]) : "r"(address));
  else if (bytes == 4)
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(word[0]) : "r"(address));
  else {
    unsigned short half;
    asm volatile("ld.shared.u16 %0, [%1];" : "=h"(half) : "r"(address));
    word[0] = half;
  }
}

__device__ __forceinline__ void write_shared(unsigned address, const unsigned* word, int bytes) {
  if (bytes == 16)
    asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(word[0]), "r"(word[1]),
                 "r"(word[2]), "r"(word[3])
                 : "memory");
  else if (bytes == 8)
    asm volatile("st.shared.v2.u32 [%0], {%1, %2};" ::"r"(address), "r"(word[0]), "r"(word[1]) : "memory");
  else if (bytes == 4)
    asm volatile("st.shared.u32 [%0], %1;" ::"r"(address), "r"(word[0]) : "memory");
  else
    asm volatile("st.shared.u16 [%0], %1;" ::"r"(address), "h"(static_cast<unsigned short>(word[0]))
                 : "memory");
}

// Read once and not again.
__device__ __forceinline__ void read_global(unsigned* word, const void* from, int bytes) {
  if (bytes == 16) {
    const uint4 value = __ldcs(static_cast<const uint4*>(from));
    word[0] = value.x, word[1] = value.y, word[2] = value.z, word[3] = value.w;
  } else if (bytes == 8) {
    const uint2 value = __ldcs(static_cast<const uint2*>(from));
    word[0] = value.x, word[1] = value.y;
  } else if (bytes == 4) {
    word[0] = __ldcs(static_cast<const unsigned*>(from));
  } else {
    word[0] = __ldcs(static_cast<const unsigned short*>(from));
  }
}

// To shared memory asynchronously: 4 bytes or more.
__device__ __forceinline__ void copy_async(unsigned address, const void* from, int bytes) {
  if (bytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address), "l"(from) : "memory");
  else if (bytes == 8)
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(address), "l"(from) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(address), "l"(from) : "memory");
}

// To device memory where wanted, without a branch; written once and not read again soon.
__device__ __forceinline__ void write_global(bool wanted, void* to, const unsigned* word, int bytes) {
  const unsigned flag = wanted;
  if (bytes == 16)
    asm volatile(
        "{\n.reg .pred wanted;\nsetp.ne.u32 wanted, %0, 0;\n@wanted st.global.cs.v4.u32 [%1], {%2, %3, %4, "
        "%5};\n}" ::"r"(flag),
        "l"(to), "r"(word[0]), "r"(word[1]), "r"(word[2]), "r"(word[3])
        : "memory");
  else if (bytes == 8)
    asm volatile(
        "{\n.reg .pred wanted;\nsetp.ne.u32 wanted, %0, 0;\n@wanted st.global.cs.v2.u32 [%1], {%2, %3};\n}" ::
            "r"(flag),
        "l"(to), "r"(word[0]), "r"(word[1])
        : "memory");
  else if (bytes == 4)
    asm volatile(
        "{\n.reg .pred wanted;\nsetp.ne.u32 wanted, %0, 0;\n@wanted st.global.cs.u32 [%1], %2;\n}" ::"r"(
            flag),
        "l"(to), "r"(word[0])
        : "memory");
  else
    asm volatile(
        "{\n.reg .pred wanted;\nsetp.ne.u32 wanted, %0, 0;\n@wanted st.global.cs.u16 [%1], %2;\n}" ::"r"(
            flag),
        "l"(to), "h"(static_cast<unsigned short>(word[0]))
        : "memory");
}

// Numbers side by side, rounded; written once and not read again soon.
template <class Scalar>
__device__ __forceinline__ void store_global(void* to, const float* value, int count, bool wanted = true) {
  const int bytes = count * static_cast<int>(sizeof(Scalar));
  unsigned word[4];
#pragma unroll
  for (int i = 0; i < (bytes + 3) / 4; i++) {
    if constexpr (sizeof(Scalar) == 4)
      word[i] = __float_as_uint(value[i]);
    else if (bytes == 2)
      word[i] = from_float<Scalar>(value[0]).bits;
    else
      word[i] = Scalar::pack(value[2 * i], value[2 * i + 1]);
  }
  write_global(wanted, to, word, bytes);
}

}  // namespace kerneltune
