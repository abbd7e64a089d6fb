// Forward pass of a recurrent cell, strategy "alternating": for heads whose R fits nowhere on the chip. The units of one head and batch
// tile are spread over a group of thread blocks anywhere on the GPU; every step each block streams its rows of R from L2 or device
// memory (weight_stream.cuh). Launched cooperatively: all blocks of a group must run at the same time.
//
// h passes through two slots in L2, [units / part][batch tile][part], with a barrier among the blocks of the group between the steps. Two are
// enough: a block writes h(t + 1) over h(t - 1) after the barrier that all blocks reached when they had read all of h(t - 1). Before
// and behind the barrier the weights of the next step are already on their way.
//
// The last block begins early where the blocks do not divide the head: it computes some units a second time, to the same bits.
#include "../_common/elements.cuh"
#include "../_common/grid_exchange.cuh"
#include "../_common/group_barrier.cuh"
#include "../_common/partial_sums.cuh"
#include "../_common/weight_stream.cuh"

namespace kerneltune {

// Which elements a lane finishes, in one head and batch tile. Addresses are computed when they are needed: a step is long, and registers
// are what limits the batch tile.
template <class Shape>
struct JobElements {
  const ForwardArguments& arguments;
  int head, first_row, first_unit;
  Lane<Shape> lane;

  __device__ __forceinline__ bool exists(int group) const { return lane.finishes() && first_row + lane.batch_row(group) < arguments.batch; }

  // Position in [B, H, D].
  __device__ __forceinline__ size_t index(int group) const {
    const size_t row = first_row + lane.batch_row(group);
    return (row * arguments.heads + head) * Shape::head_dim + first_unit + lane.unit(group);
  }
  // Lets the compiler keep no address from one group or step to the next.
  __device__ __forceinline__ void forget() {
    asm volatile("" : "+r"(first_row), "+r"(first_unit), "+r"(lane.warp), "+r"(lane.row), "+r"(lane.quad));
  }

  __device__ __forceinline__ size_t step_elements() const {
    return static_cast<size_t>(arguments.batch) * arguments.heads * Shape::head_dim;
  }
};

// W x of a lane's elements: brought near when a step begins, read when it ends.
template <class Shape>
struct StepInput {
  using Scalar = typename Shape::Scalar;
  struct alignas(Shape::gates == 4 ? 4 * sizeof(Scalar) : sizeof(Scalar)) UnitInput {
    Scalar gate[Shape::gates];
  };

  const JobElements<Shape>& job;
  const UnitInput* input;  // of this step

  __device__ __forceinline__ StepInput(const JobElements<Shape>& job, int step)
      : job(job), input(static_cast<const UnitInput*>(job.arguments.input) + step * job.step_elements()) {}

  __device__ __forceinline__ void prefetch(int group) const {
    if (job.exists(group)) asm volatile("prefetch.global.L2 [%0];" ::"l"(input + job.index(group)));
  }

  __device__ __forceinline__ void read(float (&gate)[Shape::gates], int group) const {
    const UnitInput value = job.exists(group) ? input[job.index(group)] : UnitInput{};
#pragma unroll
    for (int i = 0; i < Shape::gates; i++) gate[i] = to_float(value.gate[i]);
  }
};

// Finished h to a slot that the group reads next and, if it is that of a step and not the initial one, to states. By whole warps; lanes
// of even units write their neighbour's too.
template <class Shape>
__device__ __forceinline__ void write_hidden(const JobElements<Shape>& job, typename Shape::Scalar* slot, float h, int group, int step) {
  using Scalar = typename Shape::Scalar;
  const unsigned word = word_of<Scalar>(h, next_unit<Scalar>(h));
  if (job.lane.row % (Shape::part / 4) || !job.exists(group)) return;
  const int unit = job.first_unit + job.lane.unit(group);
  store_shared_by_gpu(slot + (unit / Shape::part * Shape::batch_tile + job.lane.batch_row(group)) * Shape::part + unit % Shape::part, word);
  if (step == 0) return;
  Scalar* const states = static_cast<Scalar*>(job.arguments.states);
  __stcs(reinterpret_cast<unsigned*>(states + step * job.step_elements() + job.index(group)), word);
}

template <class Cell, class Tiling>
struct AlternatingForward {
  using Shape = ForwardShape<Cell, Tiling>;
  using Scalar = typename Shape::Scalar;
  using Stream = WeightStream<Shape, Tiling::stream_stages>;
  using Partials = PartialSums<Shape>;
  static constexpr int partial_bytes = Shape::k_splits > 1 ? Partials::shared_bytes : 0;
  static_assert(Stream::shared_bytes + partial_bytes == Tiling::shared_memory, "shared memory as solved");
  static constexpr int group_blocks = (Shape::head_dim + Shape::block_units - 1) / Shape::block_units;
  static constexpr int tile_elements = Shape::batch_tile * Shape::head_dim;
  static constexpr int counter_bytes = 128;

