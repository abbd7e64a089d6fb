// Products of warpgroups (wgmma): four warps come to each, which is done at once for all; that it goes on until it was waited for shows in
// the clocks, and in accumulators, which hold a mark until then.
#include <cmath>
#include <cstring>

#include "fibers.hpp"

namespace emulator {

struct Issue {
  const ProductShape& shape;
  const ProductOperands& operands;
  Thread* thread;
};

namespace {

constexpr unsigned mark = 0x7fa0a5c3u;  // a signalling NaN: no computation gives it, and whatever is computed with it differs
constexpr unsigned long long all_of_descriptor = 0x00003fff3fff3fffull;
constexpr int rows = 64, depth = 16;

struct Matrices {
  float a[rows][depth], b[64][depth];  // b: by column of the product
};

bool marked(const float* accumulator) { return !std::memcmp(accumulator, &mark, 4); }

float element_of(const ProductShape& shape, unsigned short bits) { return shape.bfloat16 ? from_bfloat16(bits) : from_float16(bits); }

Warpgroup& group_of(Warp& warp) {
  Block& block = *warp.block;
  const size_t number = static_cast<size_t>(&warp - block.warps.data()) / 4;
  if (4 * number + 4 > block.warps.size()) fail("wgmma in a warp that is not one of four of a warpgroup");
  if (block.warpgroups.empty()) block.warpgroups.resize(block.warps.size() / 4);
  return block.warpgroups[number];
}

// 16 bytes of a row, half a row of 16 elements.
void read_piece(float* elements, uint32_t address, const ProductShape& shape, const AsyncRead& read) {
  Block& block = *read.warps->block;
  check_shared(address, 16, 16);
  note_async_read(block, address, 16, read);
  unsigned short bits[8];
  std::memcpy(bits, block.shared + address, 16);
  for (int k = 0; k < 8; k++) elements[k] = element_of(shape, bits[k]);
}

// `extent` rows of 16 elements. Without swizzle they lie in pieces of 8 rows of 16 bytes; with that of 32 bytes in pieces of 8 rows of 32,
// bit 4 of whose addresses is changed by bit 7.
void read_matrix(float (*matrix)[depth], int extent, unsigned long long descriptor, const ProductShape& shape, const AsyncRead& read) {
  const auto field = [descriptor](int first_bit) { return static_cast<uint32_t>(descriptor >> first_bit & 0x3fff) << 4; };
  const auto swizzle = static_cast<int>(descriptor >> 62);
  if (swizzle && swizzle != 3) fail("the matrix descriptor %#llx asks for a swizzle that is not emulated", descriptor);
  if (descriptor & ~(all_of_descriptor | 3ull << 62)) fail("the matrix descriptor %#llx has bits that must be 0", descriptor);
  if (swizzle && (field(0) | field(32)) % 256) fail("the matrix descriptor %#llx swizzles what is not aligned to 256 bytes", descriptor);
  for (int row = 0; row < extent; row++)
    for (int half = 0; half < 2; half++) {
      const uint32_t rows_before = field(0) + static_cast<uint32_t>(row / 8) * field(32);
      const auto of_eight = static_cast<uint32_t>(row % 8), of_two = static_cast<uint32_t>(half);
      const uint32_t plain = rows_before + of_two * field(16) + of_eight * 16;
      const uint32_t swizzled = rows_before + of_eight * 32 + (of_two ^ of_eight / 4) * 16;
      read_piece(matrix[row] + 8 * half, swizzle ? swizzled : plain, shape, read);
    }
}

// Each warp holds 16 rows, as for mma.m16n8k16.
void gather_rows(Matrices& matrices, const Warpgroup& group) {
  for (unsigned i = 0; i < 128; i++) {
    const Issue& issue = *group.issues[i];
    const unsigned row = i / 32 * 16 + i % 32 / 4, quad = i % 4;
    for (unsigned word = 0; word < 4; word++)
      for (unsigned half = 0; half < 2; half++)
        matrices.a[row + word % 2 * 8][word / 2 * 8 + 2 * quad + half] =
            element_of(issue.shape, static_cast<unsigned short>(issue.operands.a[word] >> 16 * half));
  }
}

// The accumulators' place among those of products on their way: a product may add to another of the same shape.
PendingTile& tile_of(const Issue& issue) {
  const int count = issue.shape.n / 2;
  float* const* const places = issue.operands.accumulators;
  for (PendingTile& tile : issue.thread->tiles)
    if (tile.places[0] == places[0] && tile.count == count && !std::memcmp(tile.places, places, static_cast<size_t>(count) * sizeof *places))
      return tile;
  PendingTile tile{};
  tile.count = count;
  for (int i = 0; i < count; i++) {
    if (marked(places[i])) fail("wgmma takes accumulators of another one, which was not waited for and has others besides");
    tile.places[i] = places[i];
    tile.values[i] = *places[i];
  }
  issue.thread->tiles.push_back(tile);
  return issue.thread->tiles.back();
}

void multiply(const Matrices& matrices, const Issue& issue, unsigned place, uint32_t number) {
  PendingTile& tile = tile_of(issue);
  tile.product = number;
  for (int i = 0; i < tile.count; i++) {
    const unsigned row = place / 32 * 16 + place % 32 / 4 + static_cast<unsigned>(i) / 2 % 2 * 8;
    const unsigned column = static_cast<unsigned>(i) / 4 * 8 + place % 4 * 2 + static_cast<unsigned>(i) % 2;
    double sum = issue.operands.adds ? tile.values[i] : 0.0;
    for (int k = 0; k < depth; k++) sum += static_cast<double>(matrices.a[row][k]) * matrices.b[column][k];
    tile.values[i] = truncated(sum);
    std::memcpy(tile.places[i], &mark, 4);
  }
}

void check_alike(const Warpgroup& group) {
  const Issue& first = *group.issues[0];
  for (const Issue* issue : group.issues) {
    const ProductShape &one = first.shape, &other = issue->shape;
    if (one.n != other.n || one.bfloat16 != other.bfloat16 || one.a_in_registers != other.a_in_registers)
      fail("threads of a warpgroup come to different wgmma: m64n%dk16 and m64n%dk16, or of other types", one.n, other.n);
    if (first.operands.b_descriptor != issue->operands.b_descriptor || first.operands.a_descriptor != issue->operands.a_descriptor)
      fail("threads of a warpgroup give wgmma different matrix descriptors");
    if (first.operands.adds != issue->operands.adds) fail("some threads of a warpgroup want wgmma to add to its accumulators, some do not");
  }
}

void execute(const Warpgroup& group, const Warp* warps, uint32_t number) {
  check_alike(group);
  AsyncRead read{warps, 4, Agent::product, number, {}};
  for (const Issue* issue : group.issues) read.threads.push_back(issue->thread);
  Matrices matrices;
  const Issue& first = *group.issues[0];
  read_matrix(matrices.b, first.shape.n, first.operands.b_descriptor, first.shape, read);
  if (first.shape.a_in_registers)
    gather_rows(matrices, group);
  else
    read_matrix(matrices.a, rows, first.operands.a_descriptor, first.shape, read);
  for (unsigned i = 0; i < 128; i++) multiply(matrices, *group.issues[i], i, number);
}

// The warp is here; with the last of the four, the product is done.
void gather(void* const (&operands)[32]) {
  Warp& warp = *current->warp;
  if (!warp.products.fenced) fail("wgmma without wgmma.fence since the kernel's start or the last wgmma.wait_group");
  Warpgroup& group = group_of(warp);
  const auto place = static_cast<unsigned>(&warp - warp.block->warps.data()) % 4;
  for (unsigned lane = 0; lane < 32; lane++) group.issues[32 * place + lane] = static_cast<Issue*>(operands[lane]);
  warp.started[static_cast<int>(Agent::product)]++;
  group.arrived |= 1u << place;
  if (group.arrived != 15) return;
  group.arrived = 0;
  execute(group, &warp - place, ++group.executed);
  for (Thread* thread : group.waiting) make_ready(thread);
  group.waiting.clear();
}

void execute_fence(void* const (&)[32]) { current->warp->products.fenced = true; }

void execute_commit(void* const (&)[32]) {
  Warp& warp = *current->warp;
  warp.products.groups.push_back(warp.started[static_cast<int>(Agent::product)]);
}

void finish_tiles(Thread& thread, uint32_t waited) {
  std::vector<PendingTile> left;
  for (const PendingTile& tile : thread.tiles) {
    for (int i = 0; i < tile.count; i++)
      if (!marked(tile.places[i])) fail("an accumulator of a wgmma was changed or moved before the wgmma was waited for");
    if (tile.product > waited) {
      left.push_back(tile);
      continue;
    }
    for (int i = 0; i < tile.count; i++) *tile.places[i] = tile.values[i];
  }
  thread.tiles.swap(left);
}

struct Wait {
  Thread* thread;
  int newer;
};

void execute_wait(void* const (&operands)[32]) {
  Warp& warp = *current->warp;
  Products& products = warp.products;
  const int newer = static_cast<Wait*>(operands[0])->newer;
  if (newer < 0) fail("wgmma.wait_group %d", newer);
  while (products.groups.size() > static_cast<size_t>(newer)) {
    products.waited = products.groups.front();
    products.groups.erase(products.groups.begin());
  }
  products.fenced = false;
  for (void* operand : operands) {
    Thread& thread = *static_cast<Wait*>(operand)->thread;
    finish_tiles(thread, products.waited);
    know(thread.clock, place_in_clocks(warp, Agent::product), products.waited);
  }
}

}  // namespace

void multiply_warpgroup(const ProductShape& shape, const ProductOperands& operands) {
  Issue issue{shape, operands, current};
  Warp& warp = *current->warp;
  Warpgroup& group = group_of(warp);
  collective("wgmma", &issue, gather);
  const uint32_t number = warp.started[static_cast<int>(Agent::product)];  // its warp issues no other before all its lanes went on
  while (group.executed < number) {
    group.waiting.push_back(current);
    suspend("the other warps of its warpgroup, in wgmma");
  }
}

void fence_products() { collective("wgmma.fence", nullptr, execute_fence); }

void commit_products() { collective("wgmma.commit_group", nullptr, execute_commit); }

void wait_products(int newer) {
  Wait wait{current, newer};
  collective("wgmma.wait_group", &wait, execute_wait);
}

}  // namespace emulator
