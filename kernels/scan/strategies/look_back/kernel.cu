// A linear scan of one state in one pass over memory, strategy "look_back": tile_scan.cuh says how.
#include "../../common/segment.cuh"
#include "../../common/tile_scan.cuh"

namespace kerneltune {

template <class Cell, class Tiling>
__device__ __forceinline__ void look_back(const ScanArguments& arguments) {
  using Shape = ScanShape<Cell, Tiling>;
  scan_tiles<Shape, Segment<Shape>>(arguments);
}

}  // namespace kerneltune
