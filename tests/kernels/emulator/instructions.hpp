// One specialization for each PTX text that a kernel uses, operands in the order of the text. An instruction that is missing here is a
// compile error that shows its text. Texts are as rewrite.py writes them: one space between words, none after commas.
#pragma once

namespace emulator {

template <size_t N>
struct Text {
  char characters[N];
  constexpr Text(const char (&text)[N]) {
    for (size_t i = 0; i < N; i++) characters[i] = text[i];
  }
};

template <Text TEXT>
struct Instruction;

unsigned to_tf32(float value);  // to nearest, ties away from zero
float rounded_to_bits(float value, int mantissa_bits);

// No instruction: for the compiler alone
template <> struct Instruction<""> {
  template <class... Values> static void run(Values&...) {}
};

// Conversions
template <> struct Instruction<"cvt.rn.bf16x2.f32 %0,%1,%2;"> {
  static void run(unsigned& packed, float high, float low) { packed = static_cast<unsigned>(to_bfloat16(high)) << 16 | to_bfloat16(low); }
};
template <> struct Instruction<"cvt.rn.f16x2.f32 %0,%1,%2;"> {
  static void run(unsigned& packed, float high, float low) { packed = static_cast<unsigned>(to_float16(high)) << 16 | to_float16(low); }
};
template <> struct Instruction<"cvt.f32.f16 %0,%1;"> {
  static void run(float& value, unsigned short half) { value = from_float16(half); }
};
template <> struct Instruction<"cvt.rn.f16.f32 %0,%1;"> {
  static void run(unsigned short& half, float value) { half = to_float16(value); }
};

template <> struct Instruction<"cvt.rna.tf32.f32 %0,%1;"> {
  static void run(unsigned& word, float value) { word = to_tf32(value); }
};

// Approximations: correct to about the bits that the hardware gives.
template <> struct Instruction<"tanh.approx.f32 %0,%1;"> {
  static void run(float& y, float x) { y = rounded_to_bits(std::tanh(x), 11); }
};
template <> struct Instruction<"ex2.approx.ftz.f32 %0,%1;"> {
  static void run(float& y, float x) { y = rounded_to_bits(std::exp2(x), 22); }
};
template <> struct Instruction<"lg2.approx.ftz.f32 %0,%1;"> {
  static void run(float& y, float x) { y = rounded_to_bits(std::log2(x), 22); }
};

template <> struct Instruction<"sqrt.approx.f32 %0,%1;"> {
  static void run(float& y, float x) { y = std::sqrt(x); }
};

template <> struct Instruction<"{ .reg .pred p; setp.ne.s32 p,%3,0; selp.f32 %0,%1,%2,p; }"> {
  static void run(float& value, float a, float b, int first) { value = first ? a : b; }
};

template <> struct Instruction<"max.NaN.f32 %0,%1,%2;"> {
  static void run(float& larger, float a, float b) { larger = a != a || b != b ? NAN : a > b ? a : b; }
};
template <> struct Instruction<"min.NaN.f32 %0,%1,%2;"> {
  static void run(float& smaller, float a, float b) { smaller = a != a || b != b ? NAN : a < b ? a : b; }
};

// Tensor-core products, fragments as PTX ISA lays them out.
void multiply_m16n8(Element element, int k, float* c, const unsigned* a, const unsigned* b);

#define EMULATED_MMA(text, element, depth)                                                                                    \
  template <> struct Instruction<text> {                                                                                   \
    static void run(float& c0, float& c1, float& c2, float& c3, unsigned a0, unsigned a1, unsigned a2, unsigned a3,        \
                    unsigned b0, unsigned b1) {                                                                            \
      float c[4] = {c0, c1, c2, c3};                                                                                       \
      const unsigned a[4] = {a0, a1, a2, a3}, b[2] = {b0, b1};                                                             \
      multiply_m16n8(element, depth, c, a, b);                                                                             \
      c0 = c[0], c1 = c[1], c2 = c[2], c3 = c[3];                                                                          \
    }                                                                                                                      \
  }
EMULATED_MMA("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};",
             Element::bfloat16, 16);
EMULATED_MMA("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};",
             Element::float16, 16);
EMULATED_MMA("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};",
             Element::tensor_float32, 8);
#undef EMULATED_MMA
template <> struct Instruction<"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3},{%4,%5},{%6},{%0,%1,%2,%3};"> {
  static void run(float& c0, float& c1, float& c2, float& c3, unsigned a0, unsigned a1, unsigned b0) {
    float c[4] = {c0, c1, c2, c3};
    const unsigned a[2] = {a0, a1}, b[1] = {b0};
    multiply_m16n8(Element::float16, 8, c, a, b);
    c0 = c[0], c1 = c[1], c2 = c[2], c3 = c[3];
  }
};

void load_matrices(unsigned* fragments, int matrices, bool transposed, uint32_t address);

#define EMULATED_LDMATRIX_X4(text, transposed)                                                             \
  template <> struct Instruction<text> {                                                                   \
    static void run(unsigned& f0, unsigned& f1, unsigned& f2, unsigned& f3, uint32_t address) {            \
      unsigned f[4];                                                                                       \
      load_matrices(f, 4, transposed, address);                                                            \
      f0 = f[0], f1 = f[1], f2 = f[2], f3 = f[3];                                                          \
    }                                                                                                      \
  }
#define EMULATED_LDMATRIX_X2(text, transposed)                              \
  template <> struct Instruction<text> {                                    \
    static void run(unsigned& f0, unsigned& f1, uint32_t address) {         \
      unsigned f[2];                                                        \
      load_matrices(f, 2, transposed, address);                             \
      f0 = f[0], f1 = f[1];                                                 \
    }                                                                       \
  }
EMULATED_LDMATRIX_X4("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3},[%4];", false);
EMULATED_LDMATRIX_X4("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3},[%4];", true);
EMULATED_LDMATRIX_X2("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1},[%2];", false);
EMULATED_LDMATRIX_X2("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1},[%2];", true);
#undef EMULATED_LDMATRIX_X4
#undef EMULATED_LDMATRIX_X2

// Shared memory by address
template <class T>
T load_shared(uint32_t address) {
  T value;
  std::memcpy(&value, shared_source(address, sizeof(T)), sizeof(T));
  return value;
}
template <> struct Instruction<"ld.shared.u16 %0,[%1];"> {
  static void run(unsigned short& value, uint32_t address) { value = load_shared<unsigned short>(address); }
};
template <> struct Instruction<"ld.shared.u32 %0,[%1];"> {
  static void run(unsigned& value, uint32_t address) { value = load_shared<unsigned>(address); }
};
template <> struct Instruction<"ld.shared.f32 %0,[%1];"> {
  static void run(float& value, uint32_t address) { value = load_shared<float>(address); }
};
template <> struct Instruction<"ld.shared.v2.u32 {%0,%1},[%2];"> {
  static void run(unsigned& x, unsigned& y, uint32_t address) {
    const uint2 value = load_shared<uint2>(address);
    x = value.x, y = value.y;
  }
};
template <> struct Instruction<"ld.shared.v4.u32 {%0,%1,%2,%3},[%4];"> {
  static void run(unsigned& x, unsigned& y, unsigned& z, unsigned& w, uint32_t address) {
    const uint4 value = load_shared<uint4>(address);
    x = value.x, y = value.y, z = value.z, w = value.w;
  }
};
template <> struct Instruction<"st.shared.v4.u32 [%0],{%1,%2,%3,%4};"> {
  static void run(uint32_t address, unsigned x, unsigned y, unsigned z, unsigned w) {
    const uint4 value{x, y, z, w};
    std::memcpy(shared_target(address, 16), &value, 16);
  }
};

template <class T>
void store_shared(uint32_t address, T value) {
  std::memcpy(shared_target(address, sizeof(T)), &value, sizeof(T));
}
template <> struct Instruction<"st.shared.v2.u32 [%0],{%1,%2};"> {
  static void run(uint32_t address, unsigned x, unsigned y) { store_shared(address, uint2{x, y}); }
};
template <> struct Instruction<"st.shared.u32 [%0],%1;"> {
  static void run(uint32_t address, unsigned value) { store_shared(address, value); }
};
template <> struct Instruction<"st.shared.u16 [%0],%1;"> {
  static void run(uint32_t address, unsigned short value) { store_shared(address, value); }
};

// Asynchronous copies
template <> struct Instruction<"cp.async.cg.shared.global [%0],[%1],16;"> {
  static void run(uint32_t target, const void* source) { copy_async(target, source, 16, 16); }
};
template <> struct Instruction<"cp.async.cg.shared.global.L2::128B [%0],[%1],16;"> {
  static void run(uint32_t target, const void* source) { copy_async(target, source, 16, 16); }
};
template <> struct Instruction<"cp.async.cg.shared.global.L2::256B [%0],[%1],16;"> {
  static void run(uint32_t target, const void* source) { copy_async(target, source, 16, 16); }
};
template <> struct Instruction<"cp.async.cg.shared.global [%0],[%1],16,%2;"> {
  static void run(uint32_t target, const void* source, unsigned source_bytes) { copy_async(target, source, 16, source_bytes); }
};
template <> struct Instruction<"cp.async.ca.shared.global [%0],[%1],8;"> {
  static void run(uint32_t target, const void* source) { copy_async(target, source, 8, 8); }
};
template <> struct Instruction<"cp.async.ca.shared.global [%0],[%1],4;"> {
  static void run(uint32_t target, const void* source) { copy_async(target, source, 4, 4); }
};
template <> struct Instruction<"cp.async.commit_group;"> {
  static void run() { commit_copies(); }
};
template <> struct Instruction<"cp.async.wait_group %0;"> {
  static void run(int newer) { wait_copies(newer); }
};

template <> struct Instruction<"prefetch.global.L2 [%0];"> {
  static void run(const void* source) { static_cast<void>(*static_cast<const volatile char*>(source)); }
};

template <> struct Instruction<"mov.u32 %0,%clock;"> {
  static void run(unsigned& cycles) {
    static thread_local unsigned clock = 0;
    cycles = clock += 64;
  }
};

// Barriers of part of a block
#define EMULATED_BARRIER(number)                                               \
  template <> struct Instruction<"bar.arrive " #number ",%0;"> {               \
    static void run(unsigned threads) { block_barrier(number, threads, false); } \
  };                                                                           \
  template <> struct Instruction<"bar.sync " #number ",%0;"> {                 \
    static void run(unsigned threads) { block_barrier(number, threads, true); }  \
  }
