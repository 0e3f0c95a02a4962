#include "replay/analysis/dynamic_instances.h"

#include <algorithm>

#include "traces/base/random.h"

namespace heddle::replay {
namespace {

namespace v1 = trace::v1;

uint64_t Mix(uint64_t so_far, uint64_t value) { return SplitMixHash(so_far ^ SplitMixHash(value)); }

}  // namespace

void ThreadInstances::EnterBlock(const CycleNest& nest, uint32_t block) {
  Frame& frame = frames_.back();
  earlier_.swap(frame.counts);
  frame.counts.clear();
  frame.place = frame.calls;
  for (const uint32_t cycle : nest.CyclesOf(block)) {
    const auto known = std::ranges::find(earlier_, cycle, &Count::cycle);
    uint64_t iteration = known == earlier_.end() ? 0 : known->iteration;
    if (nest.header(cycle) == block) ++iteration;
    frame.counts.push_back({cycle, iteration});
    frame.place = Mix(Mix(frame.place, cycle), iteration);
  }
}

uint64_t ThreadInstances::Execute(const trace::Program& program, const CycleNest& nest, Pc pc) {
  if (next_ == Next::kCall) {
    const uint64_t calls = frames_.back().place;
    frames_.push_back({.calls = calls, .place = calls, .counts = {}});
  } else if (next_ == Next::kReturn && frames_.size() > 1) {
    frames_.pop_back();
  }
  next_ = Next::kNothing;
  const uint32_t number = program.block_of(pc);
  const trace::Block& block = program.block(number);
  if (pc == block.first) EnterBlock(nest, number);
  const uint64_t instance = Mix(frames_.back().place, pc);
  if (pc + 1 == block.first + block.count) {
    if (block.terminator == v1::CALL || block.terminator == v1::CALL_INDIRECT) {
      // The place of the call is part of how its callee is come by.
      frames_.back().place = instance;
      next_ = Next::kCall;
    } else if (block.terminator == v1::RETURN) {
      next_ = Next::kReturn;
    }
  }
  return instance;
}

}  // namespace heddle::replay
