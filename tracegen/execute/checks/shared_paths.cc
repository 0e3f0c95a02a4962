#include "tracegen/execute/checks/shared_paths.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "traces/format/program/operands.h"

namespace heddle::tracegen {
namespace {

using trace::v1::Instruction;

constexpr uint64_t kBarrierStep = uint64_t{1} << 32;  // of ThreadState::interval

bool MayBeShared(const trace::Column& column) {
  return IsAddress(column) &&
         (column.space == trace::v1::SPACE_SHARED || column.space == trace::v1::SPACE_CLUSTER_SHARED ||
          column.space == trace::v1::SPACE_GENERIC);
}

// What a wait or a commit does to copies on their way.
std::optional<CopyEvent> CopyEventOf(const Instruction& instruction) {
  switch (instruction.async().role()) {
    case trace::v1::Async::COMMIT:
      return CopyEvent{CopyEvent::kCommit, 0};
    case trace::v1::Async::WAIT_GROUP:
      return CopyEvent{CopyEvent::kWait, instruction.async().most_pending()};
    case trace::v1::Async::WAIT_ALL:
    case trace::v1::Async::BARRIER_COPIES:
      return CopyEvent{CopyEvent::kWaitForAll, 0};
    default:
      return std::nullopt;
  }
}

// Functions stand behind the kernel, and threads within a call are behind those that have returned from it.
uint64_t OrderOf(const trace::Program& program, trace::Pc pc) {
  const bool in_kernel = program.block(program.block_of(pc)).function == 0;
  return pc + (in_kernel ? uint64_t{1} << 32 : 0);
}

}  // namespace

SharedPaths::SharedPaths(const trace::Program& program, uint32_t threads)
    : program_(program), path_of_thread_(threads) {
  const std::vector<trace::Column> columns = trace::ColumnsOf(program);
  for (const trace::Block& block : program.blocks()) {
    first_item_.push_back(static_cast<uint32_t>(items_.size()));
    uint32_t position = 0;
    for (trace::Pc pc = block.first; pc < block.first + block.count; ++pc) {
      const Instruction& instruction = program.instruction(pc);
      if (WaitsForBlock(instruction)) {
        items_.push_back({0, pc, 0, 0, AccessKind::kBarrier, std::nullopt});
      } else if (SynchronizesWarp(instruction)) {
        items_.push_back({0, pc, 0, 0, AccessKind::kWarpOperation, std::nullopt});
      }
      const bool begins = instruction.async().role() == trace::v1::Async::BARRIER_INIT;
      for (uint32_t left = trace::CountColumns(instruction); left > 0; --left, ++position) {
        const trace::Column& column = columns[block.first_access + position];
        if (!MayBeShared(column)) continue;
        const AccessKind::Value kind = begins ? AccessKind::kStore : AccessKind::Of(column);
        items_.push_back({position, pc, OrderOf(program, pc), static_cast<uint16_t>(column.bytes), kind, std::nullopt});
        if (instruction.async().role() == trace::v1::Async::COPY) items_.back().copy = CopyEvent{CopyEvent::kBegin, 0};
        unit_bits_ = std::min(unit_bits_, static_cast<uint32_t>(std::countr_zero(column.bytes)));
      }
      if (const std::optional<CopyEvent> event = CopyEventOf(instruction); event.has_value()) {
        items_.push_back({0, pc, OrderOf(program, pc), 0, AccessKind::kStore, event});
      }
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
  on_their_way_.Clear();
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
                  const SharedStep step = {position + item.position, item.pc, item.order, item.bytes, item.kind};
                  if (!item.copy.has_value()) {
                    Append(step, state.interval, path);
                    continue;
                  }
                  for (const SharedStep& arrived : on_their_way_.Take(*item.copy, step)) {
                    Append(arrived, state.interval, path);
                  }
                }
                position += block.access_count;
              });
  path.end = static_cast<uint32_t>(spans_.size());
  if (to_exit && !on_their_way_.empty()) NoteUnwaited(on_their_way_.first());
  return path;
}

void SharedPaths::Append(const SharedStep& step, uint64_t interval, SharedPath& path) {
  if (spans_.size() == path.first || spans_.back().interval != interval) {
    const auto at = static_cast<uint32_t>(steps_.size());
    spans_.push_back({interval, 0, at, at});
  }
  SharedSpan& span = spans_.back();
  ++span.end;
  span.kinds |= step.kind;
  path.mixed |= (span.kinds & (span.kinds - 1)) != 0;
  path.stores |= span.kinds == AccessKind::kStore && span.end - span.first > 1;
  steps_.push_back(step);
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
