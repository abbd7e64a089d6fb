// A linear scan of several states, with weights of its own or an output beside the states, in one pass over memory,
// strategy "look_back_states": tile_scan.cuh and states_segment.cuh say how.
#include "../../common/states_segment.cuh"
#include "../../common/tile_scan.cuh"

namespace kerneltune {

template <class Cell, class Tiling>
__device__ __forceinline__ void look_back_states(const ScanArguments& arguments) {
  using Shape = ScanShape<Cell, Tiling>;
  scan_tiles<Shape, StatesSegment<Shape>>(arguments);
}

}  // namespace kerneltune
