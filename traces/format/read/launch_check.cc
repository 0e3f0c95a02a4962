#include "traces/format/read/launch_check.h"

#include <algorithm>
#include <functional>

#include "absl/strings/str_cat.h"
#include "traces/base/status_macros.h"
#include "traces/format/columns/last_writers.h"
#include "traces/format/program/instruction_place.h"

namespace heddle::trace {
namespace {

constexpr auto kError = Finding::Severity::kError;
constexpr auto kWarning = Finding::Severity::kWarning;

}  // namespace

void AddressRanges::Add(uint64_t base, uint64_t bytes) {
  if (bytes == 0) return;
  const uint64_t last = base + (bytes - 1);
  ranges_.push_back({base, last < base ? ~uint64_t{0} : last});
}

void AddressRanges::Sort() {
  std::sort(ranges_.begin(), ranges_.end());
  size_t kept = 0;
  for (const auto& range : ranges_) {
    if (kept > 0 && range.first <= ranges_[kept - 1].second) {
      ranges_[kept - 1].second = std::max(ranges_[kept - 1].second, range.second);
    } else {
      ranges_[kept++] = range;
    }
  }
  ranges_.resize(kept);
}

bool AddressRanges::Holds(uint64_t address, uint64_t bytes) const {
  const uint64_t last = address + (bytes - 1);
  if (last < address) return false;
  auto it = std::upper_bound(ranges_.begin(), ranges_.end(), std::pair(address, ~uint64_t{0}));
  return it != ranges_.begin() && last <= std::prev(it)->second;
}

LaunchChecker::LaunchChecker(const TraceReader& reader, const LaunchView& launch, Findings& findings,
                             CheckReport& report)
    : reader_(reader), launch_(launch), program_(*launch.program), findings_(findings), report_(report) {
  for (const v1::AddressWindow& window : reader.header().window()) {
    windows_[static_cast<size_t>(window.space())].Add(window.base(), window.bytes());
    all_windows_.Add(window.base(), window.bytes());
  }
  for (AddressRanges& window : windows_) window.Sort();
  all_windows_.Sort();
  for (const v1::Allocation& allocation : launch.launch.allocation()) {
    allocations_.Add(allocation.base(), allocation.bytes());
  }
  allocations_.Sort();

  reconverges_.assign(program_.blocks().size(), false);
  has_barrier_.assign(program_.blocks().size(), false);
  alignment_.assign(program_.instruction_count(), 1);
  for (uint32_t b = 0; b < program_.blocks().size(); ++b) {
    const Block& block = program_.block(b);
    if (block.post_dominator != kNoBlock) reconverges_[block.post_dominator] = true;
    has_calls_ |= block.terminator == v1::RETURN;
    for (Pc pc = block.first; pc < block.first + block.count; ++pc) {
      const v1::Instruction& instruction = program_.instruction(pc);
      const uint32_t bytes = instruction.access_bytes();
      if (bytes > 0) alignment_[pc] = static_cast<uint8_t>(bytes & (~bytes + 1));
      // A barrier for some of the threads says nothing about the others.
      if (instruction.op() == v1::OP_BARRIER && instruction.barrier_threads() == 0) {
        barriers_of_block_.push_back({b, instruction.barrier_id()});
        has_barrier_[b] = true;
      }
    }
  }
}

std::string LaunchChecker::Place(size_t thread) const {
  const bool cut = chunk_.part > 0 || !chunk_.last_part;
  return absl::StrCat("launch ", launch_.launch.id(), ", block ", chunk_.blocks[thread / chunk_.threads_per_block],
                      cut ? absl::StrCat(", part ", chunk_.part) : "", ", thread ", thread % chunk_.threads_per_block);
}

absl::Status LaunchChecker::Run() {
  for (const v1::ChunkReference& reference : launch_.chunks) {
    const absl::Status status = reader_.ReadChunk(reference, chunk_);
    if (absl::IsDataLoss(status)) {
      findings_.Add(
          kError, "chunk", [&] { return absl::StrCat("launch ", launch_.launch.id(), ", frame ", reference.frame()); },
          [&] { return std::string(status.message()); });
      complete_ = false;
      part_states_.clear();
      continue;
    }
    if (!status.ok()) return status;
    ++report_.chunks;
    thread_instructions_ += chunk_.thread_instructions;
    accesses_ += chunk_.accesses;
    if (chunk_.part == 0) report_.threads += chunk_.path_of_thread.size();
    CheckParts();
    HEDDLE_RETURN_IF_ERROR(CheckLastWriters(reference));
    std::vector<uint32_t> order(chunk_.path_of_thread.size());
    for (uint32_t t = 0; t < order.size(); ++t) order[t] = t;
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t a, uint32_t b) { return chunk_.path_of_thread[a] < chunk_.path_of_thread[b]; });
    barriers_of_path_.assign(chunk_.paths.size(), BarrierCounts{});
    uint32_t path = ~uint32_t{0};
    for (uint32_t thread : order) {
      if (chunk_.path_of_thread[thread] != path) {
        path = chunk_.path_of_thread[thread];
        CheckPath(path);
      }
      CheckThread(thread);
    }
    CheckBarriers();
  }
  CheckTotals();
  report_.thread_instructions += thread_instructions_;
  report_.accesses += accesses_;
  return absl::OkStatus();
}

