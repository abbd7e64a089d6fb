// A thread's segment of a tile: its steps, read from the ring twice, or kept in registers, so that the ring
// is free for the next tile while this
// one waits for its state. Where coefficients are dear, forward, these are what is kept, in registers or in
// the ring itself.
//
// Where all steps of a segment count, some of them are read together and computed without a branch, so that
// none waits for the ring alone.
#pragma once
#include "link.cuh"
#include "ring.cuh"
#include "sequences.cuh"

namespace kerneltune {

template <bool FIRST, class A, class B>
struct Either {
  using Type = A;
};
template <class A, class B>
struct Either<false, A, B> {
  using Type = B;
};

template <class Shape>
class Segment {
  using Pass = typename Shape::Pass;
  using Tiling = typename Shape::Tiling;
  using Scalar = typename Shape::Scalar;
  using Factor = typename Shape::Factor;
  static constexpr int steps = Shape::segment_steps;
  static constexpr int states = Factor::states;
  static constexpr bool keeps = Tiling::keeps == 1;
  static constexpr bool keeps_in_ring = Tiling::keeps == 2;
  static_assert(!keeps_in_ring || (Pass::computes && Pass::hidden < 0), "coefficients of a forward pass");
  static constexpr bool keeps_coefficients = keeps && Pass::computes && Pass::hidden < 0;
  static constexpr bool keeps_words = keeps && !keeps_coefficients;
  static constexpr int at_once = keeps            ? steps
                                 : Pass::computes ? 2
                                 : steps < 4      ? steps
                                                  : 4;  // unrolled: more overflows the instruction cache
  static constexpr int written_at_once = !keeps_in_ring ? at_once : steps < 4 ? steps : 4;
  static constexpr int alone =
      keeps ? steps : 1;  // steps of code for segments of which only some steps count

 public:
  using Chain = Link<Factor, Tiling::resets != 0 || Tiling::sequences != 0>;
  static constexpr bool divided = Tiling::sequences != 0;  // into sequences, which have states of their own
  static constexpr int shared_bytes = 0;                   // that a block's segments need besides the ring
  static constexpr int counters = 0;                       // of the exchange's words

  // Where a number of a channel's state lies.
  static __device__ __forceinline__ Stride state_at(const ScanArguments& arguments, int row, int channel,
                                                    int number) {
    return (static_cast<Stride>(row) * arguments.channels + channel) * states + number;
  }

  __device__ __forceinline__ Segment(const ScanArguments& arguments, const Ring<Shape>& ring,
                                     const Part<Shape>& part, int stage, void*)
      : arguments(arguments), ring(ring), part(part), stage(stage), marks(arguments, part) {
    if constexpr (Tiling::resets != 0) {
#pragma unroll at_once
      for (int step = 0; step < steps; step++)
        if (part.counts(step)) {
          const Stride place = static_cast<Stride>(part.row) * arguments.steps + position(step);
          dropped |= (arguments.resets[place] != 0 ? 1u : 0u) << step;
        }
    }
  }

  // What the segment does to the state of each channel.
  __device__ __forceinline__ void reduce(Chain (&chain)[Shape::vector]) {
    if (!keeps && is_whole()) {
#pragma unroll 1
      for (int first = 0; first + at_once <= steps; first += at_once) reduce_group<at_once>(first, chain);
#pragma unroll 1
      for (int step = steps / at_once * at_once; step < steps; step++) reduce_group<1>(step, chain);
    } else {
#pragma unroll alone
      for (int step = 0; step < steps; step++) {
        if (!part.counts(step)) continue;
        FromRing read;
        ring.read(stage, step, read.words);
        if constexpr (keeps_words) kept_words[step] = read;
        reduce_step(step, read, chain);
      }
    }
  }

  // All results of the segment, from the state of each channel before it; leaves the state after it.
  // refill(step): its place in the ring is free.
  template <class Refill>
  __device__ __forceinline__ void write(float (&state)[Shape::vector][states], const Refill& refill) const {
    Results to(arguments, part);
    if (!keeps && is_whole()) {
#pragma unroll 1
      for (int first = 0; first + written_at_once <= steps; first += written_at_once)
        write_group<written_at_once>(first, state, to, refill);
#pragma unroll 1
      for (int step = steps / written_at_once * written_at_once; step < steps; step++)
        write_group<1>(step, state, to, refill);
    } else {
#pragma unroll alone
      for (int step = 0; step < steps; step++) {
        float result[Pass::result_numbers * Shape::vector] =
            {};  // of the first output all channels, then of the next
        if (part.counts(step)) {
          Kept kept;
          load(step, kept);
          advance<false>(step, kept, state, result);
        }
        refill(step);
        if (step < part.existing) to.write(result);
      }
    }
  }