EMULATED_BARRIER(1);
EMULATED_BARRIER(2);
#undef EMULATED_BARRIER
template <> struct Instruction<"bar.arrive %0,%1;"> {
  static void run(unsigned number, unsigned threads) { block_barrier(number, threads, false); }
};
template <> struct Instruction<"bar.sync %0,%1;"> {
  static void run(unsigned number, unsigned threads) { block_barrier(number, threads, true); }
};

// How many registers a thread may have is the compiler's business.
template <> struct Instruction<"setmaxnreg.inc.sync.aligned.u32 %0;"> {
  static void run(int) {}
};
template <> struct Instruction<"setmaxnreg.dec.sync.aligned.u32 %0;"> {
  static void run(int) {}
};

// Clusters
template <> struct Instruction<"mov.u32 %0,%cluster_ctarank;"> {
  static void run(unsigned& rank) { rank = cluster_rank(); }
};
template <> struct Instruction<"mapa.shared::cluster.u32 %0,%1,%2;"> {
  static void run(unsigned& address, unsigned shared, unsigned rank) { address = shared_in_block(shared, rank); }
};
template <> struct Instruction<"barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;"> {
  static void run() { cluster_barrier(); }
};
template <> struct Instruction<"st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0],{%1,%2,%3,%4},[%5];"> {
  static void run(unsigned target, unsigned x, unsigned y, unsigned z, unsigned w, unsigned barrier) {
    const uint4 value{x, y, z, w};
    store_async(target, &value, 16, barrier);
  }
};
template <> struct Instruction<"mbarrier.init.shared::cta.b64 [%0],%1;"> {
  static void run(unsigned address, unsigned arrivals) { barrier_initialize(address, arrivals); }
};
template <> struct Instruction<"mbarrier.arrive.shared::cta.b64 _,[%0];"> {
  static void run(unsigned address) { barrier_arrive(address, 0); }
};
template <> struct Instruction<"mbarrier.arrive.shared::cluster.b64 _,[%0];"> {
  static void run(unsigned address) { barrier_arrive(address, 0); }
};
template <> struct Instruction<"mbarrier.arrive.expect_tx.shared::cta.b64 _,[%0],%1;"> {
  static void run(unsigned address, unsigned bytes) { barrier_arrive(address, bytes); }
};
template <> struct Instruction<
    "{ .reg .pred done; again: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done,[%0],%1; @!done bra again; }"> {
  static void run(unsigned address, unsigned parity) { barrier_wait(address, parity); }
};
template <> struct Instruction<
    "{ .reg .pred done; again: mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 done,[%0],%1; @!done bra again; }"> {
  static void run(unsigned address, unsigned parity) { barrier_wait(address, parity); }
};

