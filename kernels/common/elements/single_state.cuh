// What cells share whose only state is h: constants, and both ends of the backward pass.
#pragma once

namespace kerneltune {

struct SingleState {
  static constexpr int states = 1;  // h
  static constexpr int saved_states = 0;
  static constexpr int carried = 1;  // the gradient by h that does not pass through R

  static __device__ __forceinline__ void begin_backward(const float (&gradient)[states], const float (&)[1],
                                                        float (&carried)[1]) {
    carried[0] = gradient[0];
  }

  static __device__ __forceinline__ void end_backward(float hidden_gradient, const float (&)[1],
                                                      const float (&)[1], float (&gradient)[states]) {
    gradient[0] = hidden_gradient;
  }
};

}  // namespace kerneltune
