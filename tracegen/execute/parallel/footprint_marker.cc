#include "tracegen/execute/parallel/footprint_marker.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "tracegen/instrument/thread_context.h"
#include "traces/base/status_macros.h"
#include "traces/format/program/operands.h"

namespace heddle::tracegen {
namespace {

using trace::v1::Instruction;

// Paths that are known need no walk; so many are kept.
constexpr size_t kMostSteps = 1u << 20;
constexpr size_t kMostPaths = 1u << 14;

bool InWindow(uint64_t address, uint64_t base, uint64_t bytes) { return address - base < bytes; }

}  // namespace

std::string FootprintMarker::WhyNot(const trace::Program& program) {
  for (trace::Pc pc = 0; pc < program.instruction_count(); ++pc) {
    const Instruction& instruction = program.instruction(pc);
    if (instruction.op() == trace::v1::OP_TEXTURE || instruction.space() == trace::v1::SPACE_TEXTURE) {
      return "it uses textures or surfaces, of which not all texels are recorded";
    }
    const bool is_memory = instruction.op() == trace::v1::OP_LOAD || instruction.op() == trace::v1::OP_STORE ||
                           instruction.op() == trace::v1::OP_ATOMIC;
    if (is_memory && !trace::Program::HasAddress(instruction) && instruction.space() != trace::v1::SPACE_PARAM &&
        instruction.space() != trace::v1::SPACE_LOCAL) {
      return "it copies memory without recording where";
    }
  }
  return "";
}

FootprintMarker::FootprintMarker(const trace::Program& program, uint32_t threads, bool uses_local, Footprint& footprint)
    : program_(program), uses_local_(uses_local), footprint_(footprint), states_(threads) {
  for (const trace::Column& column : trace::ColumnsOf(program)) {
    const trace::v1::MemorySpace space = column.space;
    Access& access = accesses_.emplace_back();
    if (column.kind != trace::v1::Operand::ADDRESS) continue;  // another value than an address
    access.bytes = static_cast<uint16_t>(column.bytes);
    access.reads = column.access != trace::v1::OP_STORE;
    access.writes = column.access == trace::v1::OP_STORE || column.access == trace::v1::OP_ATOMIC;
    access.is_common =
        space != trace::v1::SPACE_SHARED && space != trace::v1::SPACE_LOCAL && space != trace::v1::SPACE_PARAM;
    access.is_local = uses_local && (space == trace::v1::SPACE_LOCAL || space == trace::v1::SPACE_GENERIC);
  }
  if (uses_local) local_.resize(kLocalBytes / 8);
}

FootprintMarker::PathSteps FootprintMarker::StepsOf(std::span<const uint16_t> sequence) {
  const auto add = [&](auto wanted) {
    for (uint32_t at = 0; at < sequence.size(); ++at) {
      const Access& access = accesses_[sequence[at]];
      if (wanted(access)) steps_.push_back({at, access.bytes, access.reads, access.writes});
    }
    return static_cast<uint32_t>(steps_.size());
  };
  PathSteps steps;
  steps.first_read = static_cast<uint32_t>(steps_.size());
  steps.end_read = add([](const Access& access) { return access.is_common && access.reads; });
  steps.end_write = add([](const Access& access) { return access.is_common && access.writes; });
  steps.end_local = add([](const Access& access) { return access.is_local; });
  return steps;
}

absl::StatusOr<uint32_t> FootprintMarker::PathOf(const trace::ThreadRecord& thread) {
  const absl::string_view key(reinterpret_cast<const char*>(thread.decisions.data()), thread.decisions.size());
  if (const auto known = known_.find(key); known != known_.end()) return known->second;
  trace::WalkState state{program_.entry_block(), {}, false};
  trace::ByteDecisions decisions(thread.decisions.data(), thread.decisions.size());
  uint64_t instructions = 0;
  sequence_.clear();
  const trace::WalkStatus status = trace::Walk(program_, trace::Extent::kRunsToExit, decisions, state, ~uint64_t{0},
                                               instructions, [this](uint32_t, const trace::Block& block) {
                                                 for (uint32_t i = 0; i < block.access_count; ++i) {
                                                   sequence_.push_back(static_cast<uint16_t>(block.first_access + i));
                                                 }
                                               });
  if (status != trace::WalkStatus::kOk) return absl::InvalidArgumentError(trace::WalkMessage(status));
  const auto path = static_cast<uint32_t>(paths_.size());
  paths_.push_back(StepsOf(sequence_));
  path_accesses_.push_back(sequence_.size());
  known_.emplace(std::string(key), path);
  return path;
}

void FootprintMarker::ForgetPaths() {
  known_.clear();
  paths_.clear();
  path_accesses_.clear();
  steps_.clear();
}

absl::Status FootprintMarker::RefuseWrite(uint64_t address) const {
  if (InWindow(address, kSharedBase, kSharedBytes)) return absl::OkStatus();
  if (InWindow(address, kLocalBase, kLocalThreads * kLocalStride)) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("a write to address 0x", absl::Hex(address), ", outside global memory"));
}

