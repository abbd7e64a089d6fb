// Linear recurrence in complex numbers.
#pragma once
#include "../../common/factors.cuh"

namespace kerneltune {

struct ComplexCell {
  using Factor = ComplexFactor;
};

}  // namespace kerneltune