  // By all threads, behind a tile and behind all tiles; `workspace` is what the exchange has not taken.
  __device__ __forceinline__ void end_tile(int, int, int, void*) const {}
  static __device__ __forceinline__ void end(const ScanArguments& arguments, int, int, void*, unsigned*) {
    if constexpr (divided) pass_empty_sequences(arguments, states);
  }

 private:
  struct FromRing {
    unsigned words[Ring<Shape>::step_words];
  };
  struct Coefficients {
    float a[Shape::vector], b[Shape::vector];
  };
  using Kept = typename Either<keeps_coefficients || keeps_in_ring, Coefficients,
                               FromRing>::Type;  // what results are computed from
  // Where results of the coming step go.
  struct Results {
    char* to[Pass::outputs];
    Stride stride[Pass::outputs];

    __device__ __forceinline__ Results(const ScanArguments& arguments, const Part<Shape>& part) {
#pragma unroll
      for (int output = 0; output < Pass::outputs; output++) {
        const StridedArray target = array_to_write(arguments, output);
        to[output] = reinterpret_cast<char*>(const_cast<Scalar*>(array_at<Shape>(
            arguments, target, part.row, part.channel * Pass::result_width(output), part.first)));
        stride[output] =
            (Tiling::reverse != 0 ? -target.step : target.step) * static_cast<int>(sizeof(Scalar));
      }
    }
    __device__ __forceinline__ void write(const float (&result)[Pass::result_numbers * Shape::vector]) {
#pragma unroll
      for (int output = 0; output < Pass::outputs; output++) {
        store_global<Scalar>(to[output], result + first_result(output),
                             Pass::result_width(output) * Shape::vector);
        to[output] += stride[output];
      }
    }
  };

  // Whether all steps count, and h before each of them is in memory.
  __device__ __forceinline__ bool is_whole() const {
    return part.low == 0 && part.high == steps && (Pass::hidden < 0 || part.first + steps < part.end);
  }
  // Some steps of a whole segment: all are read, then all are computed.
  template <int STEPS>
  __device__ __forceinline__ void reduce_group(int first, Chain (&chain)[Shape::vector]) {
    FromRing read[STEPS];
#pragma unroll
    for (int i = 0; i < STEPS; i++) ring.read(stage, first + i, read[i].words);
#pragma unroll
    for (int i = 0; i < STEPS; i++) reduce_step(first + i, read[i], chain);
  }
  template <int STEPS, class Refill>
  __device__ __forceinline__ void write_group(int first, float (&state)[Shape::vector][states], Results& to,
                                              const Refill& refill) const {
    Kept kept[STEPS];
#pragma unroll
    for (int i = 0; i < STEPS; i++) load(first + i, kept[i]);
#pragma unroll
    for (int i = 0; i < STEPS; i++) refill(first + i);
#pragma unroll
    for (int i = 0; i < STEPS; i++) {
      float result[Pass::result_numbers * Shape::vector];
      advance<true>(first + i, kept[i], state, result);
      to.write(result);
    }
  }

  __device__ __forceinline__ void load(int step, Kept& kept) const {
    if constexpr (keeps_coefficients)
      kept = kept_coefficients[step];
    else if constexpr (keeps_in_ring)
      ring.kept(stage, step, kept.a, kept.b);
    else if constexpr (keeps_words)
      kept = kept_words[step];
    else
      ring.read(stage, step, kept.words);
  }

  // One more step of all channels; coefficients are kept where they are to be.
  __device__ __forceinline__ void reduce_step(int step, const FromRing& read, Chain (&chain)[Shape::vector]) {
    Coefficients computed;
#pragma unroll
    for (int channel = 0; channel < Shape::vector; channel++) {
      float number[Pass::read_numbers], a[Factor::numbers], b[states];
      values(read.words, channel, number);
      compute(step, number, a, b);
      computed.a[channel] = a[0], computed.b[channel] = b[0];
      if (begins(step)) {
        float first[states];
        state_of_sequence(arguments.initial, step, channel, first);
        behind(step, a, b, first);
        chain[channel].add_step(a, first, true);
      } else {
        chain[channel].add_step(a, b, is_reset(step));
      }
    }
    if constexpr (keeps_coefficients) kept_coefficients[step] = computed;
    if constexpr (keeps_in_ring) ring.keep(stage, step, computed.a, computed.b);
  }

  __device__ __forceinline__ int position(int step) const {
    return Part<Shape>::position(arguments, part.first + step);
  }
  __device__ __forceinline__ bool is_reset(int step) const {
    return Tiling::resets != 0 && (dropped >> step & 1) != 0;
  }
  __device__ __forceinline__ bool begins(int step) const {
    return Tiling::sequences != 0 && (marks.begins >> step & 1) != 0;
  }
  __device__ __forceinline__ bool ends(int step) const {
    return Tiling::sequences != 0 && (marks.ends >> step & 1) != 0;
  }

  static constexpr __device__ __forceinline__ int first_result(int output) {
    return output == 0 ? 0 : (Pass::result_width(0) + (output - 1) * Pass::result_width(1)) * Shape::vector;
  }