absl::Status FootprintMarker::Mark(std::span<const trace::ThreadRecord> threads) {
  for (size_t t = 0; t < threads.size(); ++t) {
    const PathSteps& path = paths_[path_of_thread_[t]];
    const uint64_t* addresses = threads[t].addresses.data();
    for (uint32_t s = path.first_read; s < path.end_read; ++s) {
      const uint64_t address = addresses[steps_[s].position];
      if (footprint_.Holds(address)) footprint_.Read(address, steps_[s].bytes);
    }
  }
  for (size_t t = 0; t < threads.size(); ++t) {
    const PathSteps& path = paths_[path_of_thread_[t]];
    const uint64_t* addresses = threads[t].addresses.data();
    for (uint32_t s = path.end_read; s < path.end_write; ++s) {
      const uint64_t address = addresses[steps_[s].position];
      if (footprint_.Holds(address)) {
        footprint_.Write(address, steps_[s].bytes);
      } else
        HEDDLE_RETURN_IF_ERROR(RefuseWrite(address));
    }
    if (!uses_local_) continue;
    HEDDLE_RETURN_IF_ERROR(CheckLocal(threads[t], path));
  }
  return absl::OkStatus();
}

absl::Status FootprintMarker::CheckLocal(const trace::ThreadRecord& thread, const PathSteps& path) {
  if (++stamp_ == 0) {
    std::fill(local_.begin(), local_.end(), LocalGroup{});
    stamp_ = 1;
  }
  for (uint32_t s = path.end_write; s < path.end_local; ++s) {
    const Step& step = steps_[s];
    const uint64_t offset = thread.addresses[step.position] - kLocalBase;
    if (offset >= kLocalBytes || step.bytes > kLocalBytes - offset) continue;
    for (uint64_t at = offset; at < offset + step.bytes;) {
      const uint64_t end = std::min((at | 7) + 1, offset + step.bytes);
      const auto mask = static_cast<uint8_t>(((1u << (end - at)) - 1) << (at & 7));
      LocalGroup& group = local_[at >> 3];
      if (group.stamp != stamp_) group = {stamp_, 0};
      if (step.reads && (group.written & mask) != mask) {
        return absl::FailedPreconditionError("local memory is read that the thread has not written");
      }
      if (step.writes) group.written |= mask;
      at = end;
    }
  }
  return absl::OkStatus();
}

absl::Status FootprintMarker::AddBlock(std::span<const trace::ThreadRecord> threads) {
  if (steps_.size() > kMostSteps || paths_.size() > kMostPaths) ForgetPaths();
  path_of_thread_.clear();
  for (size_t t = 0; t < threads.size(); ++t) {
    // Neighbouring threads often agree; comparing is cheaper than a look-up.
    if (t > 0 && std::ranges::equal(threads[t].decisions, threads[t - 1].decisions)) {
      path_of_thread_.push_back(path_of_thread_.back());
    } else {
      HEDDLE_ASSIGN_OR_RETURN(const uint32_t path, PathOf(threads[t]));
      path_of_thread_.push_back(path);
    }
    if (path_accesses_[path_of_thread_[t]] != threads[t].addresses.size()) {
      return absl::InvalidArgumentError("a thread has not the addresses that its path asks for");
    }
  }
  return Mark(threads);
}

absl::Status FootprintMarker::AddBlockPart(std::span<const trace::ThreadRecord> threads, bool last,
                                           std::span<uint64_t> consumed) {
  if (uses_local_) return absl::FailedPreconditionError("a block that is cut in time uses local memory");
  if (!in_block_) states_.assign(threads.size(), trace::WalkState{program_.entry_block(), {}, false});
  in_block_ = !last;
  part_.Reset(&program_);
  path_of_thread_.clear();
  for (size_t t = 0; t < threads.size(); ++t) {
    const absl::StatusOr<uint32_t> path = part_.AddThreadPart(threads[t], states_[t], last, ~uint64_t{0}, consumed[t]);
    if (!path.ok()) return path.status();
    path_of_thread_.push_back(*path);
  }
  // Paths of a part do not begin at the entry, so those of whole threads are no use here, nor these ones later.
  ForgetPaths();
  for (const trace::PendingPath& path : part_.paths()) {
    paths_.push_back(StepsOf(part_.sequence().subspan(path.first_access, path.accesses)));
  }
  const absl::Status status = Mark(threads);
  ForgetPaths();
  return status;
}

}  // namespace heddle::tracegen
