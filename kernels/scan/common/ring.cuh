// What a thread reads of the coming tiles, copied ahead into a ring in shared memory that each thread keeps
// for itself, so that no barrier is
// needed. Where the GPU has no asynchronous copies, or what a thread has of a step is too short for one, they
// are done at once.
#pragma once
#include "../../common/ptx/mma.cuh"
#include "moves.cuh"
#include "scan_shape.cuh"

namespace kerneltune {

// Layout: [stages][arrays][segment_steps][threads][bytes that a thread has of a step of the array]. Where
// coefficients of a tile are kept here
// (Tiling::keeps is 2), they take the place of what they were computed from: as float32 they are 8 /
// sizeof(Scalar) such arrays.
template <class Shape>
class Ring {
  using Pass = typename Shape::Pass;
  using Tiling = typename Shape::Tiling;
  using Scalar = typename Shape::Scalar;
  static constexpr int stages = Tiling::stages;
  static constexpr int steps = Shape::segment_steps;
  static constexpr int number_bytes = static_cast<int>(sizeof(Scalar));
  static constexpr int kept_arrays = Tiling::keeps == 2 ? 8 / number_bytes : 0;
  static constexpr int numbers = Pass::read_numbers > kept_arrays ? Pass::read_numbers : kept_arrays;
  static constexpr int stage_bytes = steps * Shape::threads * Shape::vector * numbers * number_bytes;
  static_assert(kept_arrays == 0 || Pass::widest == 1, "arrays of one width");

  // Where the steps of a thread's part of a tile come from, and which of them are wanted.
  struct Source {
    const Scalar* from;
    Stride stride;
    int low, high;

    Source() = default;
    __device__ __forceinline__ Source(const ScanArguments& arguments, const Part<Shape>& part, int array) {
      const StridedArray whole = array_to_read<Shape>(arguments, array);
      const int ahead = array == Pass::hidden;
      from =
          array_at<Shape>(arguments, whole, part.row, part.channel * Pass::width(array), part.first + ahead);
      stride = Tiling::reverse != 0 ? -whole.step : whole.step;
      low = part.low;
      high = ahead ? min(part.high, part.end - part.first - 1) : part.high;
    }
    __device__ __forceinline__ bool has(int step) const { return low <= step && step < high; }
  };

 public:
  static constexpr int shared_bytes = stages * stage_bytes;
  // Words of registers that a thread needs for an array's step, and for all arrays'.
  static constexpr __device__ __forceinline__ int bytes(int array) {
    return Pass::width(array) * Shape::vector * number_bytes;
  }
  static constexpr __device__ __forceinline__ int first_word(int array) {
    return array == 0 ? 0 : (bytes(0) + 3) / 4 + (array - 1) * ((bytes(1) + 3) / 4);
  }
  static constexpr int step_words = first_word(Pass::loads);

  __device__ __forceinline__ explicit Ring(void* storage) : ring(shared_address(storage)) {}

  // Counts as one group of copies; skip() is an empty one.
  __device__ __forceinline__ void copy(const ScanArguments& arguments, const Place<Shape>& place,
                                       int stage) const {
    const Part<Shape> part(arguments, place);
#pragma unroll
    for (int array = 0; array < Pass::loads; array++) {
      const Source source(arguments, part, array);
      const Scalar* from = source.from;
      if (Tiling::async_copy != 0 && bytes(array) >= 4) {
#pragma unroll
        for (int step = 0; step < steps; step++, from += source.stride)
          if (source.has(step)) copy_async(at(stage, array, step), from, bytes(array));
      } else {
        copy_at_once(stage, array, source);
      }
    }
    close_group();
  }
  __device__ __forceinline__ void skip() const { close_group(); }

