// What races.cpp and agents.cpp share.
#pragma once
#include "fibers.hpp"

namespace emulator {

constexpr uint32_t unfinished = 0xffffffffu;  // the clock of a copy that has not been waited for: nobody has seen it
constexpr unsigned cell_bytes = 2;
constexpr unsigned nobody = 0xffffffffu;

inline unsigned number_of(const Thread& thread) { return thread.warp->block->rank * block_dim.x + thread.index.x; }

// Clocks grow when they meet an agent's place: what lies behind the end was never heard of.
inline uint32_t time_in(const Clock& clock, unsigned place) { return place < clock.size() ? clock[place] : 0; }

[[noreturn]] void report(const Block& block, size_t byte, const char* does, unsigned other, const char* did);

// What `by`, whose clock is `clock`, does with the cell, against what is known of it. Here, to be part of the loops over cells.
inline void check(const Block& block, const Cell& cell, size_t byte, unsigned by, const Clock& clock, bool writes) {
  const char* const does = writes ? "writes" : "reads";
  if (cell.written && cell.writer == by && cell.write_time == unfinished) {
    if (!writes) fail("shared memory byte %zu: it reads what it copies there, and has not waited for the copy", byte);
  } else if (cell.written && cell.writer != by && (cell.write_time == unfinished || time_in(clock, cell.writer) < cell.write_time)) {
    report(block, byte, does, cell.writer, "writes");
  }
  if (!writes) return;
  for (const auto& [reader, time] : cell.readers)
    if (reader != by && time_in(clock, reader) < time) report(block, byte, does, reader, "reads");
}

inline void note_reader(Cell& cell, unsigned by, uint32_t when) {
  for (auto& [reader, time] : cell.readers)
    if (reader == by) {
      time = when;
      return;
    }
  cell.readers.emplace_back(by, when);
}

template <class Visit>
void visit_cells(Block& block, size_t offset, size_t bytes, Visit visit) {
  for (size_t cell = offset / cell_bytes; cell * cell_bytes < offset + bytes; cell++) visit(block.cells[cell], cell * cell_bytes);
}

}  // namespace emulator