  // Runs one head and batch tile from first step to last. slots: the group's two, one behind the other; shared_memory: ring, partial sums.
  static __device__ __forceinline__ void run_job(const ForwardArguments& arguments, int head, int first_row, int first_unit,
                                                 const Lane<Shape>& lane, GroupBarrier& barrier, Scalar* slots,
                                                 unsigned char* shared_memory) {
    Stream stream(arguments.recurrent, head, first_unit, arguments.steps, lane, shared_memory);
    const Partials partials{reinterpret_cast<float*>(shared_memory + Stream::shared_bytes)};
    Elements<Cell, Shape> elements;
    elements.load(arguments, head, first_row, first_unit, lane);
    JobElements<Shape> job{arguments, head, first_row, first_unit, lane};
    if (lane.finishes()) {
#pragma unroll
      for (int group = 0; group < Shape::warp_groups; group++) {
        job.forget();
        write_hidden(job, slots, elements.state[group][0], group, 0);
      }
    }
    barrier.arrive();

    for (int step = 0; step < arguments.steps; step++) {
      const StepInput<Shape> inputs(job, step);
#pragma unroll
      for (int group = 0; group < Shape::warp_groups; group++) {
        job.forget();
        inputs.prefetch(group);
      }
      Accumulators<Shape> sums;
      sums.clear();
      barrier.wait();
      stream.begin_step(slots + step % 2 * tile_elements, lane);
      stream.template multiply<Tiling::mma_k>(sums);
      if constexpr (Shape::k_splits > 1) {
        partials.store(sums, lane);
        __syncthreads();
      }
      if (lane.finishes()) {
#pragma unroll
        for (int group = 0; group < Shape::warp_groups; group++) {
          job.forget();
          float sum[Shape::gates], input[Shape::gates];
          inputs.read(input, group);
#pragma unroll
          for (int gate = 0; gate < Shape::gates; gate++) {
            sum[gate] = elements.offset(group, gate, input[gate]);
            if constexpr (Shape::k_splits == 1) sum[gate] += sums.of_group(group, gate);
          }
          if constexpr (Shape::k_splits > 1) partials.add(sum, group, lane);
          write_hidden(job, slots + (step + 1) % 2 * tile_elements, elements.step(group, sum, input), group, step + 1);
        }
      }
      barrier.arrive();
      if (lane.finishes()) elements.save();
    }
    job.forget();
    elements.store_last(arguments, head, job.first_row, job.first_unit, job.lane);
    barrier.wait();  // the next job begins with the first slot again
  }
};

template <class Cell, class Tiling>
__device__ __forceinline__ void alternating_forward(const ForwardArguments& arguments) {
  using Forward = AlternatingForward<Cell, Tiling>;
  using Shape = typename Forward::Shape;
  using Scalar = typename Shape::Scalar;
  extern __shared__ __align__(128) unsigned char shared_memory[];
  const Lane<Shape> lane;
  const int groups = gridDim.x / Forward::group_blocks, group = blockIdx.x / Forward::group_blocks;
  const int unit = blockIdx.x % Forward::group_blocks * Shape::block_units;
  const int first_unit = unit + Shape::block_units <= Shape::head_dim ? unit : Shape::head_dim - Shape::block_units;
  // Workspace: [groups] counters, a cache line each; [groups][2] slots. The host fills it with zeros before a launch.
  unsigned char* const workspace = static_cast<unsigned char*>(arguments.workspace);
  GroupBarrier barrier(reinterpret_cast<unsigned*>(workspace + group * Forward::counter_bytes), Forward::group_blocks);
  Scalar* const slots = reinterpret_cast<Scalar*>(workspace + groups * Forward::counter_bytes) +
                        static_cast<size_t>(group) * 2 * Forward::tile_elements;
  const int batch_tiles = (arguments.batch + Shape::batch_tile - 1) / Shape::batch_tile;
  for (int job = group; job < arguments.heads * batch_tiles; job += groups)
    Forward::run_job(arguments, job % arguments.heads, job / arguments.heads * Shape::batch_tile, first_unit, lane, barrier, slots,
                     shared_memory);
}

}  // namespace kerneltune
