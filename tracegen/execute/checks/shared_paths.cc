#include "tracegen/execute/checks/shared_paths.h"

#include <algorithm>
#include <bit>

namespace heddle::tracegen {
namespace {

using trace::v1::Instruction;

constexpr uint64_t kBarrierStep = uint64_t{1} << 32;  // of ThreadState::interval

bool MayBeShared(const Instruction& instruction) {
  return instruction.space() == trace::v1::SPACE_SHARED || instruction.space() == trace::v1::SPACE_GENERIC;
}

// Functions stand behind the kernel, and threads within a call are behind those that have returned from it.
uint64_t OrderOf(const trace::Program& program, trace::Pc pc) {
  const bool in_kernel = program.block(program.block_of(pc)).function == 0;
  return pc + (in_kernel ? uint64_t{1} << 32 : 0);
}

}  // namespace

SharedPaths::SharedPaths(const trace::Program& program, uint32_t threads)
    : program_(program), path_of_thread_(threads) {
  for (const trace::Block& block : program.blocks()) {
    first_item_.push_back(static_cast<uint32_t>(items_.size()));
    uint32_t position = 0;
    for (trace::Pc pc = block.first; pc < block.first + block.count; ++pc) {
      const Instruction& instruction = program.instruction(pc);
      if (instruction.op() == trace::v1::OP_BARRIER) {
        items_.push_back({0, pc, 0, 0, AccessKind::kBarrier});
      } else if (SynchronizesWarp(instruction)) {
        items_.push_back({0, pc, 0, 0, AccessKind::kWarpOperation});
      }
      if (!trace::Program::HasAddress(instruction)) continue;
      if (MayBeShared(instruction)) {
        const AccessKind::Value kind = AccessKind::Of(instruction);
        const uint32_t bytes = instruction.access_bytes();
        items_.push_back({position, pc, OrderOf(program, pc), static_cast<uint16_t>(bytes), kind});
        unit_bits_ = std::min(unit_bits_, static_cast<uint32_t>(std::countr_zero(bytes)));
      }
      ++position;
    }
  }
  first_item_.push_back(static_cast<uint32_t>(items_.size()));
}

bool SharedPaths::has_atomics() const {
  return std::ranges::any_of(items_, [](const Item& item) { return item.kind == AccessKind::kAtomic; });
}

SharedPath SharedPaths::StepsOf(std::span<const uint8_t> taken, bool to_exit, ThreadState& state) {
  SharedPath path;
  path.first = path.end = static_cast<uint32_t>(spans_.size());
  trace::ByteDecisions decisions(taken.data(), taken.size());
  uint64_t instructions = 0;
  uint32_t position = 0;
  trace::Walk(program_, to_exit ? trace::Extent::kRunsToExit : trace::Extent::kCut, decisions, state.walk, ~uint64_t{0},
              instructions, [&](uint32_t index, const trace::Block& block) {
                for (uint32_t i = first_item_[index]; i < first_item_[index + 1]; ++i) {
                  const Item& item = items_[i];
                  if (item.kind == AccessKind::kBarrier) {
                    state.interval = (state.interval / kBarrierStep + 1) * kBarrierStep;
                    continue;
                  }
                  if (item.kind == AccessKind::kWarpOperation) {
                    ++state.interval;
                    continue;
                  }
                  if (spans_.size() == path.first || spans_.back().interval != state.interval) {
                    const auto at = static_cast<uint32_t>(steps_.size());
                    spans_.push_back({state.interval, 0, at, at});
                  }
                  SharedSpan& span = spans_.back();
                  ++span.end;
                  span.kinds |= item.kind;
                  path.mixed |= (span.kinds & (span.kinds - 1)) != 0;
                  path.stores |= span.kinds == AccessKind::kStore && span.end - span.first > 1;
                  steps_.push_back({position + item.position, item.pc, item.order, item.bytes, item.kind});
                }
                position += block.access_count;
              });
  path.end = static_cast<uint32_t>(spans_.size());
  return path;
}

void SharedPaths::Walk(const BlockRecords& records, bool last) {
  steps_.clear();
  spans_.clear();
  known_paths_.clear();
  is_first_ = !in_block_;
  is_whole_ = last && is_first_;
  in_block_ = !last;
  if (is_first_) states_.assign(threads(), ThreadState{});
  ThreadState start;  // of the thread before
  for (uint32_t t = 0; t < threads(); ++t) {
    const std::span<const uint8_t> decisions = records.decisions(t);
    // Threads that decide alike take the same path.
    if (t > 0 && states_[t] == start && records.exited(t) == records.exited(t - 1) &&
        std::ranges::equal(decisions, records.decisions(t - 1))) {
      path_of_thread_[t] = path_of_thread_[t - 1];
      states_[t] = states_[t - 1];
      continue;
    }
    start = states_[t];
    if (!is_whole_) {
      path_of_thread_[t] = StepsOf(decisions, last || records.exited(t), states_[t]);
      continue;
    }
    const std::string_view key(reinterpret_cast<const char*>(decisions.data()), decisions.size());
    const auto [known, fresh] = known_paths_.try_emplace(key);
    if (fresh) known->second = StepsOf(decisions, true, states_[t]);
    path_of_thread_[t] = known->second;
  }
}

}  // namespace heddle::tracegen
