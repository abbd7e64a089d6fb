// What a run of steps does to the state: h -> product h + sum.
//
// Where a step drops the state (a reset), the product is a mark, -0, which drops even a NaN or an infinity; no other product is ever -0.
#pragma once

namespace kerneltune {

template <bool RESETS>
struct Link {
  float product = 1.0f;
  float sum = 0.0f;

  static constexpr unsigned reset_mark = 0x80000000u;

  static __device__ __forceinline__ bool drops(float product) { return RESETS && __float_as_uint(product) == reset_mark; }

  // Of two runs one after the other; -0 of ordinary factors becomes 0.
  static __device__ __forceinline__ float joined(float later, float earlier) {
    if (drops(later) || drops(earlier)) return __uint_as_float(reset_mark);
    return RESETS ? later * earlier + 0.0f : later * earlier;
  }

  static __device__ __forceinline__ float applied(float product, float sum, float state) {
    return drops(product) ? sum : fmaf(product, state, sum);
  }

  __device__ __forceinline__ float apply(float state) const { return applied(product, sum, state); }

  // One more step.
  __device__ __forceinline__ void add_step(float a, float b, bool reset) {
    if (RESETS && reset) {
      product = __uint_as_float(reset_mark);
      sum = b;
    } else {
      sum = fmaf(a, sum, b);
      product = joined(a, product);
    }
  }

  // This run comes behind `earlier`.
  __device__ __forceinline__ void put_behind(const Link& earlier) {
    sum = applied(product, sum, earlier.sum);
    product = joined(product, earlier.product);
  }
};

}  // namespace kerneltune
