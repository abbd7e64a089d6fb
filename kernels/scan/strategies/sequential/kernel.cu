// Channels in order through time, strategy "sequential": a warp has a row of channels, their states in
// registers and the coming tiles in a ring
// in shared memory. Every array is read or written once, and nothing waits for another warp.
#include "../../common/backward_walk.cuh"
#include "../../common/walk.cuh"

namespace kerneltune {

template <class Cell, class Tiling>
__device__ __forceinline__ void sequential(const ScanArguments& arguments) {
  using Shape = WalkShape<Cell, Tiling>;
  using Ring = WarpRing<Shape>;
  static_assert(Ring::shared_bytes + Walk<Shape>::shared_bytes == Tiling::shared_memory,
                "shared memory as solved");
  extern __shared__ __align__(128) unsigned char shared_memory[];
  Ring ring(shared_memory);
  Walk<Shape> walk(shared_memory + Ring::shared_bytes);
  const int group = blockIdx.x * Shape::warps + threadIdx.x / 32;
  if (group >= Shape::groups_of_row(arguments) * arguments.batch) return;
  const Strand<Shape> strand(arguments, group);
  Carried<Shape> carried;
  carried.load(arguments, strand, arguments.initial);
  walk.begin(arguments, strand);
  Dependence<Shape, false> none;
  walk.run(arguments, strand, ring, 0, 0, Shape::duration(arguments), carried, none);
  if (Shape::differentiates && arguments.weight_gradient)
    walk.write_sums(
        arguments, strand,
        arguments.weight_gradient +
            (static_cast<Stride>(strand.row) * Shape::weights * arguments.channels + strand.channel),
        arguments.channels);
  if (arguments.repaired && blockIdx.x == 0 && threadIdx.x < 4) arguments.repaired[threadIdx.x] = 0;
}

}  // namespace kerneltune