// Products of warpgroups: see warpgroup.hpp for wgmma.mma_async
template <> struct Instruction<"wgmma.fence.sync.aligned;"> {
  static void run() { fence_products(); }
};
template <> struct Instruction<"wgmma.commit_group.sync.aligned;"> {
  static void run() { commit_products(); }
};
template <> struct Instruction<"wgmma.wait_group.sync.aligned %0;"> {
  static void run(int newer) { wait_products(newer); }
};

// Bulk copies
template <> struct Instruction<"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0],[%1],%2,[%3];"> {
  static void run(uint32_t target, const void* source, unsigned bytes, uint32_t barrier) { load_bulk(target, source, bytes, barrier); }
};
template <> struct Instruction<
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0],[%1],%2,[%3],%4;"> {
  static void run(uint32_t target, const void* source, unsigned bytes, uint32_t barrier, unsigned short blocks) {
    for (unsigned rank = 0; rank < 16; rank++)
      if (blocks >> rank & 1) load_bulk(shared_in_block(target, rank), source, bytes, shared_in_block(barrier, rank));
  }
};
template <> struct Instruction<"cp.async.bulk.global.shared::cta.bulk_group [%0],[%1],%2;"> {
  static void run(void* target, uint32_t source, unsigned bytes) { store_bulk(target, source, bytes); }
};
template <> struct Instruction<"cp.async.bulk.commit_group;"> {
  static void run() { commit_bulk(); }
};
template <> struct Instruction<"cp.async.bulk.wait_group %0;"> {
  static void run(int newer) { wait_bulk(newer, false); }
};
template <> struct Instruction<"cp.async.bulk.wait_group.read %0;"> {
  static void run(int newer) { wait_bulk(newer, true); }
};

