// Storage types, and how values are packed, read and written.
// Arithmetic is always in float32. A 32-bit word holds two 16-bit values or one 32-bit value.
// The structs replace cuda_bf16.h and cuda_fp16.h, which cost more compile time than the kernels themselves.
#pragma once

namespace kerneltune {

struct BFloat16 {
  unsigned short bits;

  static __device__ __forceinline__ float low(unsigned packed) { return __uint_as_float(packed << 16); }
  static __device__ __forceinline__ float high(unsigned packed) {
    return __uint_as_float(packed & 0xffff0000u);
  }

  // Two floats, rounded to nearest even, `first` in the low half. A NaN becomes 0x7fff, never all ones.
  static __device__ __forceinline__ unsigned pack(float first, float second) {
    unsigned packed;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(second), "f"(first));
    return packed;
  }
};

struct Float16 {
  unsigned short bits;

  static __device__ __forceinline__ float widen(unsigned short half) {
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(half));
    return value;
  }
  static __device__ __forceinline__ float low(unsigned packed) {
    return widen(static_cast<unsigned short>(packed));
  }
  static __device__ __forceinline__ float high(unsigned packed) {
    return widen(static_cast<unsigned short>(packed >> 16));
  }

  static __device__ __forceinline__ unsigned pack(float first, float second) {
#if __CUDA_ARCH__ >= 800
    unsigned packed;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(second), "f"(first));
    return packed;
#else  // the paired conversion needs sm_80
    unsigned short low_half, high_half;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(low_half) : "f"(first));
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(high_half) : "f"(second));
    return low_half | static_cast<unsigned>(high_half) << 16;
#endif
  }
};

// Products have float32 accuracy (mma.cuh).
struct Float32 {
  unsigned bits;

  static __device__ __forceinline__ float low(unsigned word) { return __uint_as_float(word); }
};

// The same in memory. Products round their factors to TF32, with 11 bits of mantissa.
struct TensorFloat32 : Float32 {};

template <class Scalar>
__device__ __forceinline__ float to_float(Scalar value) {
  return Scalar::low(value.bits);
}

template <class Scalar>
__device__ __forceinline__ Scalar from_float(float value) {
  if constexpr (sizeof(Scalar) == 4)
    return Scalar{__float_as_uint(value)};
  else
    return Scalar{static_cast<unsigned short>(Scalar::pack(value, 0.0f))};
}

// The word that a value is stored in: the value and, for 16-bit values, the next one. For h, the next value
// belongs to the lane of the next unit, 4 lanes on; lanes of even units write both. next_unit is called by
// whole warps. A word is never all ones: conversions and arithmetic never produce that NaN (or pair of NaNs).
template <class Scalar>
__device__ __forceinline__ float next_unit(float value) {
  return sizeof(Scalar) == 4 ? value : __shfl_down_sync(0xffffffffu, value, 4);
}

template <class Scalar>
__device__ __forceinline__ unsigned word_of(float value, float next) {
  if constexpr (sizeof(Scalar) == 4) {
    const unsigned word = __float_as_uint(value);
    return word == 0xffffffffu ? 0x7fffffffu : word;  // the caller's own NaN may pass through arithmetic
  } else {
    return Scalar::pack(value, next);
  }
}

// COUNT contiguous values in shared memory.
template <class Scalar, int COUNT>
__device__ __forceinline__ void read_values(float (&value)[COUNT], unsigned address) {
  if constexpr (sizeof(Scalar) == 4) {
    if constexpr (COUNT == 4) {
      unsigned word[4];
      asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(word[0]), "=r"(word[1]), "=r"(word[2]), "=r"(word[3])
                   : "r"(address));
#pragma unroll
      for (int i = 0; i < 4; i++) value[i] = __uint_as_float(word[i]);
    } else {
#pragma unroll
      for (int i = 0; i < COUNT; i++)
        asm volatile("ld.shared.f32 %0, [%1];" : "=f"(value[i]) : "r"(address + i * 4));
    }
  } else if constexpr (COUNT == 4) {
    unsigned first, second;
    asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(first), "=r"(second) : "r"(address));
    value[0] = Scalar::low(first);
    value[1] = Scalar::high(first);
    value[2] = Scalar::low(second);
    value[3] = Scalar::high(second);
  } else {
#pragma unroll
    for (int i = 0; i < COUNT; i++) {
      unsigned short half;
      asm volatile("ld.shared.u16 %0, [%1];" : "=h"(half) : "r"(address + i * 2));
      value[i] = Scalar::low(half);
    }
  }
}

// COUNT contiguous floats in shared memory.
template <int COUNT>
__device__ __forceinline__ void read_floats(float (&value)[COUNT], unsigned address) {
#pragma unroll
  for (int i = 0; i < COUNT; i++)
    asm volatile("ld.shared.f32 %0, [%1];" : "=f"(value[i]) : "r"(address + i * 4));
}

// COUNT contiguous values in device memory that are not read again soon.
template <class Scalar, int COUNT>
__device__ __forceinline__ void write_values(Scalar* target, const float (&value)[COUNT]) {
  if constexpr (sizeof(Scalar) == 4 && COUNT % 4 == 0) {
#pragma unroll
    for (int i = 0; i < COUNT; i += 4)
      __stcs(reinterpret_cast<float4*>(target + i),
             make_float4(value[i], value[i + 1], value[i + 2], value[i + 3]));
  } else if constexpr (sizeof(Scalar) == 2 && COUNT % 8 == 0) {
#pragma unroll
    for (int i = 0; i < COUNT; i += 8)
      __stcs(reinterpret_cast<uint4*>(target + i),
             make_uint4(Scalar::pack(value[i], value[i + 1]), Scalar::pack(value[i + 2], value[i + 3]),
                        Scalar::pack(value[i + 4], value[i + 5]), Scalar::pack(value[i + 6], value[i + 7])));
  } else if constexpr (sizeof(Scalar) == 2 && COUNT % 4 == 0) {
#pragma unroll
    for (int i = 0; i < COUNT; i += 4)
      __stcs(reinterpret_cast<uint2*>(target + i),
             make_uint2(Scalar::pack(value[i], value[i + 1]), Scalar::pack(value[i + 2], value[i + 3])));
  } else if constexpr (sizeof(Scalar) == 2 && COUNT == 2) {
    __stcs(reinterpret_cast<unsigned*>(target), Scalar::pack(value[0], value[1]));
  } else {
#pragma unroll
    for (int i = 0; i < COUNT; i++) target[i] = from_float<Scalar>(value[i]);
  }
}

// Brings a line of device memory to L2.
__device__ __forceinline__ void prefetch_line(const void* pointer) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(pointer));
}

}  // namespace kerneltune
