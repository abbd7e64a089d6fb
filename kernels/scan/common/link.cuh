// What a run of steps does to the state: h -> product h + sum.
//
// Where a step drops the state (a reset), the product begins with a mark, -0, which drops even a NaN or an
// infinity; no other product does.
#pragma once
#include "factors.cuh"

namespace kerneltune {

template <class Factor_, bool RESETS>
struct Link {
  using Factor = Factor_;
  static constexpr int factors = Factor::numbers;
  static constexpr int states = Factor::states;
  static constexpr int numbers = factors + states;
  float product[factors];
  float sum[states];

  static constexpr unsigned reset_mark = 0x80000000u;

  __device__ __forceinline__ Link() : sum{} { Factor::identity(product); }

  static __device__ __forceinline__ bool drops(const float (&product)[factors]) {
    return RESETS && __float_as_uint(product[0]) == reset_mark;
  }

  // All numbers, product first.
  __device__ __forceinline__ float& number(int index) {
    return index < factors ? product[index] : sum[index - factors];
  }
  __device__ __forceinline__ float number(int index) const {
    return index < factors ? product[index] : sum[index - factors];
  }

  // The state behind the run, in place of that before it.
  __device__ __forceinline__ void apply(float (&state)[states]) const {
    if (drops(product)) {
#pragma unroll
      for (int i = 0; i < states; i++) state[i] = sum[i];
    } else {
      Factor::apply(product, sum, state);
    }
  }

  // One more step; if it drops the state, `b` is what is behind it.
  __device__ __forceinline__ void add_step(const float (&a)[factors], const float (&b)[states], bool reset) {
    if (RESETS && reset) {
      put_mark();
#pragma unroll
      for (int i = 0; i < states; i++) sum[i] = b[i];
    } else {
      Factor::apply(a, b, sum);
      join(a, product);
    }
  }

  // This run comes behind `earlier`.
  __device__ __forceinline__ void put_behind(const Link& earlier) {
    if (drops(product)) return;
    float behind[states];
#pragma unroll
    for (int i = 0; i < states; i++) behind[i] = earlier.sum[i];
    Factor::apply(product, sum, behind);
#pragma unroll
    for (int i = 0; i < states; i++) sum[i] = behind[i];
    join(product, earlier.product);
  }

 private:
  __device__ __forceinline__ void put_mark() {
#pragma unroll
    for (int i = 1; i < factors; i++) product[i] = 0.0f;
    product[0] = __uint_as_float(reset_mark);
  }

  // Of two runs one after the other; -0 of ordinary factors becomes 0.
  __device__ __forceinline__ void join(const float (&later)[factors], const float (&earlier)[factors]) {
    if (drops(earlier)) {
      put_mark();
    } else {
      Factor::multiply(later, earlier, product);
      if (RESETS) product[0] += 0.0f;
    }
  }
};

}  // namespace kerneltune