absl::Status LaunchChecker::CheckLastWriters(const v1::ChunkReference& reference) {
  v1::BlockChunk encoded;
  HEDDLE_RETURN_IF_ERROR(reader_.ReadChunk(reference, encoded));
  if (!HasLastWriters(encoded)) return absl::OkStatus();
  std::vector<WrittenRead> reads;
  const absl::Status status =
      DecodeLastWriters(encoded, program_, launch_.grid_blocks, launch_.threads_per_block, reads);
  const auto tell = [&](const std::function<std::string()>& what) {
    findings_.Add(
        kError, "last-writers",
        [&] { return absl::StrCat("launch ", launch_.launch.id(), ", frame ", reference.frame()); }, what);
  };
  if (!status.ok()) tell([&] { return std::string(status.message()); });
  for (const WrittenRead& read : reads) {
    const v1::OpClass reader = program_.instruction(read.instruction).op();
    const v1::OpClass writer = program_.instruction(read.write.instruction).op();
    if (reader == v1::OP_STORE || (writer != v1::OP_STORE && writer != v1::OP_ATOMIC)) {
      tell([&] {
        const auto name = [&](Pc pc) { return InstructionPlace(reader_.header(), program_, pc); };
        return absl::StrCat(name(read.write.instruction), " is said to write what ", name(read.instruction),
                            " reads, but they do not");
      });
      break;
    }
  }
  return absl::OkStatus();
}

// Where each thread stands after a part must be where its next part starts.
void LaunchChecker::CheckParts() {
  if (chunk_.part == 0) {
    part_states_.clear();
    part_barriers_.clear();
    if (chunk_.last_part) return;
    part_states_.assign(chunk_.path_of_thread.size(), WalkState());
    part_barriers_.assign(chunk_.path_of_thread.size(), BarrierCounts{});
  } else if (part_states_.empty()) {
    return;  // the part in front could not be read, which has been reported
  }
  for (size_t t = 0; t < chunk_.path_of_thread.size(); ++t) {
    const PathView& path = chunk_.paths[chunk_.path_of_thread[t]];
    WalkState& state = part_states_[t];
    const bool ended = path.extent == Extent::kEnded;
    const bool meets =
        ended ? state.ended
              : !state.ended && path.start_block == state.block &&
                    std::equal(path.call_stack.begin(), path.call_stack.end(), state.stack.begin(), state.stack.end());
    if (!meets) {
      findings_.Add(
          kError, "part-continuity", [&] { return Place(t); },
          [&]() -> std::string {
            if (ended) return "the thread is marked as ended, but its part before did not reach an exit";
            if (state.ended) return "the thread goes on behind its exit";
            return absl::StrCat("starts at block ", path.start_block, " with ", path.call_stack.size(),
                                " calls pending, the part before stopped at block ", state.block, " with ",
                                state.stack.size());
          });
    }
    state = WalkState{path.start_block, {path.call_stack.begin(), path.call_stack.end()}, ended};
    PackedDecisions decisions(path);
    uint64_t instructions = 0;
    (void)Walk(program_, path.extent, decisions, state, ~uint64_t{0}, instructions, [](uint32_t, const Block&) {});
  }
}

