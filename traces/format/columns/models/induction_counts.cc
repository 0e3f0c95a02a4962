#include "traces/format/columns/models/induction_counts.h"

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

bool InductionCounts::Add(uint32_t column, const InductionTerm& term) {
  const InductionCounter& counter = term.counter;
  size_t index = 0;
  while (index < counters_.size() && counters_[index].blocks != counter) ++index;
  if (index == counters_.size()) {
    if (index == most_) return false;
    counters_.push_back({counter, 0});
    concerned_[counter.counted_block] |= kCounts;
    concerned_[counter.reset_block] |= kCounts;
  }
  if (terms_.empty()) terms_.resize(program_.accesses().size());
  terms_[column].push_back({static_cast<uint32_t>(index), static_cast<uint64_t>(term.stride)});
  concerned_[program_.block_of(program_.accesses()[column])] |= kHasColumns;
  return true;
}

uint32_t InductionCounts::MakeStride(uint32_t block, uint32_t decisions) {
  // What somebody may have made large in a way that the file does not show is walked without strides.
  constexpr uint64_t kMostVisits = 1 << 16;
  uint32_t& made = stride_from_[(size_t{block} << kStrideDecisions) + decisions];
  if (made == kNone) return kNone;
  made = kNone;
  Stride stride;
  stride.first_access = static_cast<uint32_t>(accesses_.size());
  uint32_t current = block;
  for (uint32_t taken = 0; taken < kStrideDecisions;) {
    if (++visits_ > kMostVisits) return kNone;
    const Block& visited = program_.block(current);
    for (size_t k = 0; k < counters_.size(); ++k) {
      if (current == counters_[k].blocks.reset_block) stride.effect[k] = {0, 0};
      stride.effect[k].add += current == counters_[k].blocks.counted_block;
    }
    for (uint32_t c = visited.first_access; c < visited.first_access + visited.access_count; ++c) {
      if (++visits_ > kMostVisits) return kNone;
      for (const Term& term : terms_[c]) accesses_.push_back({c, false, term, stride.effect[term.counter]});
      if (!terms_[c].empty()) accesses_.back().last = true;
    }
    if (visited.terminator == v1::BRANCH_CONDITIONAL) {
      current = ((decisions >> taken++) & 1) != 0 ? visited.taken : visited.successor;
    } else if (visited.terminator == v1::FALL_THROUGH) {
      current = visited.successor;
    } else {
      accesses_.resize(stride.first_access);
      return kNone;
    }
  }
  stride.next = current;
  stride.access_count = static_cast<uint32_t>(accesses_.size()) - stride.first_access;
  made = static_cast<uint32_t>(strides_.size());
  strides_.push_back(stride);
  return made;
}

inline void InductionCounts::Take(const Stride& stride, std::span<uint64_t*> next) {
  uint64_t sum = 0;
  for (uint32_t i = stride.first_access; i < stride.first_access + stride.access_count; ++i) {
    const Access& access = accesses_[i];
    sum += ((counters_[access.term.counter].count & access.effect.keep) + access.effect.add) * access.term.stride;
    if (!access.last) continue;
    *next[access.column]++ = sum;
    sum = 0;
  }
  for (size_t k = 0; k < counters_.size(); ++k) {
    counters_[k].count = (counters_[k].count & stride.effect[k].keep) + stride.effect[k].add;
  }
}

void InductionCounts::Write(const PathView& path, std::span<uint64_t*> next) {
  for (Counter& counter : counters_) counter.count = 0;
  WalkState state{path.start_block, {path.call_stack.begin(), path.call_stack.end()}, false};
  PathView rest = path;
  if (path.wide_count == 0 && path.call_stack.empty() && path.extent != Extent::kEnded) {
    if (stride_from_.empty()) stride_from_.assign(program_.blocks().size() << kStrideDecisions, kNotMade);
    // Two strides at a time, so that the rest starts on a byte.
    for (; rest.decision_count >= 2 * kStrideDecisions; rest.decision_count -= 2 * kStrideDecisions) {
      const uint32_t first = StrideFrom(state.block, *rest.decisions & 15u);
      if (first == kNone) break;
      const uint32_t second = StrideFrom(strides_[first].next, *rest.decisions >> kStrideDecisions);
      if (second == kNone) break;
      Take(strides_[first], next);
      Take(strides_[second], next);
      state.block = strides_[second].next;
      ++rest.decisions;
    }
  }
  PackedDecisions decisions(rest);
  WalkOn(path.extent, decisions, state, path.thread_instructions, [&](uint32_t c, uint64_t sum) { *next[c]++ = sum; });
}

std::vector<InductionCounter> InductionSummands(const Program& program, uint32_t block) {
  constexpr size_t kMostLoops = 4;
  constexpr size_t kMostBlocks = 8;
  const uint32_t function = program.block(block).function;
  uint32_t entry = block;
  while (entry > 0 && program.block(entry - 1).function == function) --entry;
  std::vector<uint32_t> heads;  // innermost first
  for (uint32_t last = block; last > entry && heads.size() < kMostLoops; last = heads.back() - 1) {
    const uint32_t head = LoopHead(program, block, entry + 1, last);
    if (head == kNoBlock) break;
    heads.push_back(head);
  }
  std::vector<InductionCounter> summands;
  for (size_t i = 0; i < heads.size(); ++i) summands.push_back({heads[i], i + 1 < heads.size() ? heads[i + 1] : entry});
  if (heads.empty()) return summands;
  const size_t most = summands.size() + kMostBlocks;
  for (uint32_t b = heads[0] + 1; b < program.blocks().size() && summands.size() < most; ++b) {
    if (program.block(b).function != function) break;
    if (b != block && LoopHead(program, b, entry + 1, b) == heads[0]) summands.push_back({b, summands[0].reset_block});
  }
  return summands;
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
