// What a of h' = a h + b may be: a number, a complex number, a matrix, or a number for each of several states.
// Numbers of a channel lie side by side.
//
//   multiply: the product of a later and an earlier a, in this order; apply: a x + b, in place of x;
//   transposed: what carries gradients back.
#pragma once

namespace kerneltune {

struct RealFactor {
  static constexpr int numbers = 1;  // of a
  static constexpr int states = 1;   // numbers of h and b

  static __device__ __forceinline__ void identity(float (&a)[1]) { a[0] = 1.0f; }
  static __device__ __forceinline__ void multiply(const float (&later)[1], const float (&earlier)[1],
                                                  float (&product)[1]) {
    product[0] = later[0] * earlier[0];
  }
  static __device__ __forceinline__ void apply(const float (&a)[1], const float (&b)[1], float (&x)[1]) {
    x[0] = fmaf(a[0], x[0], b[0]);
  }
  static __device__ __forceinline__ void transposed(const float (&a)[1], float (&t)[1]) { t[0] = a[0]; }
};

// Real part, imaginary part.
struct ComplexFactor {
  static constexpr int numbers = 2;
  static constexpr int states = 2;

  static __device__ __forceinline__ void identity(float (&a)[2]) { a[0] = 1.0f, a[1] = 0.0f; }
  static __device__ __forceinline__ void multiply(const float (&later)[2], const float (&earlier)[2],
                                                  float (&product)[2]) {
    const float real = later[0] * earlier[0] - later[1] * earlier[1],
                imaginary = later[0] * earlier[1] + later[1] * earlier[0];
    product[0] = real, product[1] = imaginary;
  }
  static __device__ __forceinline__ void apply(const float (&a)[2], const float (&b)[2], float (&x)[2]) {
    const float real = fmaf(a[0], x[0], fmaf(-a[1], x[1], b[0])),
                imaginary = fmaf(a[0], x[1], fmaf(a[1], x[0], b[1]));
    x[0] = real, x[1] = imaginary;
  }
  static __device__ __forceinline__ void transposed(const float (&a)[2], float (&t)[2]) {
    t[0] = a[0], t[1] = -a[1];
  }
};

// A matrix of N rows and columns, rows one after the other.
template <int N>
struct SquareFactor {
  static constexpr int numbers = N * N;
  static constexpr int states = N;

  static __device__ __forceinline__ void identity(float (&a)[N * N]) {
#pragma unroll
    for (int i = 0; i < N * N; i++) a[i] = i / N == i % N ? 1.0f : 0.0f;
  }
  static __device__ __forceinline__ void multiply(const float (&later)[N * N], const float (&earlier)[N * N],
                                                  float (&product)[N * N]) {
    float found[N * N];
#pragma unroll
    for (int i = 0; i < N * N; i++) {
      found[i] = later[i / N * N + N - 1] * earlier[(N - 1) * N + i % N];
#pragma unroll
      for (int k = N - 2; k >= 0; k--) found[i] = later[i / N * N + k] * earlier[k * N + i % N] + found[i];
    }
#pragma unroll
    for (int i = 0; i < N * N; i++) product[i] = found[i];
  }
  static __device__ __forceinline__ void apply(const float (&a)[N * N], const float (&b)[N], float (&x)[N]) {
    float found[N];
#pragma unroll
    for (int i = 0; i < N; i++) {
      found[i] = b[i];
#pragma unroll
      for (int k = N - 1; k >= 0; k--) found[i] = fmaf(a[i * N + k], x[k], found[i]);
    }
#pragma unroll
    for (int i = 0; i < N; i++) x[i] = found[i];
  }
  static __device__ __forceinline__ void transposed(const float (&a)[N * N], float (&t)[N * N]) {
#pragma unroll
    for (int i = 0; i < N * N; i++) t[i] = a[i % N * N + i / N];
  }
};

// Numbers that do not see each other.
template <int N>
struct DiagonalFactor {
  static constexpr int numbers = N;
  static constexpr int states = N;

  static __device__ __forceinline__ void identity(float (&a)[N]) {
#pragma unroll
    for (int i = 0; i < N; i++) a[i] = 1.0f;
  }
  static __device__ __forceinline__ void multiply(const float (&later)[N], const float (&earlier)[N],
                                                  float (&product)[N]) {
#pragma unroll
    for (int i = 0; i < N; i++) product[i] = later[i] * earlier[i];
  }
  static __device__ __forceinline__ void apply(const float (&a)[N], const float (&b)[N], float (&x)[N]) {
#pragma unroll
    for (int i = 0; i < N; i++) x[i] = fmaf(a[i], x[i], b[i]);
  }
  static __device__ __forceinline__ void transposed(const float (&a)[N], float (&t)[N]) {
#pragma unroll
    for (int i = 0; i < N; i++) t[i] = a[i];
  }
};

}  // namespace kerneltune
