// A stand-in cell, which has no step of its own.
#pragma once

namespace kerneltune {

struct EchoCell {
  static constexpr int gates = 4;
  static constexpr int states = 2;
  static constexpr int saved_values = 0;
  static constexpr int saved_states = 0;
  static constexpr int hidden_read = -1;
  static constexpr bool separate_gradients = false;
};

}  // namespace kerneltune
