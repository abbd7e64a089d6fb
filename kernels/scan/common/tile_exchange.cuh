// What tiles of a scan publish for later tiles, through L2.
//
// Each number lies beside the mark of its launch in one 64-bit word, which is written and read at once; what
// is there of an earlier launch has
// another mark. So nothing is cleared between launches: the launch's mark is one more than the count in the
// workspace, and the last block to
// leave puts the count up. The workspace is zeros before the first launch, and belongs to one kernel and one
// stream.
//
// Workspace: [0] launches so far, [1] blocks that have left, [2] a counter; from byte 128 on the states at the beginning of
// windows but the first,
// [windows][groups][tile_channels] times the words of a state; the tiles [times][groups][tile_channels] times
// the words of a link, in pairs.
#pragma once
#include "scan_shape.cuh"

namespace kerneltune {

template <class Shape, class Chain>
class TileExchange {
  static constexpr int window = Shape::Tiling::window;
  static constexpr int lanes = Shape::Tiling::lanes;  // of a warp, that look for what enters a channel
  static constexpr int states = Chain::states;
  static constexpr int numbers = Chain::numbers;
  static constexpr int most = 16 / numbers;                   // tiles that a lane asks for together
  static constexpr int share = (window + lanes - 1) / lanes;  // of the tiles of a window that are a lane's
  static constexpr int at_once = share < most ? share : most;
  static_assert(numbers % 2 == 0, "words in pairs");
  static_assert(32 % lanes == 0 && lanes * Shape::tile_channels <= Shape::threads,
                "lanes of one warp for each channel");
  using Word = unsigned long long;

 public:
  static constexpr int threads = (lanes * Shape::tile_channels + 31) / 32 * 32;  // whose warps look

  __device__ __forceinline__ TileExchange(void* workspace, int groups, int times)
      : head(static_cast<unsigned*>(workspace)),
        groups(groups),
        times(times),
        channel(threadIdx.x / lanes),
        lane(threadIdx.x % lanes) {
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(mark) : "l"(head) : "memory");
    mark++;
    at_begin = reinterpret_cast<Word*>(static_cast<unsigned char*>(workspace) + 128);
    const int windows = (times + window - 1) / window;
    tiles = at_begin + ((static_cast<Stride>(windows) * groups * Shape::tile_channels * states + 1) &
                        ~static_cast<Stride>(1));
  }

  // The channel of a tile that this thread looks for, and whether it is the one of its lanes that says what
  // was found.
  __device__ __forceinline__ bool looks() const { return channel < Shape::tile_channels; }
  __device__ __forceinline__ bool speaks() const { return looks() && lane == 0; }
  __device__ __forceinline__ int channel_of_tile() const { return channel; }

  // Asks for what enters a tile, so that what is there already comes while the tile is reduced.
  __device__ __forceinline__ void ask(int time, int group) {
    if (!looks()) return;
    const int first = time / window * window;
    if (first > 0 && lane == 0) ask_state(time, group);
    ask_tiles(first + lane * share, min(time, first + (lane + 1) * share), group);
  }

  // What the tile does to the state, where later tiles of its window need it.
  __device__ __forceinline__ void publish(int time, int group, const Chain& own) const {
    if (!speaks() || time % window == window - 1 || time == times - 1) return;
    Word* const to = tile_at(time, group);
#pragma unroll
    for (int i = 0; i < numbers; i += 2) store(to + i, word(own.number(i)), word(own.number(i + 1)));
  }

  // The state that enters the tile that was asked for, whose own effect is `own`, in place of what enters the
  // first window; right in the lane that
  // speaks. Publishes the state at the end of a window. By whole warps.
  __device__ __forceinline__ void enter(int time, int group, const Chain& own, float (&state)[states]) {
    const int first = time / window * window;
    Chain passed;  // by the tiles of the window before this one
    if (looks()) {
      const int from = first + lane * share, to = min(time, from + share);
      for (int begin = from; begin < to; begin += at_once) {
        if (begin > from) ask_tiles(begin, to, group);
        while (!tiles_are_there(begin, to)) ask_again(begin, to, group);
#pragma unroll
        for (int i = 0; i < at_once; i++)
          if (begin + i < to) {
            Chain next = link(i);
            next.put_behind(passed);
            passed = next;
          }
      }
    }
    __syncwarp();
#pragma unroll
    for (int distance = 1; distance < lanes; distance *= 2) {
      Chain later;
#pragma unroll
      for (int i = 0; i < numbers; i++)
        later.number(i) = __shfl_down_sync(0xffffffffu, passed.number(i), distance);
      later.put_behind(passed);
      passed = later;
    }
    if (!speaks()) return;
    if (first > 0) {
      while (!are_there(entering)) ask_state(time, group);
#pragma unroll
      for (int i = 0; i < states; i++) state[i] = value(entering[i]);
    }
    if (time > first) passed.apply(state);
    if (time == first + window - 1 && time != times - 1) {
      float behind[states];
#pragma unroll
      for (int i = 0; i < states; i++) behind[i] = state[i];
      own.apply(behind);
      Word* const to = state_at(time / window + 1, group);
      if constexpr (states == 2)
        store(to, word(behind[0]), word(behind[1]));
      else
#pragma unroll
        for (int i = 0; i < states; i++) store(to + i, word(behind[i]));
    }
  }