  // The copies of a tile one step after the other, each as soon as what was in its place has been read; one
  // group when all steps are copied.
  // Where copies are not asynchronous, all of them at the end.
  class Refill {
   public:
    __device__ __forceinline__ Refill(const Ring& ring, const ScanArguments& arguments,
                                      const Place<Shape>& place, int stage, bool exists)
        : ring(ring), part(arguments, place), arguments(arguments), stage(stage) {
      if (!exists) part.skip();
#pragma unroll
      for (int array = 0; array < Pass::loads; array++) source[array] = Source(arguments, part, array);
    }
    // Steps in their order.
    __device__ __forceinline__ void step(int step) {
      if constexpr (is_asynchronous)
#pragma unroll
        for (int array = 0; array < Pass::loads; array++) {
          if (source[array].has(step))
            copy_async(ring.at(stage, array, step), source[array].from, bytes(array));
          source[array].from += source[array].stride;
        }
    }
    __device__ __forceinline__ void close() const {
      if constexpr (!is_asynchronous)
#pragma unroll
        for (int array = 0; array < Pass::loads; array++) ring.copy_at_once(stage, array, source[array]);
      close_group();
    }

   private:
    static constexpr bool is_asynchronous =
        Tiling::async_copy != 0 && bytes(0) >= 4 && bytes(Pass::loads - 1) >= 4;
    const Ring& ring;
    Part<Shape> part;
    const ScanArguments& arguments;
    Source source[Pass::loads];
    int stage;
  };

  // Returns when the oldest of the copied tiles is there.
  __device__ __forceinline__ void wait() const {
    if constexpr (Tiling::async_copy != 0)
      asm volatile("cp.async.wait_group %0;" ::"n"(stages - 1) : "memory");
  }

  // What was copied of a step. Of h before a step nothing was where that is the caller's own.
  __device__ __forceinline__ void read(int stage, int step, unsigned (&words)[step_words]) const {
#pragma unroll
    for (int array = 0; array < Pass::loads; array++)
      read_shared(words + first_word(array), at(stage, array, step), bytes(array));
  }

  // Coefficients of a step, in place of what was copied of it.
  __device__ __forceinline__ void keep(int stage, int step, const float (&a)[Shape::vector],
                                       const float (&b)[Shape::vector]) const {
#pragma unroll
    for (int array = 0; array < kept_arrays; array++) {
      unsigned words[4];
#pragma unroll
      for (int i = 0; i < kept_words; i++) words[i] = __float_as_uint(of_both(a, b, array * kept_words + i));
      write_shared(at(stage, array, step), words, Shape::vector_bytes);
    }
  }
  __device__ __forceinline__ void kept(int stage, int step, float (&a)[Shape::vector],
                                       float (&b)[Shape::vector]) const {
#pragma unroll
    for (int array = 0; array < kept_arrays; array++) {
      unsigned words[4];
      read_shared(words, at(stage, array, step), Shape::vector_bytes);
#pragma unroll
      for (int i = 0; i < kept_words; i++) {
        const int number = array * kept_words + i;
        (number < Shape::vector ? a[number] : b[number - Shape::vector]) = __uint_as_float(words[i]);
      }
    }
  }

 private:
  static constexpr int kept_words = Shape::vector_bytes / 4;  // in a vector
  static __device__ __forceinline__ float of_both(const float (&a)[Shape::vector],
                                                  const float (&b)[Shape::vector], int number) {
    return number < Shape::vector ? a[number] : b[number - Shape::vector];
  }

  // Several on their way at a time, then all of them to the ring.
  __device__ __forceinline__ void copy_at_once(int stage, int array, const Source& source) const {
    constexpr int limit = Shape::vector_bytes <= 4 ? 16 : 4, batch = steps < limit ? steps : limit;
    const Scalar* from = source.from;
#pragma unroll
    for (int first = 0; first < steps; first += batch) {
      unsigned words[batch][4];
#pragma unroll
      for (int i = 0; i < batch; i++, from += source.stride)
        if (first + i < steps && source.has(first + i)) read_global(words[i], from, bytes(array));
#pragma unroll
      for (int i = 0; i < batch; i++)
        if (first + i < steps && source.has(first + i))
          write_shared(at(stage, array, first + i), words[i], bytes(array));
    }
  }

  static __device__ __forceinline__ void close_group() {
    if constexpr (Tiling::async_copy != 0) asm volatile("cp.async.commit_group;" ::: "memory");
  }
  __device__ __forceinline__ unsigned at(int stage, int array, int step) const {
    const int before = Pass::first_number(array) * Shape::vector * number_bytes;
    return ring + stage * stage_bytes + (before * steps + step * bytes(array)) * Shape::threads +
           threadIdx.x * bytes(array);
  }

  unsigned ring;
};

}  // namespace kerneltune
