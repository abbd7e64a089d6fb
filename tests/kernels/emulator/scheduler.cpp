// Runs all threads of a launch to their end, one at a time, in an order drawn from the seed.
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <sys/mman.h>
#include <unistd.h>

#include "fibers.hpp"

namespace emulator {

Index thread_index, block_index, block_dim, grid_dim;
Thread* current = nullptr;
std::mt19937 draw;
unsigned shared_memory_bytes = 0;
unsigned long events = 0;

namespace {

constexpr size_t stack_bytes = 128 * 1024;
constexpr unsigned stack_mark = 0x57ac4e4d;  // at the far end of each stack
constexpr unsigned threads_at_a_time = 2048;  // of launches whose blocks need not run together
jmp_buf scheduler;
std::vector<Warp*> ready_warps;
std::vector<void*> spare_stacks;
const Launch* running_launch = nullptr;
bool by_priority = false;

// Many stacks are one mapping: the kernel allows few mappings to a process, and a page between every two would split them.
void* new_stack() {
  if (spare_stacks.empty()) {
    constexpr size_t count = 512;
    void* const stacks = mmap(nullptr, count * stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (stacks == MAP_FAILED) fail("no memory for the threads' stacks");
    for (size_t i = 0; i < count; i++) spare_stacks.push_back(static_cast<char*>(stacks) + i * stack_bytes);
  }
  void* const stack = spare_stacks.back();
  spare_stacks.pop_back();
  *static_cast<unsigned*>(stack) = stack_mark;
  return stack;
}

void thread_body() {
  running_launch->kernel();
  Block& block = *current->warp->block;
  if (current->newest_store > current->newest_store_read) fail("ended without waiting until its bulk copies had read shared memory");
  if (current->warp->started[static_cast<int>(Agent::product)] > current->warp->products.waited) fail("ended without waiting for its wgmma");
  current->finished = true;
  events++;
  block.running--;
  if (current->warp->arrived) fail("ended while its warp gathers for %s", current->warp->what);
  _longjmp(scheduler, 1);
}

void resume(Thread* thread) {
  current = thread;
  thread_index = thread->index;
  block_index = thread->warp->block->index;
  if (_setjmp(scheduler) == 0) {
    if (thread->started) _longjmp(thread->resume, 1);
    thread->started = true;
    thread->stack = new_stack();
    getcontext(&thread->start);
    thread->start.uc_stack = {thread->stack, 0, stack_bytes};
    thread->start.uc_link = nullptr;
    makecontext(&thread->start, thread_body, 0);
    setcontext(&thread->start);
  }
  if (*static_cast<unsigned*>(thread->stack) != stack_mark) fail("its stack overflowed");
  if (thread->finished) {
    spare_stacks.push_back(thread->stack);
    thread->stack = nullptr;
  }
  current = nullptr;
}

void back_to_scheduler() {
  if (_setjmp(current->resume) == 0) _longjmp(scheduler, 1);
}

Warp* choose_warp() {
  if (!by_priority) return ready_warps[draw() % ready_warps.size()];
  Warp* best = ready_warps[0];
  for (Warp* warp : ready_warps)
    if (warp->priority > best->priority) best = warp;
  return best;
}

void unlist(Warp* warp) {
  for (Warp*& listed : ready_warps)
    if (listed == warp) {
      listed = ready_warps.back();
      ready_warps.pop_back();
      break;
    }
  warp->listed = false;
}

void draw_priorities(std::vector<std::unique_ptr<Block>>& blocks) {
  by_priority = one_in(2);
  const bool whole_blocks = one_in(2);
  for (auto& block : blocks) {
    const uint32_t of_block = draw() & 0xffff0000u;
    for (Warp& warp : block->warps) warp.priority = whole_blocks ? of_block | (draw() & 0xffffu) : draw();
  }
}

[[noreturn]] void report_deadlock(const std::vector<std::unique_ptr<Block>>& blocks) {
  std::fprintf(stderr, "no thread can go on:\n");
  int lines = 0;
  for (const auto& block : blocks)
    for (const Thread& thread : block->threads)
      if (!thread.finished && thread.index.x % 32 == 0 && lines++ < 64)
        std::fprintf(stderr, "  block %u warp %u lane 0 waits for %s\n", block->index.x, thread.index.x / 32, thread.waits_for);
  _exit(3);
}

void run_until_done(std::vector<std::unique_ptr<Block>>& blocks) {
  const unsigned delivery_chance = 1u << draw() % 6;  // some runs deliver early, some late
  unsigned long last_events = 0;
  unsigned idle_rounds = 0;
  auto alive = [&] {
    for (const auto& block : blocks)
      if (block->running) return true;
    return false;
  };
  for (unsigned turn = 0;; turn++) {
    if (turn % 256 == 0) draw_priorities(blocks);
    if (one_in(delivery_chance)) deliver_any();
    if (ready_warps.empty()) {
      if (!alive()) break;
      if (deliver_any()) continue;
      idle_rounds = events == last_events ? idle_rounds + 1 : 0;
      last_events = events;
      if (idle_rounds > 256 || !wake_pollers()) report_deadlock(blocks);
      continue;
    }
    Warp* const warp = choose_warp();
    const unsigned burst = 1 + draw() % 256;
    for (unsigned i = 0; i < burst && !warp->ready.empty(); i++) {
      const size_t pick = draw() % warp->ready.size();
      Thread* const thread = warp->ready[pick];
      warp->ready[pick] = warp->ready.back();
      warp->ready.pop_back();
      resume(thread);
    }
    if (warp->ready.empty()) unlist(warp);
  }
  while (deliver_any()) {
  }
}

std::unique_ptr<Block> new_block(const Launch& launch, unsigned number) {
  auto block = std::make_unique<Block>();
  block->index = {number, 0, 0};
  block->rank = number % launch.cluster;
  block->running = launch.threads;
  block->warps = std::vector<Warp>(launch.threads / 32);
  block->threads = std::vector<Thread>(launch.threads);
  for (unsigned i = 0; i < launch.threads; i++) {
    Thread& thread = block->threads[i];
    thread.index = {i, 0, 0};
    thread.warp = &block->warps[i / 32];
    thread.warp->block = block.get();
    make_ready(&thread);
  }
  return block;
}

// Blocks `first` to `last` together; both are multiples of the cluster size.
void run_blocks(const Launch& launch, unsigned first, unsigned last) {
  std::vector<std::unique_ptr<Block>> blocks;
  std::vector<std::unique_ptr<Cluster>> clusters;
  std::vector<std::unique_ptr<Fenced>> memories;
  for (unsigned number = first; number < last; number++) {
    blocks.push_back(new_block(launch, number));
    blocks.back()->cells.resize(launch.shared_bytes / 2);
    for (Thread& thread : blocks.back()->threads) start_clock(thread, launch.cluster * launch.threads);
    memories.push_back(std::make_unique<Fenced>(launch.shared_bytes, true));
    blocks.back()->shared = memories.back()->data;
    for (unsigned i = 0; i < launch.shared_bytes; i++) blocks.back()->shared[i] = 0xff;
    if (number % launch.cluster == 0) clusters.push_back(std::make_unique<Cluster>());
    clusters.back()->blocks.push_back(blocks.back().get());
    blocks.back()->cluster = clusters.back().get();
  }
  run_until_done(blocks);
  for (const auto& memory : memories)
    if (!memory->margins_untouched()) fail("a write just outside shared memory");
}

}  // namespace

void fail(const char* format, ...) {
  if (current)
    std::fprintf(stderr, "block %u warp %u lane %u: ", current->warp->block->index.x, current->index.x / 32, current->index.x % 32);
  va_list arguments;
  va_start(arguments, format);
  std::vfprintf(stderr, format, arguments);
  va_end(arguments);
  std::fputc('\n', stderr);
  _exit(3);
}

void make_ready(Thread* thread) {
  Warp* const warp = thread->warp;
  thread->waits_for = nullptr;
  warp->ready.push_back(thread);
  if (!warp->listed) {
    warp->listed = true;
    ready_warps.push_back(warp);
  }
}

void suspend(const char* waits_for) {
  current->waits_for = waits_for;
  back_to_scheduler();
}

void give_way() {
  make_ready(current);
  back_to_scheduler();
}

void run_launch(const Launch& launch) {
  running_launch = &launch;
  shared_memory_bytes = launch.shared_bytes;
  draw.seed(launch.seed);
  block_dim = {launch.threads, 1, 1};
  grid_dim = {launch.blocks, 1, 1};
  unsigned together = launch.blocks;
  if (!launch.all_resident && together * launch.threads > threads_at_a_time) {
    together = threads_at_a_time / launch.threads / launch.cluster * launch.cluster;
    if (together < launch.cluster) together = launch.cluster;
  }
  for (unsigned first = 0; first < launch.blocks; first += together)
    run_blocks(launch, first, first + together < launch.blocks ? first + together : launch.blocks);
}

}  // namespace emulator
