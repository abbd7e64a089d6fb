// Accesses to shared memory by what is no thread: wgmma and bulk copies, which go on until a thread has waited for them, and go by the
// async proxy, which finds what threads wrote only behind a fence between the proxies.
#include <algorithm>

#include "races.hpp"

namespace emulator {

namespace {

// What all of some threads know of one, by their clocks of now or those behind their last fence.
uint32_t known(const std::vector<const Thread*>& threads, unsigned place, Clock Thread::*clock = &Thread::clock) {
  uint32_t time = unfinished;
  for (const Thread* thread : threads) time = std::min(time, time_in(thread->*clock, place));
  return time;
}

const char* name_of(Agent agent) { return agent == Agent::product ? "a wgmma" : "a bulk copy"; }

// The writer's first fence behind the write must be one that the readers know of: a fence behind the barrier is none for them. A store
// that arrives later than its issuer's next fence is fenced by those who have waited for it.
void check_proxy(const Block& block, const Cell& cell, size_t byte, const AsyncRead& read) {
  if (cell.proxy == Proxy::async) return;
  const unsigned thread = cell.writer % block_dim.x, rank = cell.writer / block_dim.x;
  if (cell.proxy == Proxy::delivered) {
    if (known(read.threads, cell.writer, &Thread::behind_proxy_fence) < cell.write_time)
      fail("shared memory byte %zu: %s reads what an asynchronous store of thread %u of block %u in its cluster wrote, and not every thread "
           "that issues it has executed fence.proxy.async after it waited for the store",
           byte, name_of(read.agent), thread, rank);
    return;
  }
  const std::vector<uint32_t>& fences = block.cluster->blocks[rank]->threads[thread].proxy_fences;
  const auto first = std::lower_bound(fences.begin(), fences.end(), cell.write_time);
  if (first == fences.end() || known(read.threads, cell.writer) <= *first)
    fail("shared memory byte %zu: %s reads what thread %u of block %u in its cluster wrote, and that thread executed no fence.proxy.async "
         "between the write and the barrier behind it",
         byte, name_of(read.agent), thread, rank);
}

}  // namespace

// Two fences of a thread, and what it writes before and behind one, differ in its own time.
void fence_proxy_async() {
  current->proxy_fences.push_back(current->clock[number_of(*current)]);
  current->behind_proxy_fence = current->clock;
  tick(*current);
}

void fence_proxy_async_global() { current->global_proxy_fence = ++events; }

unsigned place_in_clocks(const Warp& warp, Agent agent) {
  const Block& block = *warp.block;
  const auto threads = static_cast<unsigned>(block.cluster->blocks.size()) * block_dim.x;
  const unsigned number = block.rank * (block_dim.x / 32) + static_cast<unsigned>(&warp - block.warps.data());
  return threads + agents * number + static_cast<unsigned>(agent);
}

void know(Clock& clock, unsigned place, uint32_t time) {
  if (clock.size() <= place) clock.resize(place + 1);
  clock[place] = std::max(clock[place], time);
}

// Noted once: until a thread waits, nobody's clock has this time at the agent's place, so every write is a race.
void note_async_read(Block& block, size_t offset, size_t bytes, const AsyncRead& read) {
  const Cell* last = nullptr;
  visit_cells(block, offset, bytes, [&](Cell& cell, size_t byte) {
    const bool same = last && last->writer == cell.writer && last->write_time == cell.write_time && last->proxy == cell.proxy;
    if (cell.written && !same) {
      if (cell.write_time == unfinished || known(read.threads, cell.writer) < cell.write_time)
        report(block, byte, "reads", cell.writer, "writes");
      check_proxy(block, cell, byte, read);
      last = &cell;
    }
    for (unsigned warp = 0; warp < read.count; warp++) note_reader(cell, place_in_clocks(read.warps[warp], read.agent), read.time);
  });
}

// The issuer, too, must wait for it: the writer is the agent.
void note_load(Block& block, size_t offset, size_t bytes) {
  const unsigned place = place_in_clocks(*current->warp, Agent::load);
  visit_cells(block, offset, bytes, [&](Cell& cell, size_t byte) {
    check(block, cell, byte, nobody, current->clock, true);
    cell.written = true;
    cell.proxy = Proxy::async;
    cell.writer = place;
    cell.write_time = unfinished;
    cell.readers.clear();
  });
}

void note_load_done(Block& block, size_t offset, size_t bytes, unsigned place, uint32_t time) {
  visit_cells(block, offset, bytes, [&](Cell& cell, size_t) {
    if (cell.writer == place && cell.write_time == unfinished) cell.write_time = time;
  });
}

}  // namespace emulator
