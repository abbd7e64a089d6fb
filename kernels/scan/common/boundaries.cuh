// What chunks of time know of each other, in L2: the state that each began with and the one that it left, and
// how the one depends on the other.
#pragma once
#include "../../common/exchange/group_barrier.cuh"
#include "backward_walk.cuh"

namespace kerneltune {

// Workspace: 128 bytes of counters; then for each chunk of each group of channels (a "job") what it left at
// first and its magnitude
// [states + 1][row_channels], each number beside the mark of its launch in one 64-bit word, so that whoever
// reads it needs no barrier; then of each
// job planes of [row_channels] floats: what it began with [states], what it left and its magnitude [states +
// 1], what it is to begin with next
// [states], the dependence [states][states], sums [weights] backward; then of each job whether its dependence
// is known.
template <class Shape>
class Boundaries {
  static constexpr int states = Shape::states;
  static constexpr int sums = Shape::differentiates ? Shape::weights : 0;
  static constexpr int end = states, next = end + states + 1, dependence = next + states,
                       sum = dependence + states * states;

 public:
  static constexpr int planes = sum + sums;
  using Vector = float[Shape::vector][states];
  using Magnitudes = float[Shape::vector];

  __device__ __forceinline__ Boundaries(void* workspace, int groups, int chunks)
      : words(reinterpret_cast<Word*>(static_cast<unsigned char*>(workspace) + 128)),
        floats(reinterpret_cast<float*>(words + static_cast<Stride>(groups) * chunks * (states + 1) *
                                                    Shape::row_channels)),
        known(reinterpret_cast<unsigned*>(floats + static_cast<Stride>(groups) * chunks * planes *
                                                       Shape::row_channels)),
        groups(groups) {}

  __device__ __forceinline__ void put_start(int chunk, int group, const Vector& state) const {
    put(chunk, group, 0, state);
  }
  __device__ __forceinline__ void start(int chunk, int group, Vector& state) const {
    get(chunk, group, 0, state);
  }
  __device__ __forceinline__ void put_end(int chunk, int group, const Carried<Shape>& carried) const {
    put(chunk, group, end, carried.state);
#pragma unroll
    for (int c = 0; c < Shape::vector; c++) __stcg(at(chunk, group, end + states) + c, carried.magnitude[c]);
  }
  __device__ __forceinline__ void left(int chunk, int group, Vector& state) const {
    get(chunk, group, end, state);
  }
  __device__ __forceinline__ void magnitudes(int chunk, int group, Magnitudes& magnitude) const {
#pragma unroll
    for (int c = 0; c < Shape::vector; c++) magnitude[c] = __ldcg(at(chunk, group, end + states) + c);
  }
  // What a chunk leaves at first, for the warp that has the next one.
  __device__ __forceinline__ void publish(int chunk, int group, unsigned mark,
                                          const Carried<Shape>& carried) const {
#pragma unroll
    for (int s = 0; s <= states; s++)
#pragma unroll
      for (int c = 0; c < Shape::vector; c++) {
        const Word word = static_cast<Word>(mark) << 32 |
                          __float_as_uint(s < states ? carried.state[c][s] : carried.magnitude[c]);
        asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(word_at(chunk, group, s, c)), "l"(word)
                     : "memory");
      }
  }
  __device__ __forceinline__ void await_left(int chunk, int group, unsigned mark, Vector& state,
                                             Magnitudes& magnitude) const {
    Word found[states + 1][Shape::vector];
    bool there;
    do {
      there = true;
#pragma unroll
      for (int s = 0; s <= states; s++)
#pragma unroll
        for (int c = 0; c < Shape::vector; c++) {
          asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];"
                       : "=l"(found[s][c])
                       : "l"(word_at(chunk, group, s, c))
                       : "memory");
          there = there && static_cast<unsigned>(found[s][c] >> 32) == mark;
        }
    } while (!there);