  static __device__ __forceinline__ void values(const unsigned* words, int channel,
                                                float (&read)[Pass::read_numbers]) {
#pragma unroll
    for (int array = 0; array < Pass::loads; array++)
#pragma unroll
      for (int i = 0; i < Pass::width(array); i++)
        read[Pass::first_number(array) + i] =
            number_of<Scalar>(words + Ring<Shape>::first_word(array), channel * Pass::width(array) + i);
  }

  __device__ __forceinline__ void compute(int step, const float (&read)[Pass::read_numbers],
                                          float (&a)[Factor::numbers], float (&b)[states]) const {
    Pass::template coefficients<typename Shape::Functions>(read, a, b);
    if (is_reset(step)) {
#pragma unroll
      for (int i = 0; i < Factor::numbers; i++) a[i] = 0.0f;
      if (Pass::hidden >= 0)  // no gradient passes to what was dropped
#pragma unroll
        for (int i = 0; i < states; i++) b[i] = 0.0f;
    }
  }

  // The state behind a step, in place of that before it.
  __device__ __forceinline__ void behind(int step, const float (&a)[Factor::numbers],
                                         const float (&b)[states], float (&state)[states]) const {
    if (is_reset(step))
#pragma unroll
      for (int i = 0; i < states; i++) state[i] = b[i];
    else
      Factor::apply(a, b, state);
  }

  // Of the sequence that a step lies in, from an array [N, D] of states; zeros if there is none.
  __device__ __forceinline__ void state_of_sequence(const float* from, int step, int channel,
                                                    float (&state)[states]) const {
    const Stride place =
        (static_cast<Stride>(SequenceMarks<Shape>::of(arguments, position(step))) * arguments.channels +
         part.channel + channel) *
        states;
#pragma unroll
    for (int i = 0; i < states; i++) state[i] = from ? from[place + i] : 0.0f;
  }

  // One step of all channels.
  template <bool INNER>
  __device__ __forceinline__ void advance(int step, const Kept& kept, float (&state)[Shape::vector][states],
                                          float (&result)[Pass::result_numbers * Shape::vector]) const {
#pragma unroll
    for (int channel = 0; channel < Shape::vector; channel++) {
      float read[Pass::read_numbers] = {}, out[Pass::result_numbers], a[Factor::numbers], b[states],
            before[states] = {};
      if constexpr (keeps_coefficients || keeps_in_ring) {
        a[0] = kept.a[channel];
        b[0] = kept.b[channel];
      } else {
        values(kept.words, channel, read);
        compute(step, read, a, b);
      }
      if (begins(step)) state_of_sequence(arguments.initial, step, channel, state[channel]);
      float entering[states];
#pragma unroll
      for (int i = 0; i < states; i++) entering[i] = state[channel][i];
      behind(step, a, b, state[channel]);
      if constexpr (Pass::hidden >= 0) hidden_before<INNER>(step, channel, read, before);
      Pass::template results<typename Shape::Functions>(read, before, entering, state[channel], out);
      if (ends(step) && arguments.final_state) {
        const Stride place =
            static_cast<Stride>(SequenceMarks<Shape>::of(arguments, position(step))) * arguments.channels +
            part.channel + channel;
#pragma unroll
        for (int i = 0; i < states; i++) arguments.final_state[place * states + i] = state[channel][i];
      }
#pragma unroll
      for (int output = 0; output < Pass::outputs; output++)
#pragma unroll
        for (int i = 0; i < Pass::result_width(output); i++)
          result[first_result(output) + channel * Pass::result_width(output) + i] =
              out[first_result(output) / Shape::vector + i];
    }
  }

  template <bool INNER>
  __device__ __forceinline__ void hidden_before(int step, int channel,
                                                const float (&read)[Pass::read_numbers],
                                                float (&before)[states]) const {
    constexpr int first = Pass::first_number(Pass::hidden < 0 ? 0 : Pass::hidden);
    if (is_reset(step)) return;
    if (ends(step)) {
      state_of_sequence(arguments.first_hidden, step, channel, before);
      return;
    }
    if (INNER || part.first + step + 1 < part.end) {
#pragma unroll
      for (int i = 0; i < states; i++) before[i] = read[first + i];
    } else if (arguments.first_hidden) {
      const Stride place = static_cast<Stride>(part.row) * arguments.channels + part.channel + channel;
#pragma unroll
      for (int i = 0; i < states; i++) before[i] = arguments.first_hidden[place * states + i];
    }
  }

  const ScanArguments& arguments;
  const Ring<Shape>& ring;
  const Part<Shape>& part;
  int stage;
  unsigned dropped = 0;
  const SequenceMarks<Shape> marks;
  FromRing kept_words[keeps_words ? steps : 1];
  Coefficients kept_coefficients[keeps_coefficients ? steps : 1];
};

}  // namespace kerneltune
