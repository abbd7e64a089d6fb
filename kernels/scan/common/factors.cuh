// What a of h' = a h + b may be: a number, a complex number, a matrix of two rows and columns. Numbers of a
// channel lie side by side.
//
//   multiply: the product of a later and an earlier a, in this order; apply: a x + b, in place of x;
//   transposed: what carries gradients back; outer: the gradient by a, from that by a x + b and from x.
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
  static __device__ __forceinline__ void outer(const float (&gradient)[1], const float (&x)[1],
                                               float (&by_a)[1]) {
    by_a[0] = gradient[0] * x[0];
  }
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
  static __device__ __forceinline__ void outer(const float (&gradient)[2], const float (&x)[2],
                                               float (&by_a)[2]) {
    by_a[0] = gradient[0] * x[0] + gradient[1] * x[1];
    by_a[1] = gradient[1] * x[0] - gradient[0] * x[1];
  }
};

// Rows one after the other.
struct MatrixFactor {
  static constexpr int numbers = 4;
  static constexpr int states = 2;

  static __device__ __forceinline__ void identity(float (&a)[4]) { a[0] = a[3] = 1.0f, a[1] = a[2] = 0.0f; }
  static __device__ __forceinline__ void multiply(const float (&later)[4], const float (&earlier)[4],
                                                  float (&product)[4]) {
    float found[4];
#pragma unroll
    for (int i = 0; i < 4; i++)
      found[i] = later[i / 2 * 2] * earlier[i % 2] + later[i / 2 * 2 + 1] * earlier[2 + i % 2];
#pragma unroll
    for (int i = 0; i < 4; i++) product[i] = found[i];
  }
  static __device__ __forceinline__ void apply(const float (&a)[4], const float (&b)[2], float (&x)[2]) {
    const float first = fmaf(a[0], x[0], fmaf(a[1], x[1], b[0])),
                second = fmaf(a[2], x[0], fmaf(a[3], x[1], b[1]));
    x[0] = first, x[1] = second;
  }
  static __device__ __forceinline__ void transposed(const float (&a)[4], float (&t)[4]) {
    t[0] = a[0], t[1] = a[2], t[2] = a[1], t[3] = a[3];
  }
  static __device__ __forceinline__ void outer(const float (&gradient)[2], const float (&x)[2],
                                               float (&by_a)[4]) {
#pragma unroll
    for (int i = 0; i < 4; i++) by_a[i] = gradient[i / 2] * x[i % 2];
  }
};

}  // namespace kerneltune
