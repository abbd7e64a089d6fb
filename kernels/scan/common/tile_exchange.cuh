// What tiles of a scan publish for later tiles, through L2.
//
// Each number lies beside the mark of its launch in one 64-bit word, which is written and read at once; what is there of an earlier launch has
// another mark. So nothing is cleared between launches: the launch's mark is one more than the count in the workspace, and the last block to
// leave puts the count up. The workspace is zeros before the first launch, and belongs to one kernel and one stream.
//
// Workspace: [0] launches so far, [1] blocks that have left; from byte 128 on the states at the beginning of windows but the first,
// [windows][groups][tile_channels] words; the tiles [times][groups][tile_channels] pairs of words: product and sum.
#pragma once
#include "scan_shape.cuh"

namespace kerneltune {

template <class Shape, class Chain>
class TileExchange {
  static constexpr int window = Shape::Tiling::window;
  static constexpr int at_once = window <= 2 ? 1 : window <= 8 ? window - 1 : 8;  // tiles that are asked for together
  using Word = unsigned long long;

 public:
  __device__ __forceinline__ TileExchange(void* workspace, int groups, int times)
      : head(static_cast<unsigned*>(workspace)), groups(groups), times(times) {
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(mark) : "l"(head) : "memory");
    mark++;
    states = reinterpret_cast<Word*>(static_cast<unsigned char*>(workspace) + 128);
    const int windows = (times + window - 1) / window;
    tiles = states + ((static_cast<Stride>(windows) * groups * Shape::tile_channels + 1) & ~static_cast<Stride>(1));
  }

  // For one channel of a tile: asks for what enters it, so that what is there already comes while the tile is reduced.
  __device__ __forceinline__ void ask(int time, int group, int channel) {
    const int first = time / window * window;
    if (first > 0) entering_word = load(state_at(time / window, group, channel));
    ask_tiles(first, time, group, channel);
  }

  // The state that enters the tile that was asked for, whose own effect is `own`; `initial` enters the first window. Publishes what others need.
  __device__ __forceinline__ float entering(int time, int group, int channel, const Chain& own, float initial) {
    const int first = time / window * window;
    const bool last_of_window = time == first + window - 1, last = time == times - 1;
    if (!last_of_window && !last) publish(tile_at(time, group, channel), own);
    float state = initial;
    for (int begin = first; begin == first || begin < time; begin += at_once) {
      if (begin > first) ask_tiles(begin, time, group, channel);
      while (!all_are_there(begin, time)) ask_again(begin, time, group, channel);
      if (begin == first && first > 0) state = value(entering_word);
#pragma unroll
      for (int i = 0; i < at_once; i++)
        if (begin + i < time) state = Chain::applied(value(product[i]), value(sum[i]), state);
    }
    if (last_of_window && !last) store(state_at(time / window + 1, group, channel), word(own.apply(state)));
    return state;
  }

  // By all threads when the block has done its last tile.
  __device__ __forceinline__ void leave() const {
    __syncthreads();
    if (threadIdx.x != 0) return;
    unsigned left;
    asm volatile("atom.relaxed.gpu.global.add.u32 %0, [%1], %2;" : "=r"(left) : "l"(head + 1), "r"(1) : "memory");
    if (left != gridDim.x - 1) return;
    head[1] = 0;
    head[0] = mark;
  }

 private:
  __device__ __forceinline__ Stride place(int row, int group, int channel) const {
    return (static_cast<Stride>(row) * groups + group) * Shape::tile_channels + channel;
  }
  // At the beginning of a window that is not the first.
  __device__ __forceinline__ Word* state_at(int window, int group, int channel) const { return states + place(window - 1, group, channel); }
  __device__ __forceinline__ Word* tile_at(int time, int group, int channel) const { return tiles + 2 * place(time, group, channel); }

  __device__ __forceinline__ void ask_tiles(int begin, int time, int group, int channel) {
#pragma unroll
    for (int i = 0; i < at_once; i++)
      if (begin + i < time) load(tile_at(begin + i, group, channel), product[i], sum[i]);
  }

  __device__ __forceinline__ bool is_there(int i) const { return is_of_this_launch(product[i]) && is_of_this_launch(sum[i]); }
  __device__ __forceinline__ bool all_are_there(int begin, int time) const {
    bool there = time < window || is_of_this_launch(entering_word);
#pragma unroll
    for (int i = 0; i < at_once; i++) there = there && (begin + i >= time || is_there(i));
    return there;
  }
  // All that is missing at once: one way to L2 and back, not one for each.
  __device__ __forceinline__ void ask_again(int begin, int time, int group, int channel) {
    if (time >= window && !is_of_this_launch(entering_word)) entering_word = load(state_at(time / window, group, channel));
#pragma unroll
    for (int i = 0; i < at_once; i++)
      if (begin + i < time && !is_there(i)) load(tile_at(begin + i, group, channel), product[i], sum[i]);
  }

  __device__ __forceinline__ Word word(float number) const { return static_cast<Word>(mark) << 32 | __float_as_uint(number); }
  __device__ __forceinline__ bool is_of_this_launch(Word word) const { return static_cast<unsigned>(word >> 32) == mark; }
  static __device__ __forceinline__ float value(Word word) { return __uint_as_float(static_cast<unsigned>(word)); }

  __device__ __forceinline__ void publish(Word* to, const Chain& chain) const {
    asm volatile("st.relaxed.gpu.global.v2.u64 [%0], {%1, %2};" ::"l"(to), "l"(word(chain.product)), "l"(word(chain.sum)) : "memory");
  }
  static __device__ __forceinline__ void store(Word* to, Word word) {
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(to), "l"(word) : "memory");
  }
  static __device__ __forceinline__ void load(const Word* from, Word& first, Word& second) {
    asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];" : "=l"(first), "=l"(second) : "l"(from) : "memory");
  }
  static __device__ __forceinline__ Word load(const Word* from) {
    Word loaded;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(loaded) : "l"(from) : "memory");
    return loaded;
  }

  unsigned* head;
  Word* states;
  Word* tiles;
  int groups;
  int times;
  unsigned mark;
  Word entering_word;
  Word product[at_once];
  Word sum[at_once];
};

}  // namespace kerneltune
