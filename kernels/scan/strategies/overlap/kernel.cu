// Chunks of time at once, strategy "overlap": for cells that are not linear in their state, few channels and
// many steps.
//
// Each chunk runs in order from a guess of its first state: what some steps before it make of zeros. Then the
// boundaries are compared: a chunk must
// have begun with what the one before it left. Where they all agree, to within the rounding of a step, that
// is the answer. Else chunks begin again,
// with what the chunk before left, corrected by how far that depends on its own beginning (Newton's method on
// the boundaries alone). Where this does
// not at least halve what is left, each row of channels goes on in order from its first boundary that moved.
// So no number of rounds is set, and
// what is written is always what the steps in order give.
#include "../../common/boundaries.cuh"

namespace kerneltune {

template <class Cell, class Tiling>
class Overlap {
  using Shape = WalkShape<Cell, Tiling>;
  using Ring = WarpRing<Shape>;
  using Vector = typename Boundaries<Shape>::Vector;
  using Magnitudes = typename Boundaries<Shape>::Magnitudes;
  using Sums = float[Shape::vector];
  static constexpr int length = Tiling::chunk_steps;
  static constexpr int slice = 16;

 public:
  static constexpr int shared_bytes = Ring::shared_bytes + Walk<Shape>::shared_bytes;
  static constexpr int planes = Boundaries<Shape>::planes;

  __device__ __forceinline__ Overlap(const ScanArguments& arguments, unsigned char* shared_memory)
      : arguments(arguments),
        groups(Shape::groups_of_row(arguments) * arguments.batch),
        duration(Shape::duration(arguments)),
        chunks((duration + length - 1) / length),
        ring(shared_memory),
        walk(shared_memory + Ring::shared_bytes),
        boundaries(arguments.workspace, groups, chunks),
        barrier(arguments.workspace) {}

  __device__ __forceinline__ void run() {
    each_job([&](int chunk, int group, const Strand<Shape>& strand) { guess(chunk, group, strand); });
    const unsigned moved_of_guesses = count_of_guesses();
    unsigned moved = 0;
    if (barrier.any(moved_of_guesses != 0)) {
      barrier.add(moved_of_guesses);
      moved = barrier.counted();
    }
    const unsigned moved_at_first = moved;
    unsigned rounds = 0, walked = 0;
    while (moved) {
      each_job([&](int chunk, int group, const Strand<Shape>& strand) { propose(chunk, group, strand); });
      barrier.wait();
      if (rounds == 0)  // most often the last
        each_job([&](int chunk, int group, const Strand<Shape>& strand) {
          run_again<false>(chunk, group, strand);
        });
      else
        each_job([&](int chunk, int group, const Strand<Shape>& strand) {
          run_again<true>(chunk, group, strand);
        });
      barrier.wait();
      const unsigned left = count_moved();
      rounds++;
      const bool halved = 2 * static_cast<unsigned long long>(left) <= moved;
      moved = left;
      if (!halved && rounds > 2) break;  // the third round is the first that knows of dependences
    }
    if (moved) {
      for (int group = first_warp(); group < groups; group += warps()) go_on_in_order(group);
      walked = barrier.counted();
    }
    if (Shape::differentiates && arguments.weight_gradient) {
      barrier.wait();
      add_up();
    }
    if (arguments.repaired && blockIdx.x == 0 && threadIdx.x == 0) {
      arguments.repaired[0] = moved_at_first;
      arguments.repaired[1] = rounds;
      arguments.repaired[2] = walked;
      arguments.repaired[3] = (chunks - 1) * arguments.batch * arguments.channels;
    }
    barrier.leave();
  }

 private:
  __device__ __forceinline__ int first_warp() const { return blockIdx.x * Shape::warps + threadIdx.x / 32; }
  __device__ __forceinline__ int warps() const { return gridDim.x * Shape::warps; }

  template <class Do>
  __device__ __forceinline__ void each_job(const Do& act) {
#pragma unroll 1
    for (int job = first_warp(); job < groups * chunks; job += warps())
      act(job / groups, job % groups, Strand<Shape>(arguments, job % groups));
  }

