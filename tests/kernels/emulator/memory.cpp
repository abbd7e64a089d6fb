// Shared and device memory, and everything that arrives later than it was asked for.
#include <cstring>
#include <sys/mman.h>

#include "fibers.hpp"

namespace emulator {

namespace {

constexpr size_t page = 4096;
constexpr unsigned char margin = 0xa5;
constexpr unsigned char barrier_stamp = 0x6b;  // fills a transaction barrier's 8 bytes, which no kernel may write
constexpr size_t most_deliveries = 512;
std::vector<Delivery> deliveries;
std::unordered_multimap<uintptr_t, Thread*> pollers;  // by 16-byte line
std::unordered_map<uintptr_t, unsigned long> stored;  // the same: the event of the last store

TransactionBarrier& barrier_at(Block& block, uint32_t address) {
  const auto found = block.transactions.find(address & 0xffffffu);
  if (found == block.transactions.end()) fail("there is no transaction barrier at byte %u of block %u", address & 0xffffffu, block.index.x);
  for (int i = 0; i < 8; i++)
    if (block.shared[found->first + i] != barrier_stamp) fail("the transaction barrier at byte %u was overwritten", found->first);
  return found->second;
}

void complete_if_all_is_there(TransactionBarrier& barrier) {
  events++;
  if (barrier.left || barrier.bytes) return;
  barrier.phase++;
  join(barrier.completed, barrier.arriving);
  barrier.arriving.clear();
  barrier.left = barrier.expected;
  for (Thread* thread : barrier.waiting) make_ready(thread);
  barrier.waiting.clear();
}

void note_arrival(const Delivery& delivery) {
  const auto offset = static_cast<size_t>(delivery.target - delivery.block->shared);
  if (delivery.way == Way::bulk_load)
    note_load_done(*delivery.block, offset, delivery.bytes, place_in_clocks(*delivery.issuer->warp, Agent::load), delivery.time);
  else
    note_write(*delivery.block, offset, delivery.bytes, *delivery.issuer, delivery.clock, true, Proxy::delivered);
}

void complete(size_t index) {
  // The oldest of those that touch the same bytes: stores to one place keep their order.
  size_t oldest = 0;
  const Delivery& chosen = deliveries[index];
  while (oldest < index && (deliveries[oldest].target + deliveries[oldest].bytes <= chosen.target ||
                            chosen.target + chosen.bytes <= deliveries[oldest].target))
    oldest++;
  const Delivery delivery = std::move(deliveries[oldest]);
  deliveries.erase(deliveries.begin() + static_cast<long>(oldest));
  events++;
  const bool bulk = delivery.way == Way::bulk_load || delivery.way == Way::bulk_store;
  const unsigned char* const data = !bulk ? delivery.data : delivery.source ? delivery.source : delivery.copied.data();
  if (!delivery.block) {
    std::memcpy(delivery.target, data, delivery.bytes);
    if (!bulk) stored[reinterpret_cast<uintptr_t>(delivery.target) / 16] = events;
    for (unsigned byte = 0; byte < delivery.bytes; byte += 16) wake_line(delivery.target + byte);
    return;
  }
  if (!delivery.block->running) fail("a store arrives at block %u, which has ended", delivery.block->index.x);
  note_arrival(delivery);
  std::memcpy(delivery.target, data, delivery.bytes);
  TransactionBarrier& barrier = barrier_at(*delivery.block, delivery.barrier);
  join(barrier.arriving, delivery.clock);
  barrier.bytes -= delivery.bytes;
  complete_if_all_is_there(barrier);
}

void perform(const PendingCopy& copy) {
  unsigned char* const target = current->warp->block->shared + copy.target;
  std::memcpy(target, copy.source, copy.source_bytes);
  std::memset(target + copy.source_bytes, 0, copy.bytes - copy.source_bytes);
}

}  // namespace

Block& block_of(uint32_t address) {
  Block& own = *current->warp->block;
  const unsigned rank = address >> 24;
  if (!rank) return own;
  if (rank > own.cluster->blocks.size()) fail("shared address %#x lies in no block of the cluster", address);
  return *own.cluster->blocks[rank - 1];
}

void check_shared(uint32_t address, size_t bytes, size_t alignment) {
  const size_t offset = address & 0xffffffu;
  if (offset + bytes > shared_memory_bytes) fail("shared memory access at byte %zu of %u", offset, shared_memory_bytes);
  if (offset % alignment) fail("shared memory access of %zu bytes at byte %zu is not aligned", bytes, offset);
}

void send(Delivery&& delivery) {
  deliveries.push_back(std::move(delivery));
  if (deliveries.size() > most_deliveries) complete(0);
}

void complete_deliveries(const Chosen& chosen) {
  for (size_t i = 0; i < deliveries.size();)
    if (chosen(deliveries[i])) {
      complete(i);  // or an older one to the same place: once more from the start
      i = 0;
    } else {
      i++;
    }
}

void read_deliveries(const Chosen& chosen) {
  for (Delivery& delivery : deliveries)
    if (chosen(delivery)) delivery.read();
}

Fenced::Fenced(size_t size, bool at_end) : bytes(size), inner((size + page) / page * page) {
  pages = static_cast<unsigned char*>(mmap(nullptr, inner + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  if (pages == MAP_FAILED || mprotect(pages + page, inner, PROT_READ | PROT_WRITE)) fail("no memory for %zu bytes", size);
  std::memset(pages + page, margin, inner);
  const size_t offset = at_end ? (inner - size) / 128 * 128 : 0;
  data = pages + page + offset;
}

Fenced::~Fenced() { munmap(pages, inner + 2 * page); }

void Fenced::make_read_only() { mprotect(pages + page, inner, PROT_READ); }

bool Fenced::margins_untouched() const {
  for (const unsigned char* byte = pages + page; byte < pages + page + inner; byte++)
    if ((byte < data || byte >= data + bytes) && *byte != margin) return false;
  return true;
}

void* dynamic_shared_memory() { return current->warp->block->shared; }

uint32_t shared_offset(const void* pointer) {
  const auto* const byte = static_cast<const unsigned char*>(pointer);
  const unsigned char* const shared = current->warp->block->shared;
  if (byte < shared || byte > shared + shared_memory_bytes) fail("the shared address of a pointer that is not to shared memory");
  return static_cast<uint32_t>(byte - shared);
}

uint32_t shared_in_block(uint32_t address, unsigned rank) {
  if (rank >= current->warp->block->cluster->blocks.size()) fail("a cluster address in block %u, which does not exist", rank);
  return (address & 0xffffffu) | (rank + 1) << 24;
}

const void* shared_source(uint32_t address, size_t bytes) {
  check_shared(address, bytes, bytes);
  note_read(block_of(address), address & 0xffffffu, bytes);
  return block_of(address).shared + (address & 0xffffffu);
}

void* shared_target(uint32_t address, size_t bytes) {
  check_shared(address, bytes, bytes);
  note_write(block_of(address), address & 0xffffffu, bytes, *current, current->clock, true);
  return block_of(address).shared + (address & 0xffffffu);
}

void copy_async(uint32_t target, const void* source, unsigned bytes, unsigned source_bytes) {
  if (source_bytes && reinterpret_cast<uintptr_t>(source) % bytes) fail("cp.async of %u bytes from an address that is not aligned", bytes);
  check_shared(target, bytes, bytes);
  if (target >> 24) fail("cp.async to another block");
  note_write(*current->warp->block, target, bytes, *current, current->clock, false);
  const PendingCopy copy{target, source, bytes, source_bytes, current->copy_group, one_in(2)};
  if (copy.performed) perform(copy);
  current->copies.push_back(copy);
}

void commit_copies() { current->copy_group++; }

void wait_copies(int newer) {
  std::vector<PendingCopy> left;
  for (const PendingCopy& copy : current->copies)
    if (static_cast<int>(copy.group) < static_cast<int>(current->copy_group) - newer) {
      if (!copy.performed) perform(copy);
      note_copy_done(*current->warp->block, copy.target, copy.bytes);
    } else {
      left.push_back(copy);
    }
  current->copies.swap(left);
}

void barrier_initialize(uint32_t address, unsigned arrivals) {
  std::memset(shared_target(address, 8), barrier_stamp, 8);
  TransactionBarrier& barrier = block_of(address).transactions[address & 0xffffffu];
  if (!barrier.waiting.empty()) fail("a transaction barrier is initialized while threads wait for it");
  barrier = {};
  barrier.expected = barrier.left = arrivals;
}

void barrier_arrive(uint32_t address, unsigned expected_bytes) {
  Block& block = block_of(address);
  if (!block.running) fail("an arrival at a barrier of block %u, which has ended", block.index.x);
  TransactionBarrier& barrier = barrier_at(block, address);
  if (!barrier.left) fail("more arrivals at a transaction barrier than it was initialized for");
  barrier.bytes += expected_bytes;
  barrier.left--;
  join(barrier.arriving, current->clock);
  tick(*current);
  complete_if_all_is_there(barrier);
}

void barrier_wait(uint32_t address, unsigned parity) {
  TransactionBarrier& barrier = barrier_at(block_of(address), address);
  while (barrier.phase % 2 == parity) {
    barrier.waiting.push_back(current);
    suspend("a transaction barrier");
  }
  if (!barrier.completed.empty()) join(current->clock, barrier.completed);
  events++;
}

void store_async(uint32_t target, const void* data, unsigned bytes, uint32_t barrier) {
  Delivery delivery{};
  std::memcpy(delivery.data, data, bytes);
  delivery.bytes = bytes;
  check_shared(target, bytes, bytes);
  delivery.way = Way::store_async;
  delivery.block = &block_of(target);
  delivery.target = delivery.block->shared + (target & 0xffffffu);
  delivery.issuer = current;
  delivery.clock = current->clock;
  tick(*current);
  delivery.barrier = barrier;
  if (&block_of(barrier) != delivery.block) fail("a store to block %u reports to a barrier elsewhere", delivery.block->index.x);
  send(std::move(delivery));
}

void store_relaxed(void* target, const void* data, unsigned bytes) {
  if (reinterpret_cast<uintptr_t>(target) % bytes) fail("a store of %u bytes that is not aligned", bytes);
  auto* const place = static_cast<volatile unsigned char*>(target);
  *place = *place;  // an address outside the arrays is the issuer's fault: find it now
  Delivery delivery{};
  std::memcpy(delivery.data, data, bytes);
  delivery.bytes = bytes;
  delivery.target = static_cast<unsigned char*>(target);
  delivery.issuer = current;
  delivery.barriers_passed = current->warp->block->barriers_passed;
  delivery.collectives = current->warp->collectives;
  send(std::move(delivery));
}

void load_relaxed(void* data, const void* source, unsigned bytes) {
  if (reinterpret_cast<uintptr_t>(source) % bytes) fail("a load of %u bytes that is not aligned", bytes);
  if (one_in(16)) give_way();
  deliver_own(source, bytes);
  RecentLoad& recent = current->recent[reinterpret_cast<uintptr_t>(source) / 16 % 64];
  // Polling: the same again, and nothing met in between.
  if (recent.address == source && recent.meetings == current->meetings && !std::memcmp(recent.value, source, bytes)) {
    pollers.emplace(reinterpret_cast<uintptr_t>(source) / 16, current);
    suspend("a word of device memory to change");
  } else {
    events++;
  }
  recent.address = source;
  recent.meetings = current->meetings;
  std::memcpy(recent.value, source, bytes);
  std::memcpy(data, source, bytes);
}

// Orders this thread's stores, and those of its warp and block that a barrier put before it.
void fence() {
  const Warp& warp = *current->warp;
  complete_deliveries([&warp](const Delivery& delivery) {
    const Thread* const issuer = delivery.issuer;
    return delivery.way == Way::store && (issuer == current || (issuer->warp == &warp && delivery.collectives < warp.collectives) ||
                                          (issuer->warp->block == warp.block && delivery.barriers_passed < warp.block->barriers_passed));
  });
}

namespace {

// What is released is there at once: later than a fence, and than what this block has on its way to the same place.
void release(unsigned* target, unsigned value, bool add) {
  if (reinterpret_cast<uintptr_t>(target) % 4) fail("a release of 4 bytes that is not aligned");
  fence();
  deliver_own(target, 4);
  *target = add ? *target + value : value;
  events++;
  wake_line(target);
}

}  // namespace

void add_released(unsigned* target, unsigned value) { release(target, value, true); }

unsigned add_relaxed(unsigned* target, unsigned value) {
  if (reinterpret_cast<uintptr_t>(target) % 4) fail("an atomic addition to 4 bytes that is not aligned");
  deliver_own(target, 4);
  const unsigned before = *target;
  *target = before + value;
  events++;
  wake_line(target);
  return before;
}

void store_released(unsigned* target, unsigned value) { release(target, value, false); }

void deliver_own(const void* address, unsigned bytes) {
  const auto* const from = static_cast<const unsigned char*>(address);
  for (size_t i = 0; i < deliveries.size(); i++) {
    const Delivery& delivery = deliveries[i];
    if (delivery.issuer->warp->block == current->warp->block && delivery.way == Way::store && delivery.target < from + bytes &&
        from < delivery.target + delivery.bytes) {
      complete(i);
      i = static_cast<size_t>(-1);
    }
  }
}

bool deliver_any() {
  if (deliveries.empty()) return false;
  complete(draw() % deliveries.size());
  return true;
}

void wake_line(const void* address) {
  const auto [first, last] = pollers.equal_range(reinterpret_cast<uintptr_t>(address) / 16);
  for (auto entry = first; entry != last; ++entry) make_ready(entry->second);
  pollers.erase(first, last);
}

unsigned long stored_at(const unsigned char* address) {
  const auto found = stored.find(reinterpret_cast<uintptr_t>(address) / 16);
  return found == stored.end() ? 0 : found->second;
}

bool wake_pollers() {
  if (pollers.empty()) return false;
  for (const auto& entry : pollers) make_ready(entry.second);
  pollers.clear();
  return true;
}

}  // namespace emulator
