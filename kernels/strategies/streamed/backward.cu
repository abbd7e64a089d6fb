// Backward pass of a recurrent cell, strategy "streamed", for heads whose R fits nowhere on the chip.
// The units of one head and batch tile are spread over a group of thread blocks anywhere on the GPU. In every
// step each block streams its columns of R from L2 or device memory (weight_stream.cuh). R has the same
// layout as in the forward pass. The launch is cooperative: all blocks of a group must run at the same time.
//
// The gates' gradients pass through two slots in L2, [operands / part][batch tile][part]. The slots are used
// in turn, over all jobs. A barrier among the blocks of the group separates the steps. Two slots are enough:
// exchange e - 2 was in the same slot as e. A block that writes e has passed the barrier that all blocks
// reach after they have read e - 2. The same holds for a block that begins a job.
//
// Where the blocks do not divide the head, the last block begins early. It computes some units a second time,
// with the same bits.
#include "../../common/elements/gradient_elements.cuh"
#include "../../common/exchange/group_barrier.cuh"
#include "../../common/elements/job_elements.cuh"
#include "../../common/exchange/partial_sums.cuh"
#include "../../common/exchange/shared_words.cuh"
#include "../../common/weights/weight_stream.cuh"

namespace kerneltune {

// What the forward pass saved of a lane's elements, and the gradients by h. Prefetched when a step begins,
// read when it ends.
template <class Cell, class Shape>
struct StepRecords {
  using Scalar = typename Shape::Scalar;
  using Job = JobElements<Shape, BackwardArguments>;
  using Values = UnitValues<Scalar, at_least_one(Cell::saved_values)>;
  using States = UnitValues<float, at_least_one(Cell::saved_states)>;

  const Job& job;
  size_t first;  // of the step in [T, B, H, D]; the states after h are one step further

  __device__ __forceinline__ StepRecords(const Job& job, int step)
      : job(job), first(step * job.step_elements()) {}

  __device__ __forceinline__ void bring(int group) const {
    if (!job.exists(group)) return;
    const size_t here = first + job.index(group);
    prefetch_line(static_cast<const Scalar*>(job.arguments.output_gradient) + here);
    if constexpr (Cell::saved_values > 0)
      prefetch_line(static_cast<const Values*>(job.arguments.saved_values) + here);
    if constexpr (Cell::saved_states > 0)
      prefetch_line(reinterpret_cast<const States*>(job.arguments.saved_states) + here);
    if constexpr (Cell::hidden_read >= 0) prefetch_line(hidden() + here);
    if constexpr (Shape::forward_clip > 0.0f) prefetch_line(output() + here);
  }

  // after: the states after h, after the step.
  __device__ __forceinline__ void read(StepRecord<Cell>& record,
                                       float (&after)[at_least_one(Cell::saved_states)], int group) const {
    const bool exists = job.exists(group);
    const size_t here = first + job.index(group);
    if constexpr (Cell::saved_values > 0) {
      const Values values = exists ? static_cast<const Values*>(job.arguments.saved_values)[here] : Values{};
#pragma unroll
      for (int i = 0; i < Cell::saved_values; i++) record.value[i] = to_float(values.value[i]);
    }
    if constexpr (Cell::saved_states > 0) {
      read_states(record.before, exists, here);
      read_states(after, exists, here + job.step_elements());
    }
    record.output_gradient =
        exists ? to_float(static_cast<const Scalar*>(job.arguments.output_gradient)[here]) : 0.0f;
    record.hidden = exists && Cell::hidden_read >= 0 ? to_float(hidden()[here]) : 0.0f;
    if constexpr (Shape::forward_clip > 0.0f) record.output = exists ? to_float(output()[here]) : 0.0f;
  }

  // The states after h before the step.
  __device__ __forceinline__ void read_before(float (&before)[at_least_one(Cell::saved_states)],
                                              int group) const {
    if constexpr (Cell::saved_states > 0) read_states(before, job.exists(group), first + job.index(group));
  }

