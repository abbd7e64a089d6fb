#pragma once

namespace kerneltune {

struct ForwardArguments {
  const void* input;
  const void* recurrent;
  const void* bias;
  void* states;
  void* workspace;
  int steps, batch, heads;
};

}  // namespace kerneltune