  template <bool DEPENDENCE>
  __device__ __forceinline__ void walk_chunk(int chunk, int group, const Strand<Shape>& strand, int first,
                                             Carried<Shape>& carried) {
    Dependence<Shape, DEPENDENCE> dependence;
    dependence.begin();
    walk.begin(arguments, strand);
    walk.run(arguments, strand, ring, first, chunk * length, min((chunk + 1) * length, duration), carried,
             dependence);
    boundaries.put_start(chunk, group, carried.start);
    boundaries.put_end(chunk, group, carried);
    boundaries.put_dependence(chunk, group, dependence);
    if constexpr (Shape::differentiates)
      walk.write_sums(arguments, strand, boundaries.sums_of(chunk, group), Shape::row_channels);
  }

  __device__ __forceinline__ void guess(int chunk, int group, const Strand<Shape>& strand) {
    const int first = max(0, chunk * length - Tiling::warm_steps);
    Carried<Shape> carried;
    carried.load(arguments, strand, first == 0 ? arguments.initial : nullptr);
    walk_chunk<false>(chunk, group, strand, first, carried);
    boundaries.publish(chunk, group, barrier.mark(), carried);
  }

  // How many channels of this warp begin a chunk with something else than what was left.
  __device__ __forceinline__ unsigned moved_here(int chunk, int group, const Strand<Shape>& strand,
                                                 const Vector& begins, const Vector& left,
                                                 bool (&moved)[Shape::vector]) const {
    Magnitudes magnitude;
    boundaries.magnitudes(chunk - 1, group, magnitude);
    return moved_of(strand, begins, left, magnitude, moved);
  }
  static __device__ __forceinline__ unsigned moved_of(const Strand<Shape>& strand, const Vector& begins,
                                                      const Vector& left, const Magnitudes& magnitude,
                                                      bool (&moved)[Shape::vector]) {
    unsigned count = 0;
#pragma unroll
    for (int c = 0; c < Shape::vector; c++) {
      moved[c] = strand.exists && !Boundaries<Shape>::agrees(begins[c], left[c], magnitude[c]);
      count += moved[c];
    }
    return count;
  }

  // The same of all guesses; what a chunk began with is this warp's own, and what the one before left comes
  // by words that need no barrier.
  __device__ __forceinline__ unsigned count_of_guesses() {
    unsigned count = 0;
    each_job([&](int chunk, int group, const Strand<Shape>& strand) {
      if (chunk == 0) return;
      Vector begins, left;
      Magnitudes magnitude;
      bool moved[Shape::vector];
      boundaries.start(chunk, group, begins);
      boundaries.await_left(chunk - 1, group, barrier.mark(), left, magnitude);
      count += moved_of(strand, begins, left, magnitude, moved);
    });
    return count;
  }

  __device__ __forceinline__ unsigned count_moved() {
    unsigned count = 0;
    each_job([&](int chunk, int group, const Strand<Shape>& strand) {
      if (chunk == 0) return;
      Vector begins, left;
      bool moved[Shape::vector];
      boundaries.start(chunk, group, begins);
      boundaries.left(chunk - 1, group, left);
      count += moved_here(chunk, group, strand, begins, left, moved);
    });
    if (__any_sync(0xffffffffu, count != 0)) barrier.add(count);
    return barrier.counted();
  }

  // What the chunk is to begin with: from the last chunk before it whose end is taken as it is, through those
  // of known dependence; what it began
  // with where that agrees.
  __device__ __forceinline__ void propose(int chunk, int group, const Strand<Shape>& strand) const {
    Vector began, begins;
    boundaries.start(chunk, group, began);
    bool moved[Shape::vector] = {};
    if (chunk > 0) {
      int from = chunk - 1;
      while (from > 0 && boundaries.dependence_is_known(from, group)) from--;
      boundaries.left(from, group, begins);
      for (int passed = from + 1; passed < chunk; passed++) boundaries.follow(passed, group, begins);
      moved_here(chunk, group, strand, began, begins, moved);
    }
#pragma unroll
    for (int c = 0; c < Shape::vector; c++)
#pragma unroll
      for (int s = 0; s < Shape::states; s++) begins[c][s] = moved[c] ? begins[c][s] : began[c][s];
    boundaries.put_next(chunk, group, begins);
  }

