// Words and flags in device memory that blocks share while they run. The accesses meet in L2.
#pragma once

namespace kerneltune {

__device__ __forceinline__ uint4 load_shared_by_gpu(const void* pointer) {
  uint4 value;
  asm volatile("ld.relaxed.gpu.global.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
               : "l"(pointer)
               : "memory");
  return value;
}

__device__ __forceinline__ void store_shared_by_gpu(void* pointer, unsigned value) {
  asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(pointer), "r"(value) : "memory");
}

__device__ __forceinline__ void store_shared_by_gpu(void* pointer, uint2 value) {
  asm volatile("st.relaxed.gpu.global.v2.u32 [%0], {%1, %2};" ::"l"(pointer), "r"(value.x), "r"(value.y)
               : "memory");
}

__device__ __forceinline__ void store_shared_by_gpu(void* pointer, uint4 value) {
  asm volatile("st.relaxed.gpu.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(pointer), "r"(value.x),
               "r"(value.y), "r"(value.z), "r"(value.w)
               : "memory");
}

// Called by one thread after a barrier of its block. Whoever sees the flag sees the block's earlier stores to
// device memory.
__device__ __forceinline__ void raise_flag(unsigned* flag, unsigned value) {
  asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(flag), "r"(value) : "memory");
}

// Whether the flag is at least `value`, once.
__device__ __forceinline__ bool flag_is_raised(const unsigned* flag, unsigned value) {
  unsigned found;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(found) : "l"(flag) : "memory");
  return static_cast<int>(found - value) >= 0;  // correct even if the flag wraps around
}

// Returns when the flag is at least `value`.
__device__ __forceinline__ void await_flag(const unsigned* flag, unsigned value) {
  unsigned found;
  do {
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(found) : "l"(flag) : "memory");
  } while (static_cast<int>(found - value) < 0);  // correct even if the flag wraps around
}

}  // namespace kerneltune
