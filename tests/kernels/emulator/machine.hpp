// The emulated GPU as kernels and instructions see it. Threads are fibers of one operating-system thread; who runs next is drawn from a
// seed whenever a thread waits, so a missing barrier or a wrong buffer shows as a wrong result under some seeds.
#pragma once
#include <cstddef>
#include <cstdint>

namespace emulator {

struct Index {
  unsigned x, y, z;
};
extern Index thread_index, block_index, block_dim, grid_dim;  // of the thread that runs now

// Ends the run: the message names the block and the thread.
[[noreturn]] void fail(const char* format, ...) __attribute__((format(printf, 1, 2)));

// All lanes of `mask` meet here; the last one executes for all, with the operands of each lane.
using Execute = void (*)(void* const (&operands)[32]);
void collective(const char* what, void* operand, Execute execute, unsigned mask = 0xffffffffu);
void synchronize_warp(unsigned mask);
unsigned shuffle(unsigned mask, unsigned value, int source);
bool any(unsigned mask, bool own);

// 16-bit formats, in tensor.cpp
enum class Element { bfloat16, float16, tensor_float32 };
float truncated(double sum);  // to float32, toward zero
float from_bfloat16(unsigned short bits);
float from_float16(unsigned short bits);
unsigned short to_bfloat16(float value);
unsigned short to_float16(float value);

// Barriers of a block (bar.sync, bar.arrive) and of a cluster.
void block_barrier(unsigned number, unsigned threads, bool waits);
void cluster_barrier();
unsigned cluster_rank();

// Shared memory. An address of 32 bits: rank + 1 of a block of the cluster in the top byte, or 0 for the thread's own block.
void* dynamic_shared_memory();
uint32_t shared_offset(const void* pointer);
uint32_t shared_in_block(uint32_t address, unsigned rank);
const void* shared_source(uint32_t address, size_t bytes);  // to be read or written: checks bounds, natural alignment and races
void* shared_target(uint32_t address, size_t bytes);

// Copies that arrive at once or not before they are waited for, at random.
void copy_async(uint32_t target, const void* source, unsigned bytes, unsigned source_bytes);
void commit_copies();
void wait_copies(int newer);

// Transaction barriers and stores that report to them; a store arrives at some later time.
void barrier_initialize(uint32_t address, unsigned arrivals);
void barrier_arrive(uint32_t address, unsigned expected_bytes);
void barrier_wait(uint32_t address, unsigned parity);
void store_async(uint32_t target, const void* data, unsigned bytes, uint32_t barrier);

// Bulk copies: to shared memory they report to a transaction barrier, from there they belong to a bulk group of their thread.
void load_bulk(uint32_t target, const void* source, unsigned bytes, uint32_t barrier);
void store_bulk(void* target, uint32_t source, unsigned bytes);
void commit_bulk();
void wait_bulk(int newer, bool only_reads);

// Products of warpgroups, m64nNk16 (warpgroup.cpp). Accumulators hold their result when they have been waited for.
struct ProductShape {
  int n = 0;  // 0: no product
  bool bfloat16 = false, a_in_registers = false;
};
struct ProductOperands {
  float* accumulators[32];
  unsigned a[4];
  unsigned long long a_descriptor, b_descriptor;
  bool adds;
};
void multiply_warpgroup(const ProductShape& shape, const ProductOperands& operands);
void fence_products();
void commit_products();
void wait_products(int newer);

// What wgmma and bulk copies find in shared memory: the writes that a fence like this one has followed.
void fence_proxy_async();
// What bulk copies of this thread find in device memory: the stores of this launch that were there before.
void fence_proxy_async_global();

// Accesses to device memory that other blocks see while they run. A store arrives at some later time, in an order of its own unless a
// fence stands between two; a load that polls, finding what it found before, gives way to other threads.
void store_relaxed(void* target, const void* data, unsigned bytes);
void load_relaxed(void* data, const void* source, unsigned bytes);
void fence();
void add_released(unsigned* target, unsigned value);
unsigned add_relaxed(unsigned* target, unsigned value);  // gives what was there before
void store_released(unsigned* target, unsigned value);

}  // namespace emulator
