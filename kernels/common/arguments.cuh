// What every kernel is given, by value, as its one parameter.
//
// Shapes: T steps, B batch, H heads, D head dimension, G gates, S states, V saved values, F saved states; all row-major, stored as
// Tiling::Scalar unless said otherwise.
#pragma once

namespace kerneltune {

struct ForwardArguments {
  const void* input;      // W x, [T, B, H, D, G]: the gates of a unit lie side by side, one wide load
  const void* recurrent;  // R, [H, G, D, D]: row = output unit, column = unit of h it reads
  const void* bias;       // [H, G, D]
  void* states;  // [S, T + 1, B, H, D]: index 0 of time holds the initial states, the kernel writes 1 … T
  void*
      workspace;  // bytes as the tiling says, each set to workspace_fill of kernel.yaml before every launch; may be null if 0
  int steps;  // T
  int batch;  // B
  int heads;  // H
  // Of the pass "training" alone: what the backward pass needs besides.
  void* saved_values;  // [T, B, H, D, V]: what the cell keeps of each step, such as its activated gates
  float*
      saved_states;  // [T + 1, B, H, D, F], float32: the states after h, index 0 of time before the first step
};

struct BackwardArguments {
  const void* saved_values;
  const float* saved_states;
  const void*
      states;  // of the forward pass, [S, T + 1, B, H, D]; only h is read, by cells that need it or where it was clipped
  const void* output_gradient;  // of the loss by h after each step, [T, B, H, D]
  const void* last_gradient;    // of the loss by the states after the last step, besides, [S, B, H, D]
  const void* recurrent;        // R, [H, G, D, D]
  void* input_gradient;         // by W x, [T, B, H, D, G]
  void* recurrent_gradient;     // by R h + bias, [T, B, H, D, G]; unused by cells where both are the same
  void* initial_gradient;       // by the states before the first step, [S, B, H, D]
  void* workspace;
  int steps;
  int batch;
  int heads;
};

}  // namespace kerneltune
