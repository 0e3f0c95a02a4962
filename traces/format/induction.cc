#include "traces/format/induction.h"

#include <algorithm>

namespace heddle::trace {
namespace {

// The head of the innermost loop around `block` that begins between blocks `first` and `last`, which is not behind
// `block`; kNoBlock if there is none. Blocks stand in reverse post-order, so edges to lower ones lead to heads of
// loops.
uint32_t LoopHead(const Program& program, uint32_t block, uint32_t first, uint32_t last) {
  const uint32_t function = program.block(block).function;
  uint32_t head = kNoBlock;
  const auto see = [&](uint32_t target) {
    if (target >= first && target <= last && (head == kNoBlock || target > head)) head = target;
  };
  for (uint32_t from = block; from < program.blocks().size() && program.block(from).function == function; ++from) {
    const Block& tail = program.block(from);
    if (tail.successor != kNoBlock) see(tail.successor);
    if (tail.taken != kNoBlock) see(tail.taken);
    if (tail.terminator == v1::BRANCH_WIDE) {
      for (uint32_t target : program.targets().subspan(tail.first_target, tail.target_count)) see(target);
    }
  }
  return head;
}

}  // namespace

bool InductionCounts::Add(uint32_t column, const InductionCounter& counter) {
  size_t index = 0;
  while (index < counters_.size() && counters_[index].blocks != counter) ++index;
  if (index == counters_.size()) {
    if (index == kMostInductionCounters) return false;
    counters_.push_back({counter, 0});
    concerned_[counter.counted_block] |= kCounts;
    concerned_[counter.reset_block] |= kCounts;
  }
  if (counter_of_.empty()) counter_of_.assign(program_.accesses().size(), 0);
  counter_of_[column] = static_cast<uint8_t>(index + 1);
  concerned_[program_.block_of(program_.accesses()[column])] |= kHasColumns;
  return true;
}

std::vector<InductionCounter> InductionCandidates(const Program& program, uint32_t block) {
  uint32_t entry = block;
  while (entry > 0 && program.block(entry - 1).function == program.block(block).function) --entry;
  if (block == entry) return {};
  const uint32_t head = LoopHead(program, block, entry + 1, block);
  if (head == kNoBlock) return {};
  std::vector<InductionCounter> candidates;
  if (head > entry + 1) {
    const uint32_t around = LoopHead(program, block, entry + 1, head - 1);
    if (around != kNoBlock) candidates.push_back({head, around});
  }
  candidates.push_back({head, entry});
  return candidates;
}

}  // namespace heddle::trace
