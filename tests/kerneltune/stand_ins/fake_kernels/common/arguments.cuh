// As in kernels/common; test_compile.py holds both against what kerneltune packs.
#pragma once

namespace kerneltune {

struct ForwardArguments {
  const void* input;
  const void* recurrent;
  const void* bias;
  void* states;
  void* workspace;
  int steps, batch, heads, step;
  void* saved_values;
  float* saved_states;
};

}  // namespace kerneltune
