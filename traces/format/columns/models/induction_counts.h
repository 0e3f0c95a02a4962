// Addresses that follow a variable which a loop counts up (proto/trace.proto, AddressColumn.INDUCTION): what writer and
// reader have in common.
#ifndef HEDDLE_TRACES_FORMAT_COLUMNS_MODELS_INDUCTION_COUNTS_H_
#define HEDDLE_TRACES_FORMAT_COLUMNS_MODELS_INDUCTION_COUNTS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "traces/format/chunk/decoded_chunk.h"
#include "traces/format/chunk/walk.h"
#include "traces/format/program/program.h"

namespace heddle::trace {

// How often a thread has entered one basic block since it last entered another, or since its walk began.
struct InductionCounter {
  uint32_t counted_block = 0;
  uint32_t reset_block = 0;
  bool operator==(const InductionCounter&) const = default;
};

// What a counter adds to an address: `stride` bytes each time.
struct InductionTerm {
  InductionCounter counter;
  int64_t stride = 0;
};

// Distinct counters of a chunk's columns: every visit of a block may touch all of them.
inline constexpr size_t kMostInductionCounters = 4;

// Runs counters along walks.
class InductionCounts {
 public:
  // Prepares for walks over `program`, which must live as long.
  // `most`: counters; only Walk may have more than kMostInductionCounters.
  explicit InductionCounts(const Program& program, size_t most = kMostInductionCounters)
      : program_(program), most_(most), concerned_(program.blocks().size(), 0) {}

  // Adds `term` to `column` (position in Program::accesses()); false if that would be too many counters.
  bool Add(uint32_t column, const InductionTerm& term);

  // How far the counter that was added as number `index` (from 0, among different ones) has come.
  uint64_t count(size_t index) const { return counters_[index].count; }

  // True if `column` has a term.
  bool Counts(uint32_t column) const { return !terms_.empty() && !terms_[column].empty(); }

  // Walks a path that has been walked before, and writes what the terms of its accesses sum up to: those of column c
  // from *next[c] on, which moves behind them.
  void Write(const PathView& path, std::span<uint64_t*> next);

  // Walks a path, as trace::Walk, and calls `emit(column, sum)` for every access of the columns, in program order
  // within a column.
  template <typename Decisions, typename Emit>
  WalkStatus Walk(Extent extent, Decisions& decisions, WalkState& state, uint64_t budget, const Emit& emit) {
    for (Counter& counter : counters_) counter.count = 0;
    return WalkOn(extent, decisions, state, budget, emit);
  }

 private:
  static constexpr uint8_t kCounts = 1;
  static constexpr uint8_t kHasColumns = 2;
  static constexpr uint32_t kNone = ~uint32_t{0};
  static constexpr uint32_t kNotMade = kNone - 1;
  static constexpr uint32_t kStrideDecisions = 4;
  struct Counter {
    InductionCounter blocks;
    uint64_t count = 0;
  };
  // What becomes of a counter: (count & keep) + add.
  struct Effect {
    uint64_t keep = ~uint64_t{0};
    uint64_t add = 0;
  };
  struct Term {
    uint32_t counter = 0;
    uint64_t stride = 0;
  };
  // A term of an access in a stride: its count is what `effect` makes of the counter in front of the stride.
  struct Access {
    uint32_t column = 0;
    bool last = false;  // term of the access
    Term term;
    Effect effect;
  };
  // What kStrideDecisions decisions lead to.
  struct Stride {
    uint32_t next = 0;  // block that is entered behind them
    uint32_t first_access = 0;
    uint32_t access_count = 0;
    Effect effect[kMostInductionCounters];
  };

  // As Walk, with the counters as they are.
  template <typename Decisions, typename Emit>
  WalkStatus WalkOn(Extent extent, Decisions& decisions, WalkState& state, uint64_t budget, const Emit& emit) {
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
                           if (terms_[c].empty()) continue;
                           uint64_t sum = 0;
                           for (const Term& term : terms_[c]) sum += counters_[term.counter].count * term.stride;
                           emit(c, sum);
                         }
                       });
  }

  // The stride from `block`, made when it is first met; kNone if there is none.
  uint32_t StrideFrom(uint32_t block, uint32_t decisions) {
    const uint32_t known = stride_from_[(size_t{block} << kStrideDecisions) + decisions];
    return known < kNotMade ? known : MakeStride(block, decisions);
  }
  uint32_t MakeStride(uint32_t block, uint32_t decisions);
  void Take(const Stride& stride, std::span<uint64_t*> next);

  const Program& program_;
  const size_t most_;
  std::vector<uint8_t> concerned_;        // by block
  std::vector<std::vector<Term>> terms_;  // by column; empty before the first
  std::vector<Counter> counters_;
  std::vector<Stride> strides_;
  std::vector<uint32_t> stride_from_;  // by block and decisions; kNotMade, or kNone
  std::vector<Access> accesses_;       // of strides
  uint64_t visits_ = 0;                // in all strides
};

// What a writer may try for an access in `block`: the head of the innermost loop around it, counted since the thread
// was last at the head of the loop around that, or at the start of the function. Empty if there is no loop.
std::vector<InductionCounter> InductionCandidates(const Program& program, uint32_t block);

// What may add up for an access in `block`: the heads of the loops around it, each counted since the thread was last at
// the head of the next loop around, or at the start of the function; and other blocks of the innermost loop, counted as
// its head is. Nested loops of which each moves a pointer, and pointers that only some iterations move.
std::vector<InductionCounter> InductionSummands(const Program& program, uint32_t block);

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_COLUMNS_MODELS_INDUCTION_COUNTS_H_