// Collects the accesses and barriers of a path, and checks that a thread that runs a branch later reaches the branch's
// reconvergence point at the same call depth, or exits (specification "divergence-common", section 1).
void LaunchChecker::CheckPath(size_t index) {
  const PathView& path = chunk_.paths[index];
  path_accesses_.clear();
  awaited_.clear();
  frames_.assign(path.call_stack.size() + 1, {0, 0});
  for (size_t f = 0; f < frames_.size(); ++f) frames_[f].first = f;
  uint64_t next_frame = frames_.size();
  const auto key = [&](uint32_t block) { return frames_.back().first << 17 | block; };
  WalkState state{path.start_block, {path.call_stack.begin(), path.call_stack.end()}, path.extent == Extent::kEnded};
  PackedDecisions decisions(path);
  uint64_t instructions = 0;
  const WalkStatus status =
      Walk(program_, path.extent, decisions, state, ~uint64_t{0}, instructions, [&](uint32_t b, const Block& block) {
        for (Pc pc : program_.accesses_of(block)) path_accesses_.push_back(pc);
        if (has_barrier_[b]) {
          auto it = std::lower_bound(barriers_of_block_.begin(), barriers_of_block_.end(), std::pair(b, uint32_t{0}));
          for (; it != barriers_of_block_.end() && it->first == b; ++it) ++barriers_of_path_[index][it->second];
        }
        if (!has_calls_) return;  // without returns, only an exit ends a path
        if (reconverges_[b] && awaited_.erase(key(b)) > 0) --frames_.back().second;
        switch (block.terminator) {
          case v1::BRANCH_CONDITIONAL:
          case v1::BRANCH_WIDE:
            if (block.post_dominator != kNoBlock && awaited_.insert(key(block.post_dominator)).second) {
              ++frames_.back().second;
            }
            break;
          case v1::CALL:
          case v1::CALL_INDIRECT:
            frames_.push_back({next_frame++, 0});
            break;
          case v1::RETURN:
            if (frames_.back().second > 0) {
              findings_.Add(
                  kError, "reconvergence",
                  [&] {
                    return absl::StrCat("launch ", launch_.launch.id(), ", first block ", chunk_.blocks[0], ", path ",
                                        index, ", block ", b);
                  },
                  [&] { return "a thread returns without having reached the reconvergence point of a branch"; });
            }
            frames_.pop_back();
            break;
          default:
            break;
        }
      });
  (void)status;  // DecodeChunk walked the same path and found nothing wrong
}

void LaunchChecker::CheckThread(size_t thread) {
  uint64_t position = chunk_.first_address[thread];
  for (Pc pc : path_accesses_) CheckAddress(thread, pc, chunk_.address(position++, pc));
}

void LaunchChecker::CheckAddress(size_t thread, Pc pc, uint64_t address) {
  const v1::Instruction& instruction = program_.instruction(pc);
  const uint64_t bytes = instruction.access_bytes();
  const auto place = [&] {
    return absl::StrCat(Place(thread), ", ", InstructionPlace(reader_.header(), program_, pc));
  };
  const auto what = [&](absl::string_view rule) {
    return absl::StrCat(bytes, " bytes at address 0x", absl::Hex(address), " ", rule);
  };
  if (address & (alignment_[pc] - 1u)) {
    findings_.Add(kWarning, "alignment", place, [&] { return what("are not aligned to their size"); });
  }
  switch (instruction.space()) {
    case v1::SPACE_SHARED:
    case v1::SPACE_LOCAL:
    case v1::SPACE_CONSTANT:
    case v1::SPACE_PARAM: {
      const AddressRanges& window = windows_[static_cast<size_t>(instruction.space())];
      if (!window.empty() && !window.Holds(address, bytes)) {
        findings_.Add(kWarning, "window", place, [&] { return what("lie outside the window of their memory space"); });
      }
      return;
    }
    case v1::SPACE_GENERIC:
      if (all_windows_.Holds(address, bytes)) return;
      break;
    default:
      break;
  }
  if (!allocations_.empty() && !allocations_.Holds(address, bytes)) {
    findings_.Add(kWarning, "allocation", place, [&] { return what("lie outside all allocations of the launch"); });
  }
}

void LaunchChecker::CheckBarriers() {
  if (barriers_of_block_.empty()) return;
  const bool cut = chunk_.part > 0 || !chunk_.last_part;
  if (cut && part_barriers_.empty()) return;
  const auto counts_of = [&](size_t t) -> const BarrierCounts& {
    return cut ? part_barriers_[t] : barriers_of_path_[chunk_.path_of_thread[t]];
  };
  if (cut) {
    for (size_t t = 0; t < part_barriers_.size(); ++t) {
      const BarrierCounts& more = barriers_of_path_[chunk_.path_of_thread[t]];
      for (uint32_t id = 0; id < kBarriers; ++id) part_barriers_[t][id] += more[id];
    }
    if (!chunk_.last_part) return;
  }
  for (size_t t = 0; t < chunk_.path_of_thread.size(); ++t) {
    const size_t first = t / chunk_.threads_per_block * chunk_.threads_per_block;
    const BarrierCounts& one = counts_of(first);
    const BarrierCounts& other = counts_of(t);
    if (one == other) continue;
    findings_.Add(
        kWarning, "barrier-counts", [&] { return Place(t); },
        [&]() -> std::string {
          uint32_t id = 0;
          while (one[id] == other[id]) ++id;
          return absl::StrCat("runs barrier ", id, " ", other[id], " times, thread 0 of its block ", one[id], " times");
        });
  }
}

void LaunchChecker::CheckTotals() {
  if (!complete_) return;
  if (thread_instructions_ != launch_.totals.thread_instructions() || accesses_ != launch_.totals.accesses()) {
    findings_.Add(
        kError, "totals", [&] { return absl::StrCat("launch ", launch_.launch.id()); },
        [&] { return "the chunks do not add up to the totals of the launch"; });
  }
}

}  // namespace heddle::trace