  // The workspace behind what is published.
  __device__ __forceinline__ void* behind() const {
    return tiles + static_cast<Stride>(times) * groups * Shape::tile_channels * numbers;
  }

  // A word that is zero before each launch, if `leave` is told so.
  __device__ __forceinline__ unsigned* counter() const { return head + 2; }

  // By all threads when the block has done its last tile.
  __device__ __forceinline__ void leave(int counters) const {
    __syncthreads();
    if (threadIdx.x != 0) return;
    unsigned left;
    asm volatile("atom.relaxed.gpu.global.add.u32 %0, [%1], %2;"
                 : "=r"(left)
                 : "l"(head + 1), "r"(1)
                 : "memory");
    if (left != gridDim.x - 1) return;
    head[1] = 0;
    if (counters > 0) head[2] = 0;
    head[0] = mark;
  }

 private:
  __device__ __forceinline__ Stride place(int row, int group) const {
    return (static_cast<Stride>(row) * groups + group) * Shape::tile_channels + channel;
  }
  // At the beginning of a window that is not the first.
  __device__ __forceinline__ Word* state_at(int window, int group) const {
    return at_begin + place(window - 1, group) * states;
  }
  __device__ __forceinline__ Word* tile_at(int time, int group) const {
    return tiles + place(time, group) * numbers;
  }

  __device__ __forceinline__ void ask_state(int time, int group) {
    const Word* const from = state_at(time / window, group);
    if constexpr (states == 2)
      load(from, entering[0], entering[1]);
    else
#pragma unroll
      for (int i = 0; i < states; i++) entering[i] = load(from + i);
  }
  __device__ __forceinline__ void ask_tile(int i, int time, int group) {
    const Word* const from = tile_at(time, group);
#pragma unroll
    for (int number = 0; number < numbers; number += 2)
      load(from + number, asked[i][number], asked[i][number + 1]);
  }
  __device__ __forceinline__ void ask_tiles(int begin, int end, int group) {
#pragma unroll
    for (int i = 0; i < at_once; i++)
      if (begin + i < end) ask_tile(i, begin + i, group);
  }

  template <int COUNT>
  __device__ __forceinline__ bool are_there(const Word (&words)[COUNT]) const {
    bool there = true;
#pragma unroll
    for (int i = 0; i < COUNT; i++) there = there && is_of_this_launch(words[i]);
    return there;
  }
  __device__ __forceinline__ bool tiles_are_there(int begin, int end) const {
    bool there = true;
#pragma unroll
    for (int i = 0; i < at_once; i++) there = there && (begin + i >= end || are_there(asked[i]));
    return there;
  }
  // All that is missing at once: one way to L2 and back, not one for each.
  __device__ __forceinline__ void ask_again(int begin, int end, int group) {
#pragma unroll
    for (int i = 0; i < at_once; i++)
      if (begin + i < end && !are_there(asked[i])) ask_tile(i, begin + i, group);
  }
  __device__ __forceinline__ Chain link(int i) const {
    Chain found;
#pragma unroll
    for (int number = 0; number < numbers; number++) found.number(number) = value(asked[i][number]);
    return found;
  }

  __device__ __forceinline__ Word word(float number) const {
    return static_cast<Word>(mark) << 32 | __float_as_uint(number);
  }
  __device__ __forceinline__ bool is_of_this_launch(Word word) const {
    return static_cast<unsigned>(word >> 32) == mark;
  }
  static __device__ __forceinline__ float value(Word word) {
    return __uint_as_float(static_cast<unsigned>(word));
  }

  static __device__ __forceinline__ void store(Word* to, Word word) {
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(to), "l"(word) : "memory");
  }
  static __device__ __forceinline__ void store(Word* to, Word first, Word second) {
    asm volatile("st.relaxed.gpu.global.v2.u64 [%0], {%1, %2};" ::"l"(to), "l"(first), "l"(second)
                 : "memory");
  }
  static __device__ __forceinline__ void load(const Word* from, Word& first, Word& second) {
    asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];"
                 : "=l"(first), "=l"(second)
                 : "l"(from)
                 : "memory");
  }
  static __device__ __forceinline__ Word load(const Word* from) {
    Word loaded;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(loaded) : "l"(from) : "memory");
    return loaded;
  }

  unsigned* head;
  Word* at_begin;
  Word* tiles;
  int groups;
  int times;
  int channel;
  int lane;
  unsigned mark;
  Word entering[states];
  Word asked[at_once][numbers];
};

}  // namespace kerneltune
