// Forward pass of a recurrent cell, strategy "streamed", for heads whose R fits nowhere on the chip.
// The units of one head and batch tile are spread over a group of thread blocks anywhere on the GPU. In every
// step each block streams its rows of R from L2 or device memory (weight_stream.cuh). The launch is
// cooperative: all blocks of a group must run at the same time.
//
// h passes through two slots in L2, [units / part][batch tile][part]. A barrier among the blocks of the group
// separates the steps. Two slots are enough: a block writes h(t + 1) over h(t - 1) after the barrier that all
// blocks reach after they have read h(t - 1). The weights of the next step are in flight before and after the
// barrier.
//
// Where the blocks do not divide the head, the last block begins early. It computes some units a second time,
// with the same bits.
#include "../../common/elements/elements.cuh"
#include "../../common/exchange/group_barrier.cuh"
#include "../../common/elements/job_elements.cuh"
#include "../../common/exchange/partial_sums.cuh"
#include "../../common/exchange/shared_words.cuh"
#include "../../common/weights/weight_stream.cuh"

namespace kerneltune {

// W x of a lane's elements. Prefetched when a step begins, read when it ends.
template <class Shape>
struct StepInput {
  using UnitInput = UnitValues<typename Shape::Scalar, Shape::gates>;

  const JobElements<Shape, ForwardArguments>& job;
  const UnitInput* input;  // of this step

  __device__ __forceinline__ StepInput(const JobElements<Shape, ForwardArguments>& job, int step)
      : job(job), input(static_cast<const UnitInput*>(job.arguments.input) + step * job.step_elements()) {}

  __device__ __forceinline__ void bring(int group) const {
    if (job.exists(group)) prefetch_line(input + job.index(group));
  }

  __device__ __forceinline__ void read(float (&gate)[Shape::gates], int group) const {
    const UnitInput value = job.exists(group) ? input[job.index(group)] : UnitInput{};
#pragma unroll
    for (int i = 0; i < Shape::gates; i++) gate[i] = to_float(value.value[i]);
  }
};

// Writes finished h to a slot that the group reads next and to states; the initial h only to the slot. Called
// by whole warps. Lanes of even units also write their neighbour's h.
template <class Shape>
__device__ __forceinline__ void write_hidden(const JobElements<Shape, ForwardArguments>& job,
                                             typename Shape::Scalar* slot, float h, int group, int step) {
  using Scalar = typename Shape::Scalar;
  const unsigned word = word_of<Scalar>(h, next_unit<Scalar>(h));
  if (job.lane.row % (Shape::part / 4) || !job.exists(group)) return;
  const int unit = job.first_unit + job.lane.unit(group);
  store_shared_by_gpu(slot +
                          (unit / Shape::part * Shape::batch_tile + job.lane.batch_row(group)) * Shape::part +
                          unit % Shape::part,
                      word);
  if (step == 0) return;
  Scalar* const states = static_cast<Scalar*>(job.arguments.states);
  __stcs(reinterpret_cast<unsigned*>(states + step * job.step_elements() + job.index(group)), word);
}

template <class Cell, class Tiling>
struct StreamedForward {
  using Shape = ForwardShape<Cell, Tiling>;
  using Scalar = typename Shape::Scalar;
  using Stream = WeightStream<Shape, StreamedRows<Shape>, Tiling>;
  using Partials = PartialSums<Shape>;
  static constexpr int partial_bytes = Shape::k_splits > 1 ? Partials::shared_bytes : 0;
  static_assert(Stream::shared_bytes + partial_bytes == Tiling::shared_memory, "shared memory as solved");
  static constexpr int group_blocks = (Shape::head_dim + Shape::block_units - 1) / Shape::block_units;
  static constexpr int tile_elements = Shape::batch_tile * Shape::head_dim;
  static constexpr int counter_bytes = 128;

  // Runs one head and batch tile from the first step to the last. slots: the group's two slots, contiguous.
  // shared_memory: ring, partial sums.
  static __device__ __forceinline__ void run_job(const ForwardArguments& arguments, int head, int first_row,
                                                 int first_unit, const Lane<Shape>& lane,
                                                 GroupBarrier& barrier, Scalar* slots,
                                                 unsigned char* shared_memory) {
    Stream stream(arguments.recurrent, head, first_unit, arguments.steps, lane, shared_memory);
    const Partials partials(shared_memory + Stream::shared_bytes, lane);
    Elements<Cell, Shape> elements;
    elements.load(arguments, head, first_row, first_unit, lane);
    JobElements<Shape, ForwardArguments> job{arguments, head, first_row, first_unit, lane};
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
        inputs.bring(group);
      }
      Accumulators<Shape> sums;
      sums.clear();
      barrier.wait();
      stream.begin_step(slots + step % 2 * tile_elements, lane);
      stream.template multiply<Tiling::mma_k>(sums);
      if constexpr (Shape::k_splits > 1) {
        partials.store(sums);
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
          if constexpr (Shape::k_splits > 1) partials.add(sum, group);
          write_hidden(job, slots + (step + 1) % 2 * tile_elements, elements.step(group, sum, input), group,
                       step + 1);
        }
      }
      barrier.arrive();
      if constexpr (Shape::saves) save_step(job, elements.saved, elements.state, step);
    }
    job.forget();
    elements.store_last(arguments, head, job.first_row, job.first_unit, job.lane);
    barrier.wait();  // the next job begins with the first slot again
  }

 private:
  static __device__ __forceinline__ void save_step(JobElements<Shape, ForwardArguments>& job,
                                                   SavedSteps<Cell, Shape>& saved,
                                                   const float (&state)[Shape::warp_groups][Shape::states],
                                                   int step) {
#pragma unroll
    for (int group = 0; group < Shape::warp_groups; group++) {
      job.forget();
      if (job.exists(group))
        saved.write_group(group, step * job.step_elements() + job.index(group), state[group]);
#pragma unroll
      for (float& value : saved.values[group]) value = 0.0f;  // frees the registers until the next step
    }
  }
};

template <class Cell, class Tiling>
__device__ __forceinline__ void streamed_forward(const ForwardArguments& arguments) {
  using Forward = StreamedForward<Cell, Tiling>;
  using Shape = typename Forward::Shape;
  using Scalar = typename Shape::Scalar;
  extern __shared__ __align__(128) unsigned char shared_memory[];
  const Lane<Shape> lane;
  const int groups = gridDim.x / Forward::group_blocks, group = blockIdx.x / Forward::group_blocks;
  const int unit = blockIdx.x % Forward::group_blocks * Shape::block_units;
  const int first_unit =
      unit + Shape::block_units <= Shape::head_dim ? unit : Shape::head_dim - Shape::block_units;
  // Workspace: [groups] counters, a cache line each; [groups][2] slots. The host fills it with zeros before a
  // launch.
  unsigned char* const workspace = static_cast<unsigned char*>(arguments.workspace);
  GroupBarrier barrier(reinterpret_cast<unsigned*>(workspace + group * Forward::counter_bytes),
                       Forward::group_blocks);
  Scalar* const slots = reinterpret_cast<Scalar*>(workspace + groups * Forward::counter_bytes) +
                        static_cast<size_t>(group) * 2 * Forward::tile_elements;
  const int batch_tiles = (arguments.batch + Shape::batch_tile - 1) / Shape::batch_tile;
  for (int job = group; job < arguments.heads * batch_tiles; job += groups)
    Forward::run_job(arguments, job % arguments.heads, job / arguments.heads * Shape::batch_tile, first_unit,
                     lane, barrier, slots, shared_memory);
}

}  // namespace kerneltune
