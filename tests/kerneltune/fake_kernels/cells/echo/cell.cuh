#pragma once

namespace kerneltune {

struct EchoCell {
  static constexpr int states = 2;
};

}  // namespace kerneltune