 private:
  __device__ __forceinline__ const Scalar* hidden() const {
    return static_cast<const Scalar*>(job.arguments.states) +
           (Cell::hidden_read > 0 ? job.step_elements() : 0);
  }
  // h after the step, where the forward pass bounded it.
  __device__ __forceinline__ const Scalar* output() const {
    return static_cast<const Scalar*>(job.arguments.states) + job.step_elements();
  }
  __device__ __forceinline__ void read_states(float (&state)[at_least_one(Cell::saved_states)], bool exists,
                                              size_t here) const {
    const States states =
        exists ? reinterpret_cast<const States*>(job.arguments.saved_states)[here] : States{};
#pragma unroll
    for (int i = 0; i < at_least_one(Cell::saved_states); i++) state[i] = states.value[i];
  }
};

// Writes a lane's gradients to a slot that the group reads next.
template <class Shape>
__device__ __forceinline__ void publish_gradients(const JobElements<Shape, BackwardArguments>& job,
                                                  typename Shape::Scalar* slot, const GateWords<Shape>& words,
                                                  int group) {
  using Words = GateWords<Shape>;
  if (!Words::of_recurrent(job.lane) || !job.exists(group)) return;
  const int first_k =
      (job.first_unit + job.lane.unit(group) - Words::units_before(job.lane)) * Shape::operands;
  words.publish(slot, first_k, job.lane.batch_row(group));
}

template <class Cell, class Tiling>
struct StreamedBackward {
  using Shape = BackwardShape<Cell, Tiling>;
  using Scalar = typename Shape::Scalar;
  using Stream = WeightStream<Shape, StreamedColumns<Shape>, Tiling>;
  using Partials = PartialSums<Shape>;
  using Job = JobElements<Shape, BackwardArguments>;
  using Records = StepRecords<Cell, Shape>;
  static constexpr int partial_bytes = Shape::k_splits > 1 ? Partials::shared_bytes : 0;
  static_assert(Stream::shared_bytes + partial_bytes == Tiling::shared_memory, "shared memory as solved");
  static constexpr int group_blocks = (Shape::head_dim + Shape::block_units - 1) / Shape::block_units;
  static constexpr int tile_elements = Shape::batch_tile * Shape::k_size;
  static constexpr int counter_bytes = 128;
  // Number of groups whose records are in flight together.
  static constexpr int together = Shape::warp_groups % 4 == 0 ? 4 : Shape::warp_groups % 2 == 0 ? 2 : 1;

  // R^T times the gradients of the following step, of the warp's group `group`.
  static __device__ __forceinline__ float finished_sum(const Partials& partials, Accumulators<Shape>& sums,
                                                       int group, const Lane<Shape>& lane) {
    float sum[1] = {0.0f};
    if constexpr (Shape::k_splits > 1)
      partials.add(sum, group);
    else
      sum[0] = sums.of_group(group, 0);
    return sum[0];
  }