  template <bool DEPENDENCE>
  __device__ __forceinline__ void run_again(int chunk, int group, const Strand<Shape>& strand) {
    Vector began, begins;
    boundaries.start(chunk, group, began);
    boundaries.coming(chunk, group, begins);
    bool moved = false;
#pragma unroll
    for (int c = 0; c < Shape::vector; c++)
#pragma unroll
      for (int s = 0; s < Shape::states; s++)
        moved = moved || (strand.exists && __float_as_uint(began[c][s]) != __float_as_uint(begins[c][s]));
    if (__any_sync(0xffffffffu, moved)) begin_anew<DEPENDENCE>(chunk, group, strand, begins);
  }

  template <bool DEPENDENCE>
  __device__ __forceinline__ void begin_anew(int chunk, int group, const Strand<Shape>& strand,
                                             const Vector& begins) {
    Carried<Shape> carried;
#pragma unroll
    for (int c = 0; c < Shape::vector; c++)
#pragma unroll
      for (int s = 0; s < Shape::states; s++) carried.state[c][s] = begins[c][s];
    walk_chunk<DEPENDENCE>(chunk, group, strand, chunk * length, carried);
  }

  __device__ __forceinline__ void go_on_in_order(int group) {
    const Strand<Shape> strand(arguments, group);
    unsigned walked = 0;
#pragma unroll 1
    for (int chunk = 1; chunk < chunks; chunk++) {
      Vector began, left;
      bool moved[Shape::vector];
      boundaries.start(chunk, group, began);
      boundaries.left(chunk - 1, group, left);
      const unsigned count = moved_here(chunk, group, strand, began, left, moved);
      if (!__any_sync(0xffffffffu, count != 0)) continue;
      walked += count;
#pragma unroll
      for (int c = 0; c < Shape::vector; c++)
#pragma unroll
        for (int s = 0; s < Shape::states; s++) left[c][s] = moved[c] ? left[c][s] : began[c][s];
      begin_anew<false>(chunk, group, strand, left);
    }
    barrier.add(walked);
  }

  // The sums over all chunks of the gradients by weights, always in the same order: of `slice` chunks at a
  // time, then of those.
  __device__ __forceinline__ void add_up() {
    if constexpr (Shape::weights == 0) return;
    constexpr int weights = length_for(Shape::weights);
    const int slices = (chunks + slice - 1) / slice;
#pragma unroll 1
    for (int task = first_warp(); task < groups * weights * slices; task += warps()) {
      const int group = task % groups, w = task / groups % weights, first = task / (groups * weights) * slice;
      Sums sums;
      sum_of(group, w, first, 1, min(first + slice, chunks), sums);
#pragma unroll
      for (int c = 0; c < Shape::vector; c++)
        __stcg(boundaries.sums_of(first, group) + w * Shape::row_channels + c, sums[c]);
    }
    barrier.wait();
#pragma unroll 1
    for (int task = first_warp(); task < groups * weights; task += warps()) {
      const int group = task / weights, w = task % weights;
      const Strand<Shape> strand(arguments, group);
      Sums sums;
      sum_of(group, w, 0, slice, chunks, sums);
      if (strand.exists)
#pragma unroll
        for (int c = 0; c < Shape::vector; c++)
          arguments.weight_gradient[(static_cast<Stride>(strand.row) * weights + w) * arguments.channels +
                                    strand.channel + c] = sums[c];
    }
  }
  __device__ void sum_of(int group, int w, int from, int by, int to, Sums& sums) const {
#pragma unroll
    for (int c = 0; c < Shape::vector; c++) sums[c] = 0.0f;
#pragma unroll 16
    for (int chunk = from; chunk < to; chunk += by)
#pragma unroll
      for (int c = 0; c < Shape::vector; c++)
        sums[c] += __ldcg(boundaries.sums_of(chunk, group) + w * Shape::row_channels + c);
  }

  const ScanArguments& arguments;
  int groups;
  int duration;
  int chunks;
  Ring ring;
  Walk<Shape> walk;
  Boundaries<Shape> boundaries;
  CountingBarrier barrier;
};

template <class Cell, class Tiling>
__device__ __forceinline__ void overlap(const ScanArguments& arguments) {
  static_assert(Overlap<Cell, Tiling>::shared_bytes == Tiling::shared_memory, "shared memory as solved");
  static_assert(Overlap<Cell, Tiling>::planes == Tiling::planes, "workspace as solved");
  extern __shared__ __align__(128) unsigned char shared_memory[];
  Overlap<Cell, Tiling>(arguments, shared_memory).run();
}

}  // namespace kerneltune
