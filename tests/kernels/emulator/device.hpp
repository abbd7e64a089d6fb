// What CUDA gives a kernel's source, for a C++ compiler: qualifiers, built-in variables, vector types, intrinsics. Included before the
// kernel; the source itself has passed through rewrite.py, which turned inline PTX into emulator::Instruction<"…">::run(…).
#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "machine.hpp"

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __noinline__
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __maxnreg__(...)
#define __grid_constant__
#define __align__(bytes) alignas(bytes)

#define threadIdx emulator::thread_index
#define blockIdx emulator::block_index
#define blockDim emulator::block_dim
#define gridDim emulator::grid_dim

#define EMULATED_VECTOR(name, scalar)                                                                  \
  struct alignas(2 * sizeof(scalar)) name##2 { scalar x, y; };                                         \
  struct alignas(4 * sizeof(scalar)) name##4 { scalar x, y, z, w; };                                   \
  inline name##2 make_##name##2(scalar x, scalar y) { return {x, y}; }                                 \
  inline name##4 make_##name##4(scalar x, scalar y, scalar z, scalar w) { return {x, y, z, w}; }
EMULATED_VECTOR(uint, unsigned)
EMULATED_VECTOR(int, int)
EMULATED_VECTOR(float, float)
EMULATED_VECTOR(ushort, unsigned short)
#undef EMULATED_VECTOR

inline float __uint_as_float(unsigned bits) { float value; std::memcpy(&value, &bits, 4); return value; }
inline unsigned __float_as_uint(float value) { unsigned bits; std::memcpy(&bits, &value, 4); return bits; }
inline int __float_as_int(float value) { return static_cast<int>(__float_as_uint(value)); }
inline float __int_as_float(int bits) { return __uint_as_float(static_cast<unsigned>(bits)); }
inline float __fdividef(float a, float b) { return a / b; }
inline float __frcp_rn(float a) { return 1.0f / a; }
inline float __expf(float a) { return std::exp(a); }
inline float rsqrtf(float a) { return 1.0f / std::sqrt(a); }
inline unsigned max(unsigned a, unsigned b) { return a > b ? a : b; }
inline int max(int a, int b) { return a > b ? a : b; }
inline unsigned min(unsigned a, unsigned b) { return a < b ? a : b; }
inline int min(int a, int b) { return a < b ? a : b; }

inline void __syncthreads() { emulator::block_barrier(0, emulator::block_dim.x, true); }
inline void __syncwarp(unsigned mask = 0xffffffffu) { emulator::synchronize_warp(mask); }
inline void __threadfence() { emulator::fence(); }

inline size_t __cvta_generic_to_shared(const void* pointer) { return emulator::shared_offset(pointer); }

namespace emulator {
template <class T>
T shuffled(unsigned mask, T value, int source) {
  static_assert(sizeof(T) == 4);
  unsigned bits;
  std::memcpy(&bits, &value, 4);
  bits = shuffle(mask, bits, source);
  std::memcpy(&value, &bits, 4);
  return value;
}
// Lanes beyond the warp's end keep their own value.
inline int lane_or_self(int lane) { return lane >= 0 && lane < 32 ? lane : static_cast<int>(thread_index.x % 32); }
}  // namespace emulator

template <class T> T __shfl_sync(unsigned mask, T value, int lane) { return emulator::shuffled(mask, value, lane & 31); }
template <class T> T __shfl_xor_sync(unsigned mask, T value, int bits) {
  return emulator::shuffled(mask, value, static_cast<int>(threadIdx.x % 32) ^ bits);
}
template <class T> T __shfl_down_sync(unsigned mask, T value, unsigned by) {
  return emulator::shuffled(mask, value, emulator::lane_or_self(static_cast<int>(threadIdx.x % 32 + by)));
}
template <class T> T __shfl_up_sync(unsigned mask, T value, unsigned by) {
  return emulator::shuffled(mask, value, emulator::lane_or_self(static_cast<int>(threadIdx.x % 32) - static_cast<int>(by)));
}

inline int __ffs(int bits) { return __builtin_ffs(bits); }
inline int __any_sync(unsigned mask, int own) { return emulator::any(mask, own != 0); }
inline unsigned __ballot_sync(unsigned mask, int own) {
  unsigned found = 0;
  for (int lane = 0; lane < 32; lane++)
    if (mask >> lane & 1) found |= emulator::any(mask, own != 0 && static_cast<int>(threadIdx.x % 32) == lane) ? 1u << lane : 0u;
  return found;
}

// Cache hints change nothing that can be seen.
template <class T> T __ldg(const T* pointer) { return *pointer; }
template <class T> T __ldcs(const T* pointer) { return *pointer; }
template <class T> T __ldcg(const T* pointer) { return *pointer; }
template <class T> void __stcs(T* pointer, T value) { *pointer = value; }
template <class T> void __stcg(T* pointer, T value) { *pointer = value; }

#include "instructions.hpp"
