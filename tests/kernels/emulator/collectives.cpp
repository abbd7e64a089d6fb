// What the lanes of a warp, the threads of a block and the blocks of a cluster do together.
#include <cmath>
#include <cstring>

#include "fibers.hpp"

namespace emulator {

void collective(const char* what, void* operand, Execute execute, unsigned mask) {
  current->meetings++;
  Warp& warp = *current->warp;
  const unsigned lane = current->index.x % 32;
  if (!(mask >> lane & 1)) fail("%s with a mask that leaves this lane out", what);
  if (!warp.arrived) {
    warp.what = what;
    warp.execute = execute;
    warp.mask = mask;
  } else if (warp.execute != execute || std::strcmp(warp.what, what) || warp.mask != mask) {
    fail("comes to %s while other lanes of its warp wait in %s", what, warp.what);
  }
  warp.operands[lane] = operand;
  warp.waiting[lane] = current;
  warp.arrived |= 1u << lane;
  if (warp.arrived != mask) {
    suspend(what);
    return;
  }
  warp.arrived = 0;
  warp.collectives++;
  events++;
  execute(warp.operands);
  for (unsigned other = 0; other < 32; other++)
    if (mask >> other & 1 && other != lane) make_ready(warp.waiting[other]);
  give_way();
}

namespace {

void execute_synchronization(void* const (&operands)[32]) {
  Clock clock;
  const unsigned mask = current->warp->mask;
  for (unsigned lane = 0; lane < 32; lane++)
    if (mask >> lane & 1) join(clock, static_cast<Thread*>(operands[lane])->clock);
  for (unsigned lane = 0; lane < 32; lane++) {
    if (!(mask >> lane & 1)) continue;
    Thread& thread = *static_cast<Thread*>(operands[lane]);
    thread.clock = clock;
    tick(thread);
  }
}

struct Shuffle {
  unsigned value, result;
  int source;
};

void execute_shuffle(void* const (&operands)[32]) {
  const unsigned mask = current->warp->mask;
  for (unsigned lane = 0; lane < 32; lane++) {
    if (!(mask >> lane & 1)) continue;
    Shuffle& own = *static_cast<Shuffle*>(operands[lane]);
    if (!(mask >> own.source & 1)) fail("a shuffle reads lane %d, which does not take part", own.source);
    own.result = static_cast<Shuffle*>(operands[own.source])->value;
  }
}

struct Vote {
  bool own, result;
};

void execute_vote(void* const (&operands)[32]) {
  const unsigned mask = current->warp->mask;
  bool found = false;
  for (unsigned lane = 0; lane < 32; lane++)
    if (mask >> lane & 1) found |= static_cast<Vote*>(operands[lane])->own;
  for (unsigned lane = 0; lane < 32; lane++)
    if (mask >> lane & 1) static_cast<Vote*>(operands[lane])->result = found;
}

void arrive(ThreadBarrier& barrier, unsigned threads, bool waits, const char* what) {
  current->meetings++;
  if (barrier.arrived && barrier.threads != threads) fail("%s with %u threads, others with %u", what, threads, barrier.threads);
  barrier.threads = threads;
  events++;
  join(barrier.clock, current->clock);
  tick(*current);
  if (waits) barrier.waiting.push_back(current);
  if (++barrier.arrived == threads) {
    barrier.arrived = 0;
    for (Thread* thread : barrier.waiting) {
      join(thread->clock, barrier.clock);
      make_ready(thread);
    }
    barrier.waiting.clear();
    barrier.clock.clear();
    current->warp->block->barriers_passed++;
  }
  if (waits) suspend(what);  // whoever completes the barrier is ready already, like the others
}

}  // namespace

void synchronize_warp(unsigned mask) { collective("__syncwarp", current, execute_synchronization, mask); }

unsigned shuffle(unsigned mask, unsigned value, int source) {
  Shuffle own{value, 0, source};
  collective("shfl", &own, execute_shuffle, mask);
  return own.result;
}

// A vote is no memory barrier.
bool any(unsigned mask, bool own) {
  Vote vote{own, false};
  collective("vote", &vote, execute_vote, mask);
  return vote.result;
}

void block_barrier(unsigned number, unsigned threads, bool waits) {
  static const char* const names[16] = {"barrier 0",  "barrier 1",  "barrier 2",  "barrier 3", "barrier 4",  "barrier 5",
                                        "barrier 6",  "barrier 7",  "barrier 8",  "barrier 9", "barrier 10", "barrier 11",
                                        "barrier 12", "barrier 13", "barrier 14", "barrier 15"};
  if (number > 15 || threads % 32 || threads > block_dim.x) fail("barrier %u of %u threads", number, threads);
  arrive(current->warp->block->barriers[number], threads, waits, names[number]);
}

void cluster_barrier() {
  Cluster& cluster = *current->warp->block->cluster;
  arrive(cluster.barrier, static_cast<unsigned>(cluster.blocks.size()) * block_dim.x, true, "the cluster's barrier");
}

unsigned cluster_rank() { return current->warp->block->rank; }

}  // namespace emulator
