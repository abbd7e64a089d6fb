// Threads, warps, blocks and who runs next: the inside of the machine.
#pragma once
#include <csetjmp>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <ucontext.h>
#include <unordered_map>
#include <vector>

#include "machine.hpp"

namespace emulator {

struct Thread;
struct Warp;
struct Block;
struct Cluster;
struct Machine;

// A clock for each thread of a cluster: what happened there before. Behind the threads' places, if they are needed, those of agents.
using Clock = std::vector<uint32_t>;

// What reads and writes shared memory besides threads: the operations of each kind that a warp has started, numbered from 1. A thread
// that has waited for one has its number in its clock.
enum class Agent { product, load, store };
constexpr unsigned agents = 3;

// How a write went, for readers by the async proxy: with a fence of the writer, with one of the readers, or without any.
enum class Proxy : unsigned char { generic, delivered, async };

struct PendingCopy {
  uint32_t target;
  const void* source;
  unsigned bytes, source_bytes, group;
  bool performed;
};

// What is known of two bytes of shared memory: the last write, and the reads since.
struct Cell {
  bool written = false;
  Proxy proxy = Proxy::generic;
  unsigned writer = 0;
  uint32_t write_time = 0;
  std::vector<std::pair<unsigned, uint32_t>> readers;
};

struct RecentLoad {
  const void* address = nullptr;
  unsigned long meetings = 0;  // of the thread with others, when it loaded
  unsigned char value[16];
};

// Accumulators of a wgmma on its way
struct PendingTile {
  float* places[32];
  float values[32];
  int count;
  uint32_t product;  // the last that adds to it, by its number
};

// A warp's, by their numbers
struct Products {
  bool fenced = false;           // since the last wait
  std::vector<uint32_t> groups;  // committed and not waited for: the newest of each
  uint32_t waited = 0;
};

struct Issue;

// Four warps, and the threads of those that wait for the others
struct Warpgroup {
  unsigned arrived = 0;  // one bit for each warp
  uint32_t executed = 0;
  Issue* issues[128];
  std::vector<Thread*> waiting;
};

struct Thread {
  jmp_buf resume;
  ucontext_t start;
  void* stack = nullptr;
  Warp* warp = nullptr;
  Index index{};
  bool started = false, finished = false;
  const char* waits_for = nullptr;
  std::vector<PendingCopy> copies;
  unsigned copy_group = 0;
  std::vector<uint32_t> store_groups;                // of bulk copies from shared memory: the newest of each group
  uint32_t newest_store = 0, newest_store_read = 0;  // issued; known to have left shared memory
  Clock clock;
  std::vector<PendingTile> tiles;
  std::vector<uint32_t> proxy_fences;  // its own times of them
  Clock behind_proxy_fence;            // what it knew of at the last
  unsigned long global_proxy_fence = 0;  // when its last one for device memory was, in events
  unsigned long meetings = 0;          // collectives and barriers that it came to
  RecentLoad recent[64];
};

struct Warp {
  Block* block = nullptr;
  std::vector<Thread*> ready;
  bool listed = false;  // among the machine's ready warps
  uint32_t priority = 0;
  // The collective that its lanes are gathering for
  const char* what = nullptr;
  Execute execute = nullptr;
  unsigned mask = 0, arrived = 0;
  void* operands[32] = {};
  Thread* waiting[32] = {};
  unsigned collectives = 0;
  uint32_t started[agents] = {};  // operations of each kind
  Products products;
};

struct ThreadBarrier {
  unsigned arrived = 0, threads = 0;
  std::vector<Thread*> waiting;
  Clock clock;  // of those that have arrived
};

struct TransactionBarrier {
  unsigned expected = 0, left = 0, phase = 0;
  long bytes = 0;
  std::vector<Thread*> waiting;
  Clock arriving, completed;  // of this phase, of those before
};

struct Block {
  Cluster* cluster = nullptr;
  Index index{};
  unsigned rank = 0, running = 0, barriers_passed = 0;
  unsigned char* shared = nullptr;
  std::vector<Cell> cells;
  std::vector<Warp> warps;
  std::vector<Warpgroup> warpgroups;  // when the first wgmma comes
  std::vector<Thread> threads;
  ThreadBarrier barriers[16];
  std::unordered_map<uint32_t, TransactionBarrier> transactions;
};

struct Cluster {
  std::vector<Block*> blocks;
  ThreadBarrier barrier;
};

enum class Way { store, store_async, bulk_load, bulk_store };

// A store or a bulk copy on its way.
struct Delivery {
  Way way;
  unsigned char data[16];             // of a store
  std::vector<unsigned char> copied;  // of a bulk copy that has read …
  const unsigned char* source;        // … or null
  unsigned bytes;
  unsigned char* target;
  const Thread* issuer;
  unsigned barriers_passed, collectives;  // of the issuer's block and warp, when it was issued
  Block* block;                           // whose shared memory it goes to, or null: device memory
  uint32_t barrier;                       // the transaction barrier there
  Clock clock;                            // of the issuer, then; of a bulk copy: that it was
  uint32_t time;                          // a bulk copy's number among its warp's
  void read();                            // now what a bulk copy copies
};

extern Thread* current;
extern std::mt19937 draw;

void suspend(const char* waits_for);  // until make_ready
void make_ready(Thread* thread);
void give_way();                      // stay ready, let others run
inline bool one_in(unsigned n) { return draw() % n == 0; }

// Races (races.cpp)
void join(Clock& into, const Clock& other);
void tick(Thread& thread);  // what the thread does from now on, others have not seen
void start_clock(Thread& thread, unsigned threads_of_cluster);
void note_read(Block& block, size_t offset, size_t bytes);
void note_write(Block& block, size_t offset, size_t bytes, const Thread& by, const Clock& clock, bool finished,
                Proxy proxy = Proxy::generic);
void note_copy_done(Block& block, size_t offset, size_t bytes);

// Races with agents (agents.cpp)
unsigned place_in_clocks(const Warp& warp, Agent agent);
void know(Clock& clock, unsigned place, uint32_t time);
// That of `count` warps from `warps` on, on behalf of `threads`, all of which must know of what is read.
struct AsyncRead {
  const Warp* warps;
  unsigned count;
  Agent agent;
  uint32_t time;
  std::vector<const Thread*> threads;
};
void note_async_read(Block& block, size_t offset, size_t bytes, const AsyncRead& read);
// A bulk copy from its issue by the current thread, and its arrival
void note_load(Block& block, size_t offset, size_t bytes);
void note_load_done(Block& block, size_t offset, size_t bytes, unsigned place, uint32_t time);

// Deliveries (memory.cpp)
Block& block_of(uint32_t address);
void check_shared(uint32_t address, size_t bytes, size_t alignment);
void send(Delivery&& delivery);
using Chosen = std::function<bool(const Delivery&)>;
void complete_deliveries(const Chosen& chosen);
void read_deliveries(const Chosen& chosen);
void deliver_own(const void* address, unsigned bytes);  // what this block has on its way there
bool deliver_any();
void wake_line(const void* address);
bool wake_pollers();
unsigned long stored_at(const unsigned char* address);  // when the last store came to these 16 bytes of device memory, in events; 0: never

struct Launch {
  unsigned blocks, threads, cluster, shared_bytes, seed;
  bool all_resident;
  std::function<void()> kernel;
};
void run_launch(const Launch& launch);
extern unsigned shared_memory_bytes;
extern unsigned long events;  // whatever is progress: what does not change while nobody gets on is a deadlock

// Memory between pages that may not be touched; `at_end` puts the last byte next to one.
class Fenced {
 public:
  Fenced(size_t bytes, bool at_end);
  ~Fenced();
  Fenced(const Fenced&) = delete;
  unsigned char* data;
  void make_read_only();
  bool margins_untouched() const;

 private:
  unsigned char* pages;
  size_t bytes, inner;
};

}  // namespace emulator
