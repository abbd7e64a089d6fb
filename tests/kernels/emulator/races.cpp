// Which accesses to shared memory no barrier orders. Kernels are compiled with the compiler's instrumentation for data races, whose calls
// end here; every thread, barrier and store on its way carries a vector clock over the threads of its cluster. Lanes of a warp are
// threads like any other: mma, ldmatrix and shuffles order nothing, __syncwarp does.
#include <cstring>

#include "races.hpp"

namespace emulator {

void report(const Block& block, size_t byte, const char* does, unsigned other, const char* did) {
  const auto threads = static_cast<unsigned>(block.cluster->blocks.size()) * block_dim.x;
  const bool agent = other >= threads;
  const char* const who = !agent ? "thread" : (other - threads) % agents ? "a bulk copy of warp" : "a wgmma of warp";
  const unsigned number = agent ? (other - threads) / agents : other, in_block = agent ? block_dim.x / 32 : block_dim.x;
  fail("shared memory byte %zu: it %s what %s %u of block %u in its cluster %s, and no barrier orders the two", byte, does, who,
       number % in_block, number / in_block, did);
}

void join(Clock& into, const Clock& other) {
  if (into.size() < other.size()) into.resize(other.size());
  for (size_t i = 0; i < other.size(); i++)
    if (into[i] < other[i]) into[i] = other[i];
}

void tick(Thread& thread) { thread.clock[number_of(thread)]++; }

void start_clock(Thread& thread, unsigned threads_of_cluster) {
  thread.clock.assign(threads_of_cluster, 0);
  tick(thread);
}

void note_read(Block& block, size_t offset, size_t bytes) {
  const unsigned by = number_of(*current);
  visit_cells(block, offset, bytes, [&](Cell& cell, size_t byte) {
    check(block, cell, byte, by, current->clock, false);
    note_reader(cell, by, current->clock[by]);
  });
}

void note_write(Block& block, size_t offset, size_t bytes, const Thread& by, const Clock& clock, bool finished,
                Proxy proxy) {
  const unsigned number = number_of(by);
  visit_cells(block, offset, bytes, [&](Cell& cell, size_t byte) {
    check(block, cell, byte, number, clock, true);
    cell.written = true;
    cell.proxy = proxy;
    cell.writer = number;
    cell.write_time = finished ? clock[number] : unfinished;
    cell.readers.clear();
  });
}

void note_copy_done(Block& block, size_t offset, size_t bytes) {
  const unsigned by = number_of(*current);
  visit_cells(block, offset, bytes, [&](Cell& cell, size_t) {
    if (cell.writer == by && cell.write_time == unfinished) cell.write_time = current->clock[by];
  });
}

namespace {

void instrumented(const void* address, size_t bytes, bool writes) {
  if (!current) return;
  Block& block = *current->warp->block;
  const auto* const byte = static_cast<const unsigned char*>(address);
  if (byte < block.shared || byte >= block.shared + shared_memory_bytes) return;
  const auto offset = static_cast<size_t>(byte - block.shared);
  if (offset + bytes > shared_memory_bytes) fail("shared memory access at byte %zu of %u", offset, shared_memory_bytes);
  if (writes)
    note_write(block, offset, bytes, *current, current->clock, true);
  else
    note_read(block, offset, bytes);
}

}  // namespace

}  // namespace emulator

// What the instrumentation calls.
#define INSTRUMENTED(bytes)                                                                                          \
  extern "C" void __tsan_read##bytes(void* address) { emulator::instrumented(address, bytes, false); }               \
  extern "C" void __tsan_write##bytes(void* address) { emulator::instrumented(address, bytes, true); }               \
  extern "C" void __tsan_unaligned_read##bytes(void* address) { emulator::instrumented(address, bytes, false); }     \
  extern "C" void __tsan_unaligned_write##bytes(void* address) { emulator::instrumented(address, bytes, true); }
INSTRUMENTED(1)
INSTRUMENTED(2)
INSTRUMENTED(4)
INSTRUMENTED(8)
INSTRUMENTED(16)
extern "C" void __tsan_read_range(void* address, size_t bytes) { emulator::instrumented(address, bytes, false); }
extern "C" void __tsan_write_range(void* address, size_t bytes) { emulator::instrumented(address, bytes, true); }
// Copies that clang makes through the instrumentation.
extern "C" void* __tsan_memcpy(void* target, const void* source, size_t bytes) {
  emulator::instrumented(source, bytes, false);
  emulator::instrumented(target, bytes, true);
  return std::memcpy(target, source, bytes);
}
extern "C" void* __tsan_memset(void* target, int value, size_t bytes) {
  emulator::instrumented(target, bytes, true);
  return std::memset(target, value, bytes);
}
extern "C" void __tsan_func_entry(void*) {}
extern "C" void __tsan_func_exit() {}
extern "C" void __tsan_init() {}
