// Backward pass of a recurrent cell, strategy "warpgroup", for batches large enough for wgmma.
// The units of one head and batch tile are spread over a group of thread blocks anywhere on the GPU. The
// launch is cooperative: all blocks of a group must run at the same time. Groups take (head, batch tile) jobs
// in turn until none is left.
//
// Batch rows are the rows of the product, and the gates' gradients are its A operand. A block keeps its
// columns of R in shared memory. In every step the gradients of all units pass through a ring there, which
// one warp, the courier, fills (arriving_gradients.cuh). The computing warps send their own gradients from
// registers, to the slot first, then to memory: the courier's fence waits for all stores of the block.
#include "../../common/elements/gradient_pairs.cuh"
#include "../../common/exchange/arriving_gradients.cuh"
#include "../../common/weights/warpgroup_columns.cuh"

namespace kerneltune {

template <class Cell, class Tiling>
struct WarpgroupBackward {
  using Shape = WarpgroupGradientShape<Cell, Tiling>;
  using Columns = WarpgroupColumns<Shape>;
  using Gradients = ArrivingGradients<Shape, Tiling::ring_stages, Tiling::stage_parts, Tiling::cluster>;
  using Pairs = GradientPairs<Cell, Shape>;
  static_assert(Columns::shared_bytes + Gradients::shared_bytes == Tiling::shared_memory,
                "shared memory as solved");
  static constexpr int meeting = 32 * (Shape::warps + 1);  // threads of the named barriers

  const BackwardArguments& arguments;
  unsigned char* const shared_memory;  // R; the ring
  const int groups = gridDim.x / Shape::group_blocks, group = blockIdx.x / Shape::group_blocks;
  const int block = blockIdx.x % Shape::group_blocks;

  __device__ __forceinline__ Gradients gradients() const {
    return Gradients(shared_memory + Columns::shared_bytes,
                     static_cast<unsigned char*>(arguments.workspace) +
                         static_cast<size_t>(group) * Gradients::workspace_bytes);
  }

  __device__ __forceinline__ void compute() const {
    Gradients exchange = gradients();
    for_each_job([&](int head, int first_row) {
      const int first_unit = block * Shape::block_units;
      Columns::load(arguments.recurrent, head, first_unit, shared_memory);
      fence_shared_for_async();
      Pairs pairs{arguments, head, first_row, first_unit};
      pairs.begin();
      float sums[Shape::n_tiles][4] = {};
      __syncthreads();  // R is present
                        // One product more than steps: the last gives the gradient by the initial h.
#pragma unroll 1
      for (int step = arguments.steps - 1;; step--) {
        if (step >= 0) pairs.load(step);
        if (step + 1 < arguments.steps) {
          await_raised();
          pairs.write(step + 1);
          exchange.multiply(sums, matrix_descriptor(shared_address(shared_memory)));
        }
        if (step < 0) break;
        exchange.published++;
        pairs.template step<Gradients>(sums, exchange.slot() + block * Gradients::part_bytes);
        say_computed();
      }
      pairs.finish(sums);
    });
  }

  __device__ __forceinline__ void carry() const {
    Gradients exchange = gradients();
    for_each_job([&](int, int) {
      __syncthreads();
#pragma unroll 1
      for (int step = 0; step < arguments.steps; step++) {
        await_computed();
        exchange.raise(block);
        say_raised();
        exchange.bring();
      }
    });
  }

 private:
  // Calls run(head, first batch row) for each of the group's jobs.
  template <class Run>
  __device__ __forceinline__ void for_each_job(const Run& run) const {
    const int jobs = arguments.heads * ((arguments.batch + Shape::batch_tile - 1) / Shape::batch_tile);
    for (int job = group; job < jobs; job += groups) {
      __syncthreads();  // the barriers are initialised; all threads have left the previous job
      run(job % arguments.heads, job / arguments.heads * Shape::batch_tile);
    }
  }

  // The named barriers between the computing warps and the courier: the gradients of a step are in the slot;
  // the flag is raised.
  static __device__ __forceinline__ void say_computed() {
    asm volatile("bar.arrive %0, %1;" ::"r"(1), "n"(meeting) : "memory");
  }
  static __device__ __forceinline__ void await_computed() {
    asm volatile("bar.sync %0, %1;" ::"r"(1), "n"(meeting) : "memory");
  }
  static __device__ __forceinline__ void say_raised() {
    asm volatile("bar.arrive %0, %1;" ::"r"(2), "n"(meeting) : "memory");
  }
  static __device__ __forceinline__ void await_raised() {
    asm volatile("bar.sync %0, %1;" ::"r"(2), "n"(meeting) : "memory");
  }
};

template <class Cell, class Tiling>
__device__ __forceinline__ void warpgroup_backward(const BackwardArguments& arguments) {
  using Backward = WarpgroupBackward<Cell, Tiling>;
  extern __shared__ __align__(256) unsigned char shared_memory[];
  const Backward backward{arguments, shared_memory};
  if (threadIdx.x == 0) backward.gradients().initialize_barriers();
  if constexpr (Tiling::cluster > 1) cluster_synchronize();
  const int warp = __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x) / 32, 0);
  if (warp < Backward::Shape::warps)
    backward.compute();
  else
    backward.carry();
  if constexpr (Tiling::cluster > 1) cluster_synchronize();  // other blocks arrive at this one's barriers
}

}  // namespace kerneltune
