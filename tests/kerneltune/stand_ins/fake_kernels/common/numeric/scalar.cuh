#pragma once

namespace kerneltune {

struct BFloat16 {
  unsigned short bits;
};

struct Float16 {
  unsigned short bits;
};

}  // namespace kerneltune
