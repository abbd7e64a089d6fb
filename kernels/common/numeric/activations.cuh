// Pointwise functions: tanh, sigmoid, exp and log(sigmoid).
// Math<false> uses fast special-function instructions, for 16-bit storage. Math<true> has float32 accuracy.
#pragma once

namespace kerneltune {

// One instruction with a relative error of about 2^-11 (PTX ISA, tanh.approx.f32), below the rounding of
// 16-bit storage.
__device__ __forceinline__ float tanh_fast(float x) {
  float y;
  asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// Bounds that keep a NaN; fminf and fmaxf would return a number.
__device__ __forceinline__ float at_most(float x, float bound) { return x > bound ? bound : x; }
__device__ __forceinline__ float bounded(float x, float bound) {
  return x > bound ? bound : x < -bound ? -bound : x;
}

// sigmoid(x) = (1 + tanh(x / 2)) / 2
__device__ __forceinline__ float sigmoid_fast(float x) { return fmaf(tanh_fast(0.5f * x), 0.5f, 0.5f); }

// first ? a : b, both of which are computed. A branch would keep one channel's instructions out of the time for
// which another's wait.
__device__ __forceinline__ float chosen(bool first, float a, float b) {
  float value;
  asm("{ .reg .pred p; setp.ne.s32 p, %3, 0; selp.f32 %0, %1, %2, p; }"
      : "=f"(value)
      : "f"(a), "f"(b), "r"(static_cast<int>(first)));
  return value;
}

// With a relative error of 2^-23 (PTX ISA, sqrt.approx.f32), also where x is subnormal. sqrtf has branches.
__device__ __forceinline__ float sqrt_of(float x) {
  float root;
  asm("sqrt.approx.f32 %0, %1;" : "=f"(root) : "f"(x));
  return root;
}

// Slopes of tanh and sigmoid, from the value.
__device__ __forceinline__ float tanh_slope(float value) { return fmaf(-value, value, 1.0f); }
__device__ __forceinline__ float sigmoid_slope(float value) { return fmaf(-value, value, value); }

__device__ __forceinline__ float exp_fast(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x * 1.4426950408889634f));
  return y;
}

__device__ __forceinline__ float log_fast(float x) {
  float logarithm;
  asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(logarithm) : "f"(x));
  return 0.6931471805599453f * logarithm;
}

// log(sigmoid(x)) = min(x, 0) - log(1 + exp(-|x|)). The exponential cannot overflow.
__device__ __forceinline__ float log_sigmoid_fast(float x) {
  float logarithm;
  asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(logarithm) : "f"(1.0f + exp_fast(-fabsf(x))));
  return fminf(x, 0.0f) - 0.6931471805599453f * logarithm;
}

template <bool ACCURATE>
struct Math {
  static __device__ __forceinline__ float tanh(float x) { return tanh_fast(x); }
  static __device__ __forceinline__ float sigmoid(float x) { return sigmoid_fast(x); }
  static __device__ __forceinline__ float exp(float x) { return exp_fast(x); }
  static __device__ __forceinline__ float log(float x) { return log_fast(x); }
  static __device__ __forceinline__ float log_sigmoid(float x) { return log_sigmoid_fast(x); }
};

template <>
struct Math<true> {
  // 2^(x / ln 2), with the argument in two parts. A single rounded argument would cost large results their
  // last bits.
  static __device__ __forceinline__ float exp(float x) {
    const float rounded = x * 1.44269504f;
    const float rest = fmaf(x, 1.92596303e-8f, fmaf(x, 1.44269504f, -rounded));
    float power;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(rounded));
    return power > 0.0f && power < 3.0e38f ? fmaf(power, 0.693147181f * rest, power)
                                           : power;  // of infinities the rest is NaN
  }

  static __device__ __forceinline__ float log(float x) { return logf(x); }

  static __device__ __forceinline__ float sigmoid(float x) {
    return __fdividef(1.0f, 1.0f + at_most(exp(-x), 1.0e37f));
  }

  // Near zero, 1 - 2 / (exp(2 x) + 1) loses bits. An odd polynomial replaces it there, with a relative error
  // of 8e-8.
  static __device__ __forceinline__ float tanh(float x) {
    const float size = fabsf(x), square = x * x;
    const float far = 1.0f - __fdividef(2.0f, exp(2.0f * at_most(size, 20.0f)) + 1.0f);
    float series = fmaf(-0.00590904662f, square, 0.0208088011f);
    series = fmaf(series, square, -0.0537879840f);
    series = fmaf(series, square, 0.133319780f);
    series = fmaf(series, square, -0.333333015f);
    return chosen(size < 0.6f, fmaf(x * square, series, x), copysignf(far, x));
  }

  // As log_sigmoid_fast. Where the exponential e is small, log(1 + e) = e - e^2 / 2 + e^3 / 3.
  static __device__ __forceinline__ float log_sigmoid(float x) {
    const float e = exp(-fabsf(x));
    float logarithm;
    asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(logarithm) : "f"(1.0f + e));
    const float series = e * fmaf(e, fmaf(e, 0.333333333f, -0.5f), 1.0f);
    return fminf(x, 0.0f) - (e < 0.01f ? series : 0.693147181f * logarithm);
  }
};

}  // namespace kerneltune
