// Bulk copies between device and shared memory. Like stores, they are deliveries on their way; what they copy they read when they are
// issued or when they arrive. Fences order none of them: a transaction barrier or bulk groups do.
#include <algorithm>

#include "fibers.hpp"

namespace emulator {

namespace {

void check_bulk(const void* global, unsigned bytes) {
  if (!bytes || bytes % 16) fail("a bulk copy of %u bytes, which is no multiple of 16", bytes);
  if (reinterpret_cast<uintptr_t>(global) % 16) fail("a bulk copy whose address in device memory is not aligned to 16 bytes");
}

// A copy may arrive in pieces.
void send_in_pieces(const Delivery& whole) {
  for (unsigned sent = 0; sent < whole.bytes;) {
    Delivery piece = whole;
    const unsigned left = whole.bytes - sent;
    piece.bytes = one_in(2) ? left : 16 * (1 + draw() % (left / 16));
    piece.target += sent;
    piece.source += sent;
    if (one_in(2)) piece.read();
    sent += piece.bytes;
    send(std::move(piece));
  }
}

// The number of the newest copy that is so old that only `newer` groups came later, or 0.
uint32_t newest_of_groups(int newer) {
  const std::vector<uint32_t>& groups = current->store_groups;
  if (newer < 0) fail("cp.async.bulk.wait_group %d", newer);
  const auto later = static_cast<size_t>(newer);
  return groups.size() > later ? groups[groups.size() - 1 - later] : 0;
}

bool is_own_store(const Delivery& delivery, uint32_t newest) {
  return delivery.way == Way::bulk_store && delivery.issuer == current && delivery.time <= newest;
}

}  // namespace

void Delivery::read() {
  if (!source) return;
  copied.assign(source, source + bytes);
  source = nullptr;
}

void load_bulk(uint32_t target, const void* source, unsigned bytes, uint32_t barrier) {
  check_bulk(source, bytes);
  check_shared(target, bytes, 16);
  Delivery delivery{};
  delivery.way = Way::bulk_load;
  delivery.bytes = bytes;
  delivery.block = &block_of(target);
  delivery.target = delivery.block->shared + (target & 0xffffffu);
  delivery.source = static_cast<const unsigned char*>(source);
  // An address outside the arrays is the issuer's fault: find it now.
  static_cast<void>(static_cast<const volatile unsigned char*>(delivery.source)[0]);
  static_cast<void>(static_cast<const volatile unsigned char*>(delivery.source)[bytes - 1]);
  for (unsigned byte = 0; byte < bytes; byte += 16)
    if (stored_at(delivery.source + byte) > current->global_proxy_fence)
      fail("a bulk copy reads device memory that a store of this launch wrote, and its thread executed no fence.proxy.async.global since");
  delivery.issuer = current;
  delivery.barrier = barrier;
  if (&block_of(barrier) != delivery.block) fail("a bulk copy to block %u reports to a barrier elsewhere", delivery.block->index.x);
  note_load(*delivery.block, target & 0xffffffu, bytes);
  // Who waits for the barrier knows of the copy, not of what its issuer did before.
  delivery.time = ++current->warp->started[static_cast<int>(Agent::load)];
  know(delivery.clock, place_in_clocks(*current->warp, Agent::load), delivery.time);
  send_in_pieces(delivery);
}

void store_bulk(void* target, uint32_t source, unsigned bytes) {
  check_bulk(target, bytes);
  check_shared(source, bytes, 16);
  if (source >> 24) fail("a bulk copy from another block to device memory");
  Warp& warp = *current->warp;
  Delivery delivery{};
  delivery.way = Way::bulk_store;
  delivery.bytes = bytes;
  delivery.target = static_cast<unsigned char*>(target);
  for (volatile unsigned char* place : {delivery.target, delivery.target + bytes - 1}) *place = *place;
  delivery.source = warp.block->shared + source;
  delivery.issuer = current;
  delivery.time = ++warp.started[static_cast<int>(Agent::store)];
  note_async_read(*warp.block, source, bytes, {&warp, 1, Agent::store, delivery.time, {current}});
  current->newest_store = delivery.time;
  send_in_pieces(delivery);
}

void commit_bulk() { current->store_groups.push_back(current->newest_store); }

// Behind a wait for reads alone the stores may still be on their way, the shared memory that they copy is free.
void wait_bulk(int newer, bool only_reads) {
  while (one_in(2)) deliver_any();  // a wait takes its time, in which copies arrive
  const uint32_t newest = newest_of_groups(newer);
  if (only_reads)
    read_deliveries([newest](const Delivery& delivery) { return is_own_store(delivery, newest); });
  else
    complete_deliveries([newest](const Delivery& delivery) { return is_own_store(delivery, newest); });
  current->newest_store_read = std::max(current->newest_store_read, newest);
  know(current->clock, place_in_clocks(*current->warp, Agent::store), newest);
  events++;
}

}  // namespace emulator