#pragma unroll
    for (int c = 0; c < Shape::vector; c++) {
#pragma unroll
      for (int s = 0; s < states; s++) state[c][s] = __uint_as_float(static_cast<unsigned>(found[s][c]));
      magnitude[c] = __uint_as_float(static_cast<unsigned>(found[states][c]));
    }
  }
  __device__ __forceinline__ void put_next(int chunk, int group, const Vector& state) const {
    put(chunk, group, next, state);
  }
  __device__ __forceinline__ void coming(int chunk, int group, Vector& state) const {
    get(chunk, group, next, state);
  }
  __device__ __forceinline__ float* sums_of(int chunk, int group) const { return at(chunk, group, sum); }

  template <bool KNOWN>
  __device__ __forceinline__ void put_dependence(int chunk, int group,
                                                 const Dependence<Shape, KNOWN>& found) const {
    if (threadIdx.x % 32 == 0) __stcg(known + static_cast<Stride>(chunk) * groups + group, KNOWN ? 1u : 0u);
    if constexpr (KNOWN)
#pragma unroll
      for (int i = 0; i < states; i++)
#pragma unroll
        for (int j = 0; j < states; j++)
#pragma unroll
          for (int c = 0; c < Shape::vector; c++)
            __stcg(at(chunk, group, dependence + i * states + j) + c, found.of[c][i][j]);
  }
  __device__ __forceinline__ bool dependence_is_known(int chunk, int group) const {
    return __ldcg(known + static_cast<Stride>(chunk) * groups + group) != 0;
  }

  // What comes out of a chunk that begins with something else: by Newton, a step of its own linear model. Not
  // used where it is no number.
  __device__ __forceinline__ void follow(int chunk, int group, Vector& state) const {
    Vector began, ended;
    start(chunk, group, began);
    left(chunk, group, ended);
#pragma unroll
    for (int c = 0; c < Shape::vector; c++) {
      float found[states];
      bool finite = true;
#pragma unroll
      for (int i = 0; i < states; i++) {
        found[i] = ended[c][i];
#pragma unroll
        for (int j = 0; j < states; j++)
          found[i] = fmaf(__ldcg(at(chunk, group, dependence + i * states + j) + c),
                          state[c][j] - began[c][j], found[i]);
        finite = finite && fabsf(found[i]) < 1.0e30f;
      }
#pragma unroll
      for (int i = 0; i < states; i++) state[c][i] = finite ? found[i] : ended[c][i];
    }
  }

  // Whether a state is the one that the chunk before left, to within the rounding of a step; numbers that are
  // none agree with each other.
  static __device__ __forceinline__ bool agrees(const float (&begins)[states], const float (&left)[states],
                                                float magnitude) {
    bool same = true;
#pragma unroll
    for (int s = 0; s < states; s++) {
      const float a = begins[s], b = left[s], size = fmaxf(fabsf(b), magnitude);
      same = same && (__float_as_uint(a) == __float_as_uint(b) || fabsf(a - b) <= 2.4e-7f * size ||
                      (a != a && b != b));
    }
    return same;
  }

 private:
  using Word = unsigned long long;

  __device__ __forceinline__ Word* word_at(int chunk, int group, int number, int channel) const {
    const Stride job = static_cast<Stride>(chunk) * groups + group;
    return words + ((job * (states + 1) + number) * Shape::vector + channel) * 32 + threadIdx.x % 32;
  }
  __device__ __forceinline__ float* at(int chunk, int group, int plane) const {
    const Stride job = static_cast<Stride>(chunk) * groups + group;
    return floats + (job * planes + plane) * Shape::row_channels + threadIdx.x % 32 * Shape::vector;
  }
  __device__ __forceinline__ void put(int chunk, int group, int plane, const Vector& state) const {
#pragma unroll
    for (int s = 0; s < states; s++)
#pragma unroll
      for (int c = 0; c < Shape::vector; c++) __stcg(at(chunk, group, plane + s) + c, state[c][s]);
  }
  __device__ __forceinline__ void get(int chunk, int group, int plane, Vector& state) const {
#pragma unroll
    for (int s = 0; s < states; s++)
#pragma unroll
      for (int c = 0; c < Shape::vector; c++) state[c][s] = __ldcg(at(chunk, group, plane + s) + c);
  }

  Word* words;
  float* floats;
  unsigned* known;
  int groups;
};

// A barrier among all blocks, and counts that all see behind it. The last block to leave puts the words back
// to zero, and the count of launches up.
class CountingBarrier {
 public:
  __device__ __forceinline__ explicit CountingBarrier(void* workspace)
      : words(static_cast<unsigned*>(workspace)), barrier(words, gridDim.x) {
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(launches) : "l"(words + 6) : "memory");
  }

  // Of this launch: the bits of a signalling NaN, which nothing that is computed has.
  __device__ __forceinline__ unsigned mark() const { return 0x7f800001u + launches % 0x3fffffu; }

  // Whether any thread of any block says so; by whole warps, once in a launch. Says nothing of what was
  // written before.
  __device__ __forceinline__ bool any(bool here) const {
    constexpr unsigned one = 1, said = 0x10000;  // a launch has fewer warps than that
    const unsigned all = gridDim.x * (blockDim.x / 32);
    const bool in_warp = __any_sync(0xffffffffu, here);
    unsigned found = 0;
    if (threadIdx.x % 32 == 0) {
      unsigned before;
      asm volatile("atom.relaxed.gpu.global.add.u32 %0, [%1], %2;"
                   : "=r"(before)
                   : "l"(words + 5), "r"(in_warp ? one | said : one)
                   : "memory");
      do {
        asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(found) : "l"(words + 5) : "memory");
      } while (found % said != all);
    }
    return __shfl_sync(0xffffffffu, found, 0) >= said;
  }

  __device__ __forceinline__ void wait() {
    barrier.arrive();
    barrier.wait();
  }
  // Adds to what the next `counted` says; by one lane of a warp, or more.
  __device__ __forceinline__ void add(unsigned count) const {
    unsigned before;
    if (count)
      asm volatile("atom.relaxed.gpu.global.add.u32 %0, [%1], %2;"
                   : "=r"(before)
                   : "l"(words + 2 + round), "r"(count)
                   : "memory");
  }
  // By all threads: a barrier, and the sum of what was added since the last time.
  __device__ __forceinline__ unsigned counted() {
    wait();
    unsigned found;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(found) : "l"(words + 2 + round) : "memory");
    const int former = round == 0 ? 2 : round - 1;
    if (blockIdx.x == 0 && threadIdx.x == 0)
      asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(words + 2 + former), "r"(0u) : "memory");
    round = round == 2 ? 0 : round + 1;
    return found;
  }
  __device__ __forceinline__ void leave() const {
    __syncthreads();
    if (threadIdx.x != 0) return;
    unsigned left;
    asm volatile("atom.relaxed.gpu.global.add.u32 %0, [%1], %2;"
                 : "=r"(left)
                 : "l"(words + 1), "r"(1)
                 : "memory");
    if (left != gridDim.x - 1) return;
    for (int i = 0; i < 6; i++)
      asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(words + i), "r"(0u) : "memory");
    asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(words + 6), "r"(launches + 1) : "memory");
  }

 private:
  unsigned* words;  // arrivals, blocks that have left, three counts in turn, what warps said, launches so far
  GroupBarrier barrier;
  unsigned launches;
  int round = 0;
};

}  // namespace kerneltune
