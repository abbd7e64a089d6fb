// Linear recurrence of pairs: A has two rows and columns, one row after the other in memory.
#pragma once
#include "../../common/factors.cuh"

namespace kerneltune {

struct Matrix2Cell {
  using Factor = SquareFactor<2>;
};

}  // namespace kerneltune