  // Runs one head and batch tile from the last step to the first. slots: the group's two slots. exchanges: so
  // far, over all jobs. shared_memory: ring, partial sums.
  static __device__ __forceinline__ void run_job(const BackwardArguments& arguments, int head, int first_row,
                                                 int first_unit, const Lane<Shape>& lane,
                                                 GroupBarrier& barrier, Scalar* slots, int& exchanges,
                                                 unsigned char* shared_memory) {
    Stream stream(arguments.recurrent, head, first_unit, arguments.steps, lane, shared_memory);
    const Partials partials(shared_memory + Stream::shared_bytes, lane);
    Job job{arguments, head, first_row, first_unit, lane};
    GradientElements<Cell, Shape> elements;
    elements.begin_steps(arguments, lane);
#pragma unroll
    for (int group = 0; group < Shape::warp_groups; group++) {
      job.forget();
      elements.begin_group(group, arguments, head, job.first_row, job.first_unit, job.lane);
    }

    Accumulators<Shape> sums;
    for (int step = arguments.steps - 1;;
         // One product more than steps: the last gives the gradient by the initial h.
         step--) {
      const Records records(job, step);
      if (step >= 0) {
#pragma unroll
        for (int group = 0; group < Shape::warp_groups; group++) {
          job.forget();
          records.bring(group);
        }
      }
      const bool first = step == arguments.steps - 1;
      sums.clear();
      if (!first) {
        barrier.wait();
        stream.begin_step(slots + (exchanges - 1) % 2 * tile_elements, lane);
        stream.template multiply<Tiling::mma_k>(sums);
        if constexpr (Shape::k_splits > 1) {
          partials.store(sums);
          __syncthreads();
        }
      }
      if (step < 0) break;
      if (lane.finishes()) {
#pragma unroll
        for (int begin = 0; begin < Shape::warp_groups; begin += together) {
          job.forget();
          StepRecord<Cell> record[together];
#pragma unroll
          for (int i = 0; i < together; i++) records.read(record[i], elements.after[begin + i], begin + i);
#pragma unroll
          for (int i = 0; i < together; i++) {
            const int group = begin + i;
            const float through_recurrence = first ? 0.0f : finished_sum(partials, sums, group, lane);
            elements.step(group, through_recurrence, record[i], lane);
            publish_gradients(job, slots + exchanges % 2 * tile_elements, elements.words[group], group);
          }
        }
      }
      barrier.arrive();
      exchanges++;
      write_gradients(job, elements, step);
    }
    if (!lane.finishes()) return;
#pragma unroll
    for (int group = 0; group < Shape::warp_groups; group++) {
      job.forget();
      Records(job, 0).read_before(elements.after[group], group);
      elements.finish(group, finished_sum(partials, sums, group, lane), arguments, head, job.first_row,
                      job.first_unit, job.lane);
    }
  }

 private:
  static __device__ __forceinline__ void write_gradients(Job& job, GradientElements<Cell, Shape>& elements,
                                                         int step) {
    using Words = GateWords<Shape>;
    const bool writes = Cell::separate_gradients || Words::of_input(job.lane);
#pragma unroll
    for (int group = 0; group < Shape::warp_groups; group++) {
      job.forget();
      if (!writes || !job.exists(group)) continue;
      const size_t element = step * job.step_elements() + job.index(group) - Words::units_before(job.lane);
      elements.words[group].write(elements.target + element * Shape::gates);
      if constexpr (Words::keeps_input)
        elements.words[group].write_input(elements.input_target + element * Shape::gates);
    }
#pragma unroll
    for (int group = 0; group < Shape::warp_groups; group++)
      elements.words[group] = {};  // frees the registers until the words are packed again
  }
};

template <class Cell, class Tiling>
__device__ __forceinline__ void streamed_backward(const BackwardArguments& arguments) {
  using Backward = StreamedBackward<Cell, Tiling>;
  using Shape = typename Backward::Shape;
  using Scalar = typename Shape::Scalar;
  extern __shared__ __align__(128) unsigned char shared_memory[];
  const Lane<Shape> lane;
  const int groups = gridDim.x / Backward::group_blocks, group = blockIdx.x / Backward::group_blocks;
  const int unit = blockIdx.x % Backward::group_blocks * Shape::block_units;
  const int first_unit =
      unit + Shape::block_units <= Shape::head_dim ? unit : Shape::head_dim - Shape::block_units;
  // Workspace: [groups] counters, a cache line each; [groups][2] slots. The host fills it with zeros before a
  // launch.
  unsigned char* const workspace = static_cast<unsigned char*>(arguments.workspace);
  GroupBarrier barrier(reinterpret_cast<unsigned*>(workspace + group * Backward::counter_bytes),
                       Backward::group_blocks);
  Scalar* const slots = reinterpret_cast<Scalar*>(workspace + groups * Backward::counter_bytes) +
                        static_cast<size_t>(group) * 2 * Backward::tile_elements;
  const int batch_tiles = (arguments.batch + Shape::batch_tile - 1) / Shape::batch_tile;
  int exchanges = 0;
  for (int job = group; job < arguments.heads * batch_tiles; job += groups)
    Backward::run_job(arguments, job % arguments.heads, job / arguments.heads * Shape::batch_tile, first_unit,
                      lane, barrier, slots, exchanges, shared_memory);
}

}  // namespace kerneltune
