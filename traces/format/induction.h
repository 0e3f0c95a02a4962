// Addresses that follow a variable which a loop counts up (proto/trace.proto, AddressColumn.INDUCTION): what writer and
// reader have in common.
#ifndef HEDDLE_TRACES_FORMAT_INDUCTION_H_
#define HEDDLE_TRACES_FORMAT_INDUCTION_H_

#include <cstdint>
#include <span>
#include <vector>

#include "traces/format/decoded_chunk.h"
#include "traces/format/program.h"
#include "traces/format/walk.h"

namespace heddle::trace {

// How often a thread has entered one basic block since it last entered another, or since its walk began.
struct InductionCounter {
  uint32_t counted_block = 0;
  uint32_t reset_block = 0;
  bool operator==(const InductionCounter&) const = default;
};

// Distinct counters of a chunk's columns: every visit of a block may touch all of them.
inline constexpr size_t kMostInductionCounters = 8;

// Runs counters along walks.
class InductionCounts {
 public:
  // Prepares for walks over `program`, which must live as long.
  explicit InductionCounts(const Program& program) : program_(program), concerned_(program.blocks().size(), 0) {}

  // Has `column` (position in Program::accesses()) counted by `counter`; false if that would be too many counters.
  bool Add(uint32_t column, const InductionCounter& counter);

  // True if `column` has been added.
  bool Counts(uint32_t column) const { return !counter_of_.empty() && counter_of_[column] != 0; }

  // Walks a path, as trace::Walk, and calls `emit(column, n)` for every access of the columns, in program order within
  // a column.
  template <typename Decisions, typename Emit>
  WalkStatus Walk(Extent extent, Decisions& decisions, WalkState& state, uint64_t budget, const Emit& emit) {
    for (Counter& counter : counters_) counter.count = 0;
    uint64_t instructions = 0;
    return trace::Walk(program_, extent, decisions, state, budget, instructions,
                       [&](uint32_t index, const Block& block) {
                         if (concerned_[index] == 0) return;
                         for (Counter& counter : counters_) {
                           if (index == counter.blocks.reset_block) counter.count = 0;
                           counter.count += index == counter.blocks.counted_block;
                         }
                         if (concerned_[index] < kHasColumns) return;
                         for (uint32_t c = block.first_access; c < block.first_access + block.access_count; ++c) {
                           if (counter_of_[c] != 0) emit(c, counters_[counter_of_[c] - 1].count);
                         }
                       });
  }

 private:
  static constexpr uint8_t kCounts = 1;
  static constexpr uint8_t kHasColumns = 2;
  struct Counter {
    InductionCounter blocks;
    uint64_t count = 0;
  };

  const Program& program_;
  std::vector<uint8_t> concerned_;   // by block
  std::vector<uint8_t> counter_of_;  // by column: 1 + counter, 0 = none; empty before the first
  std::vector<Counter> counters_;
};

// What a writer may try for an access in `block`: the head of the innermost loop around it, counted since the thread
// was last at the head of the loop around that, or at the start of the function. Empty if there is no loop.
std::vector<InductionCounter> InductionCandidates(const Program& program, uint32_t block);

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_INDUCTION_H_
