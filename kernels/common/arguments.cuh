// The argument structs: what every kernel receives, by value, as its only parameter.
//
// Shapes: T steps, B batch, H heads, D head dimension, G gates, S states, V saved values, F saved states. All
// arrays are row-major and stored as Tiling::Scalar unless stated otherwise.
#pragma once

namespace kerneltune {

struct ForwardArguments {
  const void* input;      // W x, [T, B, H, D, G]: the gates of a unit are contiguous, one wide load
  const void* recurrent;  // R, [H, G, D, D]: row = output unit, column = unit of h
  const void* bias;       // [H, G, D]
  // [S, T + 1, B, H, D]: index 0 of time holds the initial states; the kernel writes 1 to T.
  void* states;
  // Size as the tiling says. Each byte is set to workspace_fill of kernel.yaml before every launch. May be
  // null if the size is 0.
  void* workspace;
  int steps;  // T
  int batch;  // B
  int heads;  // H
  int step;   // of strategies with a launch for each step: which one
  // Used by the pass "training" alone: what the backward pass needs besides.
  void* saved_values;  // [T, B, H, D, V]: what the cell saves of each step, such as its activated gates
  // [T + 1, B, H, D, F], float32: the states after h; index 0 of time is before the first step.
  float* saved_states;
};

struct BackwardArguments {
  const void* saved_values;
  const float* saved_states;
  // Of the forward pass, [S, T + 1, B, H, D]. Only h is read, by cells that need it or where it was clipped.
  const void* states;
  const void* output_gradient;  // of the loss by h after each step, [T, B, H, D]
  const void* last_gradient;    // of the loss by the states after the last step, in addition, [S, B, H, D]
  const void* recurrent;        // R, [H, G, D, D]
  void* input_gradient;         // by W x, [T, B, H, D, G]
  void* recurrent_gradient;     // by R h + bias, [T, B, H, D, G]; unused by cells where both are equal
  void* initial_gradient;       // by the states before the first step, [S, B, H, D]
  void* workspace;
  int steps;
  int batch;
  int heads;
  int step;
};

// The same for cells with weights of single units, P of them: [H, P, D].
struct WeightedForwardArguments : ForwardArguments {
  const void* weights;
};
struct WeightedBackwardArguments : BackwardArguments {
  const void* weights;
};

__device__ __forceinline__ const WeightedForwardArguments& with_weights(const ForwardArguments& arguments) {
  return static_cast<const WeightedForwardArguments&>(arguments);
}
__device__ __forceinline__ const WeightedBackwardArguments& with_weights(const BackwardArguments& arguments) {
  return static_cast<const WeightedBackwardArguments&>(arguments);
}

}  // namespace kerneltune
