// Tensor-core products of one warp: D[16 x 8] += A[16 x 16] B[16 x 8].
// Rows of A are gate rows of R, columns of B are batch rows.
// Fragment layouts (PTX ISA, mma.m16n8k16), with g = lane / 4 and q = lane % 4:
//   A: {row g, k 2q..}, {row g+8, k 2q..}, {row g, k 2q+8..}, {row g+8, k 2q+8..}
//   B: {k 2q.., column g}, {k 2q+8.., column g}
//   C: {row g, column 2q}, {row g, column 2q+1}, {row g+8, column 2q}, {row g+8, column 2q+1}
#pragma once
#include "../numeric/scalar.cuh"

namespace kerneltune {

template <class Scalar, int MMA_K>
struct WarpMma;

template <>
struct WarpMma<BFloat16, 16> {
  static __device__ __forceinline__ void accumulate(float (&c)[4], const unsigned (&a)[4], unsigned b0,
                                                    unsigned b1) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  }
};

template <>
struct WarpMma<Float16, 16> {
  static __device__ __forceinline__ void accumulate(float (&c)[4], const unsigned (&a)[4], unsigned b0,
                                                    unsigned b1) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  }
};

// For GPUs whose largest shape is m16n8k8: the two halves of k in turn.
template <>
struct WarpMma<Float16, 8> {
  static __device__ __forceinline__ void accumulate(float (&c)[4], const unsigned (&a)[4], unsigned b0,
                                                    unsigned b1) {
    half_k(c, a[0], a[1], b0);
    half_k(c, a[2], a[3], b1);
  }

 private:
  static __device__ __forceinline__ void half_k(float (&c)[4], unsigned a0, unsigned a1, unsigned b) {
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3},{%4,%5},{%6},{%0,%1,%2,%3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a0), "r"(a1), "r"(b));
  }
};

// TF32 has k = 8, and a word of a fragment is one value:
//   A: {row g, k q}, {row g+8, k q}, {row g, k q+4}, {row g+8, k q+4}
//   B: {k q, column g}, {k q+4, column g}
// The tensor core reads the upper 19 bits of a word.
__device__ __forceinline__ void accumulate_tf32(float (&c)[4], const unsigned (&a)[4], unsigned b0,
                                                unsigned b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ __forceinline__ unsigned round_to_tf32(unsigned word) {
  unsigned rounded;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(rounded) : "f"(__uint_as_float(word)));
  return rounded;
}

// Prepares words of weights for accumulate, once instead of in every step.
template <class Scalar>
__device__ __forceinline__ unsigned prepared_weights(unsigned word) {
  return word;
}
template <>
__device__ __forceinline__ unsigned prepared_weights<TensorFloat32>(unsigned word) {
  return round_to_tf32(word);
}

// Whether products have float32 accuracy.
template <class Scalar>
constexpr bool exact_products = false;
template <>
constexpr bool exact_products<Float32> = true;

template <>
struct WarpMma<TensorFloat32, 8> {
  static __device__ __forceinline__ void accumulate(float (&c)[4], const unsigned (&a)[4], unsigned b0,
                                                    unsigned b1) {
    accumulate_tf32(c, a, round_to_tf32(b0), round_to_tf32(b1));
  }
};

// Float32 as the sum of two TF32 values, large + small, exact but for the last bit or two. small times small
// is below float32 accuracy. Weights in registers are the same in every step, so the compiler keeps large and
// small apart; the tilings count two registers for each.
template <>
struct WarpMma<Float32, 8> {
  static __device__ __forceinline__ unsigned large(unsigned word) { return word & 0xffffe000u; }
  static __device__ __forceinline__ unsigned small(unsigned word) {
    return __float_as_uint(__uint_as_float(word) - __uint_as_float(large(word)));
  }
  static __device__ __forceinline__ void accumulate(float (&c)[4], const unsigned (&a)[4], unsigned b0,
                                                    unsigned b1) {
    const unsigned a_large[4] = {large(a[0]), large(a[1]), large(a[2]), large(a[3])};
    const unsigned a_small[4] = {small(a[0]), small(a[1]), small(a[2]), small(a[3])};
    accumulate_tf32(c, a_large, small(b0), small(b1));
    accumulate_tf32(c, a_small, large(b0), large(b1));
    accumulate_tf32(c, a_large, large(b0), large(b1));
  }
};

__device__ __forceinline__ unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

// Four 8 x 8 matrices of 16-bit values. Lane l supplies the address of row l % 8 of matrix l / 8.
__device__ __forceinline__ void load_matrix_x4(unsigned (&fragment)[4], unsigned address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(fragment[0]), "=r"(fragment[1]), "=r"(fragment[2]), "=r"(fragment[3])
               : "r"(address)
               : "memory");
}

// The same, each matrix transposed: a lane's word has values of two rows.
__device__ __forceinline__ void load_matrix_x4_transposed(unsigned (&fragment)[4], unsigned address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(fragment[0]), "=r"(fragment[1]), "=r"(fragment[2]), "=r"(fragment[3])
               : "r"(address)
               : "memory");
}

__device__ __forceinline__ void load_matrix_x2(unsigned& first, unsigned& second, unsigned address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];"
               : "=r"(first), "=r"(second)
               : "r"(address)
               : "memory");
}

}  // namespace kerneltune
