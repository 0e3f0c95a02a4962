#include "traces/format/chunk/path_steps.h"

#include <algorithm>

namespace heddle::trace {
namespace {

// Blocks at which paths meet are part of several steps. In a program that somebody made to be large in this way, the
// steps would take memory and time that the file does not show.
constexpr uint64_t kMostMergedPerInstruction = 16;
// Likewise for strides, of which there are up to 16 per step.
constexpr size_t kMostStrides = 8192;
constexpr uint64_t kMostStrideAccesses = 1 << 17;

}  // namespace

void PathSteps::Reset(const Program& program) {
  program_ = &program;
  steps_.clear();
  last_block_.clear();
  step_at_.assign(program.blocks().size(), kNone);
  strides_.clear();
  stride_from_.clear();
  sequence_.assign(kPadding, 0);
  merged_ = 0;
  stride_accesses_ = 0;
  usable_ = true;
}

uint32_t PathSteps::At(uint32_t block) {
  if (step_at_[block] != kNone) return step_at_[block];
  Step step;
  step.first_access = static_cast<uint32_t>(sequence_.size()) - kPadding;
  sequence_.resize(step.first_access);
  uint32_t current = block;
  // Ends, because a program has no cycle of blocks without a decision.
  for (;;) {
    const Block& part = program_->block(current);
    step.instructions += part.count;
    step.access_count += part.access_count;
    for (uint32_t c = part.first_access; c < part.first_access + part.access_count; ++c) {
      sequence_.push_back(static_cast<uint16_t>(c));
    }
    merged_ += part.count;
    usable_ &= merged_ <= kMostMergedPerInstruction * program_->instruction_count();
    if (!usable_ || part.terminator != v1::FALL_THROUGH) break;
    current = part.successor;
  }
  sequence_.resize(sequence_.size() + kPadding);
  const v1::Terminator terminator = program_->block(current).terminator;
  usable_ &= terminator == v1::BRANCH_CONDITIONAL || terminator == v1::EXIT;
  if (!usable_) return kNone;
  step.decides = terminator == v1::BRANCH_CONDITIONAL;
  step_at_[block] = static_cast<uint32_t>(steps_.size());
  steps_.push_back(step);
  last_block_.push_back(current);
  stride_from_.resize(steps_.size() << kStrideDecisions, kNotMade);
  return step_at_[block];
}

uint32_t PathSteps::Make(uint32_t step, bool taken) {
  const Block& branch = program_->block(last_block_[step]);
  const uint32_t made = At(taken ? branch.taken : branch.successor);
  steps_[step].next[taken] = made;
  return made;
}

uint32_t PathSteps::MakeStride(uint32_t step, uint32_t decisions) {
  const size_t place = (size_t{step} << kStrideDecisions) + decisions;
  if (stride_from_[place] == kNone) return kNone;
  Stride stride;
  uint32_t parts[kStrideDecisions];
  uint32_t current = step;
  bool possible = strides_.size() < kMostStrides;
  for (uint32_t i = 0; possible && i < kStrideDecisions; ++i) {
    parts[i] = current;
    stride.instructions += steps_[current].instructions;
    stride.access_count += steps_[current].access_count;
    possible = steps_[current].decides;
    if (!possible) break;
    current = Behind(current, (decisions >> i) & 1);
    possible = current != kNone;
  }
  possible &= stride_accesses_ + stride.access_count <= kMostStrideAccesses;
  if (!possible) {
    stride_from_[place] = kNone;
    return kNone;
  }
  stride.next = current;
  stride_accesses_ += stride.access_count;
  stride.first_access = static_cast<uint32_t>(sequence_.size()) - kPadding;
  sequence_.resize(sequence_.size() + stride.access_count);
  uint16_t* next = sequence_.data() + stride.first_access;
  for (const uint32_t part : parts) {
    const uint16_t* from = sequence_.data() + steps_[part].first_access;
    next = std::copy(from, from + steps_[part].access_count, next);
  }
  stride_from_[place] = static_cast<uint32_t>(strides_.size());
  strides_.push_back(stride);
  return stride_from_[place];
}

}  // namespace heddle::trace
