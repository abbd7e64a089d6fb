// Asynchronous products of a warpgroup, four warps: D[64 x N] = A[64 x 16] B[16 x N] or D += A B (sm_90a).
// See wgmma.mma_async in the PTX ISA. Warp w holds rows 16 w to 16 w + 15. Its registers of A are those of an
// m16n8k16 product (mma.cuh). Its part of D is N / 8 of that product's D fragments.
//
// A matrix in shared memory has the rows of A, or the columns of B, one after the other. Each has 16 values,
// 32 bytes. Its two halves are swapped in rows 4 to 7 of each eight (the 32-byte swizzle), so that one access
// of a product covers different banks. A matrix begins at a multiple of 256 bytes.
#pragma once
#include "../numeric/scalar.cuh"

namespace kerneltune {

// Precedes products that follow anything but products.
__device__ __forceinline__ void warpgroup_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }

// Follows products; warpgroup_wait waits for them.
__device__ __forceinline__ void warpgroup_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

// Waits until all products of this warpgroup are done but those of the NEWER last commits.
template <int NEWER = 0>
__device__ __forceinline__ void warpgroup_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(NEWER) : "memory");
}

// Raises or lowers the number of registers of each thread (setmaxnreg). Called by whole warpgroups; one takes
// what another gives.
template <int REGISTERS>
__device__ __forceinline__ void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(REGISTERS));
}
template <int REGISTERS>
__device__ __forceinline__ void give_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(REGISTERS));
}

// Makes earlier stores to shared memory visible to wgmma and bulk copies, after a barrier.
__device__ __forceinline__ void fence_shared_for_async() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

constexpr unsigned matrix_row_bytes = 32;

// Offset in bytes of half `half` (8 values) of a row of a matrix.
__device__ __forceinline__ constexpr int matrix_place(int row, int half) {
  return row * 32 + (half ^ (row / 4 & 1)) * 16;
}

// The descriptor of a matrix for a product. It holds addresses in units of 16 bytes.
__device__ __forceinline__ unsigned long long matrix_descriptor(unsigned address) {
  constexpr unsigned long long swizzle_32_bytes = 3ull << 62, bytes_of_8_rows = 8 * matrix_row_bytes;
  return swizzle_32_bytes | bytes_of_8_rows >> 4 << 32 | address >> 4;
}

// D = A B, or D += A B if `adds`, for a storage type and N columns. A is given as fragments in the warp's
// registers or, like B, as a descriptor. d[n][i] is value i of the m16n8 fragment of columns 8 n to 8 n + 7.
template <class Scalar, int N>
struct WarpgroupMma;

// The instruction names each register of D, so its text depends on N. OUT_n lists the operands of D from n
// tile `t` on; D_n lists their places in the text.
#define KERNELTUNE_OUT_8(t) "+f"(d[t][0]), "+f"(d[t][1]), "+f"(d[t][2]), "+f"(d[t][3])
#define KERNELTUNE_OUT_16(t) KERNELTUNE_OUT_8(t), KERNELTUNE_OUT_8(t + 1)
#define KERNELTUNE_OUT_24(t) KERNELTUNE_OUT_16(t), KERNELTUNE_OUT_8(t + 2)
#define KERNELTUNE_OUT_32(t) KERNELTUNE_OUT_16(t), KERNELTUNE_OUT_16(t + 2)
#define KERNELTUNE_OUT_64(t) KERNELTUNE_OUT_32(t), KERNELTUNE_OUT_32(t + 4)
#define KERNELTUNE_D_8 "%0, %1, %2, %3"
#define KERNELTUNE_D_16 KERNELTUNE_D_8 ", %4, %5, %6, %7"
#define KERNELTUNE_D_24 KERNELTUNE_D_16 ", %8, %9, %10, %11"
#define KERNELTUNE_D_32 KERNELTUNE_D_24 ", %12, %13, %14, %15"
#define KERNELTUNE_D_64                           \
  KERNELTUNE_D_32                                 \
  ", %16, %17, %18, %19, %20, %21, %22, %23, %24" \
  ", %25, %26, %27, %28, %29, %30, %31"

// p0 to p5 are the places of the operands that follow D: the four words of A, then B and `adds`; or A, B and
// `adds`.
#define KERNELTUNE_WARPGROUP_MMA(STORAGE, TYPE, N, p0, p1, p2, p3, p4, p5)                                 \
  template <>                                                                                              \
  struct WarpgroupMma<STORAGE, N> {                                                                        \
    using Sums = float[N / 8][4];                                                                          \
    static __device__ __forceinline__ void multiply(Sums& d, const unsigned (&a)[4], unsigned long long b, \
                                                    int adds) {                                            \
      asm volatile("{\n.reg .pred adds;\nsetp.ne.b32 adds, %" #p5                                          \
                   ", 0;\n"                                                                                \
                   "wgmma.mma_async.sync.aligned.m64n" #N "k16.f32." #TYPE "." #TYPE " {" KERNELTUNE_D_##N \
                   "}, {%" #p0 ", %" #p1 ", %" #p2 ", %" #p3 "}, %" #p4 ", adds, 1, 1, 0;\n}"              \
                   : KERNELTUNE_OUT_##N(0)                                                                 \
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(adds));                       \
    }                                                                                                      \
    static __device__ __forceinline__ void multiply(Sums& d, unsigned long long a, unsigned long long b,   \
                                                    int adds) {                                            \
      asm volatile("{\n.reg .pred adds;\nsetp.ne.b32 adds, %" #p2                                          \
                   ", 0;\n"                                                                                \
                   "wgmma.mma_async.sync.aligned.m64n" #N "k16.f32." #TYPE "." #TYPE " {" KERNELTUNE_D_##N \
                   "}, %" #p0 ", %" #p1 ", adds, 1, 1, 0, 0;\n}"                                           \
                   : KERNELTUNE_OUT_##N(0)                                                                 \
                   : "l"(a), "l"(b), "r"(adds));                                                           \
    }                                                                                                      \
  };
#define KERNELTUNE_WARPGROUP_MMA_OF_BOTH_TYPES(...)     \
  KERNELTUNE_WARPGROUP_MMA(BFloat16, bf16, __VA_ARGS__) \
  KERNELTUNE_WARPGROUP_MMA(Float16, f16, __VA_ARGS__)

KERNELTUNE_WARPGROUP_MMA_OF_BOTH_TYPES(8, 4, 5, 6, 7, 8, 9)
KERNELTUNE_WARPGROUP_MMA_OF_BOTH_TYPES(16, 8, 9, 10, 11, 12, 13)
KERNELTUNE_WARPGROUP_MMA_OF_BOTH_TYPES(24, 12, 13, 14, 15, 16, 17)
KERNELTUNE_WARPGROUP_MMA_OF_BOTH_TYPES(32, 16, 17, 18, 19, 20, 21)
KERNELTUNE_WARPGROUP_MMA_OF_BOTH_TYPES(64, 32, 33, 34, 35, 36, 37)

#undef KERNELTUNE_WARPGROUP_MMA_OF_BOTH_TYPES
#undef KERNELTUNE_WARPGROUP_MMA
#undef KERNELTUNE_D_64
#undef KERNELTUNE_D_32
#undef KERNELTUNE_D_24
#undef KERNELTUNE_D_16
#undef KERNELTUNE_D_8
#undef KERNELTUNE_OUT_64
#undef KERNELTUNE_OUT_32
#undef KERNELTUNE_OUT_24
#undef KERNELTUNE_OUT_16
#undef KERNELTUNE_OUT_8

}  // namespace kerneltune
