#include "tracegen/execute/shared_check.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "tracegen/instrument/thread_context.h"

namespace heddle::tracegen {
namespace {

using trace::v1::Instruction;

constexpr uint64_t kBarrier = uint64_t{1} << 32;

// Shuffles, votes and syncwarp of today's form, which the threads of their mask reach together.
bool SynchronizesWarp(const Instruction& instruction) {
  return instruction.op() == trace::v1::OP_WARP && absl::StrContains(instruction.mnemonic(), "sync");
}

bool MayBeShared(const Instruction& instruction) {
  return instruction.space() == trace::v1::SPACE_SHARED || instruction.space() == trace::v1::SPACE_GENERIC;
}

// Functions stand behind the kernel, and threads within a call are behind those that have returned from it.
uint64_t OrderOf(const trace::Program& program, trace::Pc pc) {
  const bool in_kernel = program.block(program.block_of(pc)).function == 0;
  return pc + (in_kernel ? uint64_t{1} << 32 : 0);
}

}  // namespace

SharedMemoryCheck::SharedMemoryCheck(const trace::Program& program, uint32_t threads, uint32_t shared_bytes)
    : program_(program), threads_(threads), shared_bytes_(shared_bytes), path_of_thread_(threads), lanes_(kWarpWidth) {
  for (trace::Pc pc : program.accesses()) {
    const Instruction& instruction = program.instruction(pc);
    if (MayBeShared(instruction)) unit_bytes_ = std::min(unit_bytes_, instruction.access_bytes());
  }
  if (unit_bytes_ == 3) unit_bytes_ = 1;
  places_.resize(shared_bytes / unit_bytes_ + 1);
  first_store_.resize(shared_bytes / unit_bytes_ + 1);
}

// Walks the path of a thread, or of its part, and appends what may be accesses to shared memory to steps_.
SharedMemoryCheck::Path SharedMemoryCheck::StepsOf(const trace::ThreadRecord& record, bool last, ThreadState& state) {
  Path path;
  path.first = steps_.size();
  trace::ByteDecisions decisions(record.decisions.data(), record.decisions.size());
  uint64_t instructions = 0;
  uint32_t position = 0;
  const bool to_exit = last || record.exited;
  trace::Walk(program_, to_exit ? trace::Extent::kRunsToExit : trace::Extent::kCut, decisions, state.walk, ~uint64_t{0},
              instructions, [&](uint32_t, const trace::Block& block) {
                for (trace::Pc pc = block.first; pc < block.first + block.count; ++pc) {
                  const Instruction& instruction = program_.instruction(pc);
                  if (instruction.op() == trace::v1::OP_BARRIER) {
                    state.interval = (state.interval / kBarrier + 1) * kBarrier;
                  } else if (SynchronizesWarp(instruction)) {
                    ++state.interval;
                  }
                  if (!trace::Program::HasAddress(instruction)) continue;
                  if (MayBeShared(instruction)) {
                    const Kind kind = instruction.op() == trace::v1::OP_ATOMIC  ? Kind::kAtomic
                                      : instruction.op() == trace::v1::OP_STORE ? Kind::kStore
                                                                                : Kind::kLoad;
                    steps_.push_back({position, pc, state.interval, OrderOf(program_, pc),
                                      static_cast<uint16_t>(instruction.access_bytes()), kind});
                  }
                  ++position;
                }
              });
  path.end = steps_.size();
  return path;
}

absl::Status SharedMemoryCheck::AddBlock(uint64_t block, std::span<const trace::ThreadRecord> records,
                                         std::span<const uint64_t> consumed, bool last) {
  steps_.clear();
  known_paths_.clear();
  if (!in_block_) states_.assign(threads_, ThreadState{});
  const bool whole = last && !in_block_;
  for (uint32_t t = 0; t < threads_; ++t) {
    const std::span<const uint8_t> decisions = records[t].decisions;
    if (!whole) {
      path_of_thread_[t] = StepsOf(records[t], last, states_[t]);
      continue;
    }
    // Threads that decide alike take the same path.
    const std::string_view key(reinterpret_cast<const char*>(decisions.data()), decisions.size());
    const auto [known, fresh] = known_paths_.try_emplace(key);
    if (fresh) known->second = StepsOf(records[t], true, states_[t]);
    path_of_thread_[t] = known->second;
  }
  in_block_ = !last;
  const uint32_t warps = (threads_ + kWarpWidth - 1) / kWarpWidth;
  for (uint32_t warp = 0; warp < warps; ++warp) {
    CollectWarp(warp, records, consumed);
    NoteStores(block);
    FindHandOffs();
  }
  for (uint32_t warp = 0; warp < warps && !uninitialized_.has_value(); ++warp) {
    CollectWarp(warp, records, consumed);
    FindUninitialized(block, warp);
  }
  return absl::OkStatus();
}

void SharedMemoryCheck::CollectWarp(uint32_t warp, std::span<const trace::ThreadRecord> records,
                                    std::span<const uint64_t> consumed) {
  for (uint32_t lane = 0; lane < kWarpWidth; ++lane) {
    lanes_[lane].clear();
    const uint32_t t = warp * kWarpWidth + lane;
    if (t >= threads_) continue;
    for (size_t i = path_of_thread_[t].first; i < path_of_thread_[t].end; ++i) {
      const Step& step = steps_[i];
      if (step.position >= consumed[t]) break;
      const uint64_t offset = records[t].addresses[step.position] - kSharedBase;
      if (offset >= shared_bytes_ || step.bytes > shared_bytes_ - offset) continue;
      const auto first = static_cast<uint32_t>(offset / unit_bytes_);
      const auto end = static_cast<uint32_t>((offset + step.bytes - 1) / unit_bytes_) + 1;
      lanes_[lane].push_back({step.interval, step.order, first, end - first, step.pc, step.kind});
    }
  }
}

void SharedMemoryCheck::NoteStores(uint64_t block) {
  for (const std::vector<Access>& accesses : lanes_) {
    for (const Access& access : accesses) {
      if (access.kind == Kind::kLoad) continue;
      const auto barriers = static_cast<uint32_t>(1 + access.interval / kBarrier);
      for (uint32_t unit = access.unit; unit < access.unit + access.units; ++unit) {
        FirstStore& first = first_store_[unit];
        if (first.block != block) first = {block, 0, 0};
        const auto note = [barriers](uint32_t& when) { when = when == 0 ? barriers : std::min(when, barriers); };
        note(first.any);
        if (access.kind == Kind::kStore) note(first.plain);
      }
    }
  }
}

void SharedMemoryCheck::FindUninitialized(uint64_t block, uint32_t warp) {
  for (uint32_t lane = 0; lane < kWarpWidth; ++lane) {
    for (const Access& access : lanes_[lane]) {
      if (access.kind == Kind::kStore) continue;
      const auto barriers = static_cast<uint32_t>(1 + access.interval / kBarrier);
      for (uint32_t unit = access.unit; unit < access.unit + access.units; ++unit) {
        const FirstStore& first = first_store_[unit];
        const uint32_t stored = first.block != block ? 0 : access.kind == Kind::kAtomic ? first.plain : first.any;
        if (stored != 0 && stored <= barriers) continue;
        uninitialized_ = Uninitialized{access.pc, block, warp * kWarpWidth + lane};
        return;
      }
    }
  }
}

void SharedMemoryCheck::FindHandOffs() {
  size_t next[kWarpWidth] = {};
  uint64_t current = ~uint64_t{0};
  for (;;) {
    uint64_t interval = ~uint64_t{0};
    uint64_t order = ~uint64_t{0};
    for (uint32_t lane = 0; lane < kWarpWidth; ++lane) {
      if (next[lane] == lanes_[lane].size()) continue;
      const Access& access = lanes_[lane][next[lane]];
      if (access.interval > interval || (access.interval == interval && access.order >= order)) continue;
      interval = access.interval;
      order = access.order;
    }
    if (interval == ~uint64_t{0}) return;
    if (interval != current) ++stamp_;
    current = interval;
    for (uint32_t lane = 0; lane < kWarpWidth; ++lane) {
      if (next[lane] == lanes_[lane].size()) continue;
      const Access& access = lanes_[lane][next[lane]];
      if (access.interval != interval || access.order != order) continue;
      for (uint32_t unit = access.unit; unit < access.unit + access.units; ++unit) Touch(lane, access, unit);
      ++next[lane];
    }
  }
}

void SharedMemoryCheck::Touch(uint32_t lane, const Access& access, uint32_t unit) {
  Place& place = places_[unit];
  if (place.stamp != stamp_) {
    place = Place();
    place.stamp = stamp_;
  }
  const uint32_t self = 1u << lane;
  const auto is_of_others = [self](const Latest& latest) { return (latest.lanes & ~self) != 0; };
  const auto reads = [&](const Latest& written) {
    if (is_of_others(written) && (written.lanes & self) == 0) ++hand_offs_[{written.pc, access.pc}];
  };
  const auto overwrites = [&](const Latest& read) {
    if (is_of_others(read)) ++hand_offs_[{access.pc, read.pc}];
  };
  switch (access.kind) {
    case Kind::kLoad:
      reads(place.store);
      reads(place.atomic);
      place.load.Add(access.pc, self);
      break;
    case Kind::kStore:
      overwrites(place.load);
      overwrites(place.atomic);
      place.store.Add(access.pc, self);
      break;
    case Kind::kAtomic:
      reads(place.store);
      overwrites(place.load);
      place.atomic.Add(access.pc, self);
      break;
  }
}

}  // namespace heddle::tracegen
