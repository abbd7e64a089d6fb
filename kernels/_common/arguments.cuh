// What every forward kernel is given, by value, as its one parameter.
#pragma once

namespace kerneltune {

// Shapes: T steps, B batch, H heads, D head dimension, G gates, S states; all row-major, stored as Tiling::Scalar.
struct ForwardArguments {
  const void* input;      // W x, [T, B, H, D, G]: the gates of a unit lie side by side, one wide load
  const void* recurrent;  // R, [H, G, D, D]: row = output unit, column = unit of h it reads
  const void* bias;       // [H, G, D]
  void* states;           // [S, T + 1, B, H, D]: index 0 of time holds the initial states, the kernel writes 1 … T
  void* workspace;        // bytes as the tiling says, each set to workspace_fill of kernel.yaml before every launch; may be null if 0
  int steps;              // T
  int batch;              // B
  int heads;              // H
};

}  // namespace kerneltune