// Shared memory's proxies. Those of device memory are one here.
template <> struct Instruction<"fence.proxy.async;"> {
  static void run() {
    fence_proxy_async();
    fence_proxy_async_global();
  }
};
template <> struct Instruction<"fence.proxy.async.shared::cta;"> {
  static void run() { fence_proxy_async(); }
};
template <> struct Instruction<"fence.proxy.async.global;"> {
  static void run() { fence_proxy_async_global(); }
};

// Device memory that blocks share while they run
template <> struct Instruction<"ld.relaxed.gpu.global.v4.u32 {%0,%1,%2,%3},[%4];"> {
  static void run(unsigned& x, unsigned& y, unsigned& z, unsigned& w, const void* source) {
    uint4 value;
    load_relaxed(&value, source, 16);
    x = value.x, y = value.y, z = value.z, w = value.w;
  }
};
template <> struct Instruction<"st.relaxed.gpu.global.u32 [%0],%1;"> {
  static void run(void* target, unsigned value) { store_relaxed(target, &value, 4); }
};
template <> struct Instruction<"st.relaxed.gpu.global.v2.u32 [%0],{%1,%2};"> {
  static void run(void* target, unsigned x, unsigned y) {
    const uint2 value{x, y};
    store_relaxed(target, &value, 8);
  }
};
template <> struct Instruction<"st.relaxed.gpu.global.v4.u32 [%0],{%1,%2,%3,%4};"> {
  static void run(void* target, unsigned x, unsigned y, unsigned z, unsigned w) {
    const uint4 value{x, y, z, w};
    store_relaxed(target, &value, 16);
  }
};
// Words of 64 bits are read and written at once; of a pair, one may be new and the other old.
template <> struct Instruction<"ld.relaxed.gpu.global.u32 %0,[%1];"> {
  static void run(unsigned& value, const void* source) { load_relaxed(&value, source, 4); }
};
template <> struct Instruction<"ld.relaxed.gpu.global.u64 %0,[%1];"> {
  static void run(unsigned long long& value, const void* source) { load_relaxed(&value, source, 8); }
};
template <> struct Instruction<"ld.relaxed.gpu.global.v2.u64 {%0,%1},[%2];"> {
  static void run(unsigned long long& first, unsigned long long& second, const void* source) {
    unsigned long long pair[2];
    load_relaxed(pair, source, 16);
    first = pair[0], second = pair[1];
  }
};
template <> struct Instruction<"st.relaxed.gpu.global.u64 [%0],%1;"> {
  static void run(void* target, unsigned long long value) { store_relaxed(target, &value, 8); }
};
template <> struct Instruction<"st.relaxed.gpu.global.v2.u64 [%0],{%1,%2};"> {
  static void run(void* target, unsigned long long first, unsigned long long second) {
    if (reinterpret_cast<uintptr_t>(target) % 16) fail("a store of 16 bytes that is not aligned");
    store_relaxed(target, &first, 8);
    store_relaxed(static_cast<unsigned char*>(target) + 8, &second, 8);
  }
};
template <> struct Instruction<"atom.relaxed.gpu.global.add.u32 %0,[%1],%2;"> {
  static void run(unsigned& before, void* target, unsigned value) { before = add_relaxed(static_cast<unsigned*>(target), value); }
};
template <> struct Instruction<"red.release.gpu.global.add.u32 [%0],%1;"> {
  static void run(void* target, unsigned value) { add_released(static_cast<unsigned*>(target), value); }
};
template <class T>
void store_where(unsigned wanted, void* target, T value) {
  if (wanted) *static_cast<T*>(target) = value;
}
template <> struct Instruction<"{ .reg .pred wanted; setp.ne.u32 wanted,%0,0; @wanted st.global.cs.v4.u32 [%1],{%2,%3,%4,%5}; }"> {
  static void run(unsigned wanted, void* target, unsigned x, unsigned y, unsigned z, unsigned w) { store_where(wanted, target, uint4{x, y, z, w}); }
};
template <> struct Instruction<"{ .reg .pred wanted; setp.ne.u32 wanted,%0,0; @wanted st.global.cs.v2.u32 [%1],{%2,%3}; }"> {
  static void run(unsigned wanted, void* target, unsigned x, unsigned y) { store_where(wanted, target, uint2{x, y}); }
};
template <> struct Instruction<"{ .reg .pred wanted; setp.ne.u32 wanted,%0,0; @wanted st.global.cs.u32 [%1],%2; }"> {
  static void run(unsigned wanted, void* target, unsigned value) { store_where(wanted, target, value); }
};
template <> struct Instruction<"{ .reg .pred wanted; setp.ne.u32 wanted,%0,0; @wanted st.global.cs.u16 [%1],%2; }"> {
  static void run(unsigned wanted, void* target, unsigned short value) { store_where(wanted, target, value); }
};
template <> struct Instruction<"st.release.gpu.global.u32 [%0],%1;"> {
  static void run(void* target, unsigned value) { store_released(static_cast<unsigned*>(target), value); }
};
template <> struct Instruction<"ld.acquire.gpu.global.u32 %0,[%1];"> {
  static void run(unsigned& value, const void* source) { load_relaxed(&value, source, 4); }
};
template <> struct Instruction<"fence.acq_rel.gpu;"> {
  static void run() { fence(); }
};

}  // namespace emulator

#include "warpgroup.hpp"
