#include "traces/format/check.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "traces/format/container_writer.h"
#include "traces/format/frame_reader.h"
#include "traces/format/walk.h"

namespace heddle::trace {
namespace {

// Findings of one launch or of the file: the first of each rule is kept, further ones are counted.
class Findings {
 public:
  explicit Findings(std::vector<Finding>& out) : out_(out) {}
  void StartLaunch() { first_.clear(); }
  void Add(Finding::Severity severity, const std::string& rule, absl::string_view place, absl::string_view message) {
    auto [it, inserted] = first_.try_emplace(rule, out_.size());
    if (!inserted) {
      ++out_[it->second].count;
      return;
    }
    out_.push_back({severity, rule, std::string(place), std::string(message), 1});
  }
  void Error(const std::string& rule, absl::string_view place, absl::string_view message) {
    Add(Finding::Severity::kError, rule, place, message);
  }
  void Warning(const std::string& rule, absl::string_view place, absl::string_view message) {
    Add(Finding::Severity::kWarning, rule, place, message);
  }
  bool Listed(const std::string& rule) {
    auto it = first_.find(rule);
    if (it == first_.end()) return false;
    ++out_[it->second].count;
    return true;
  }

 private:
  std::vector<Finding>& out_;
  std::map<std::string, size_t> first_;
};

// Address ranges, merged and sorted, for quick look-ups.
class Ranges {
 public:
  void Add(uint64_t base, uint64_t bytes) {
    if (bytes > 0) ranges_.push_back({base, base + (bytes - 1)});
  }
  void Sort() {
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
  bool empty() const { return ranges_.empty(); }
  bool Holds(uint64_t address, uint64_t bytes) const {
    const uint64_t end = address + (bytes - 1);
    if (end < address) return false;
    auto it = std::upper_bound(ranges_.begin(), ranges_.end(), std::pair(address, ~uint64_t{0}));
    return it != ranges_.begin() && end <= std::prev(it)->second;
  }
  bool Touches(uint64_t address) const { return Holds(address, 1); }

 private:
  std::vector<std::pair<uint64_t, uint64_t>> ranges_;  // first and last byte
};

// Checks one launch, chunk by chunk.
class LaunchChecker {
 public:
  LaunchChecker(const TraceReader& reader, const LaunchView& launch, Findings& findings, CheckReport& report)
      : reader_(reader), launch_(launch), program_(*launch.program), findings_(findings), report_(report) {
    for (const v1::AddressWindow& window : reader.header().window()) {
      windows_[window.space()].Add(window.base(), window.bytes());
      any_window_.Add(window.base(), window.bytes());
    }
    for (auto& [space, ranges] : windows_) ranges.Sort();
    any_window_.Sort();
    for (const v1::Allocation& allocation : launch.launch.allocation()) {
      allocations_.Add(allocation.base(), allocation.bytes());
    }
    allocations_.Sort();
    std::vector<uint32_t> ids;
    barrier_of_.assign(program_.instruction_count(), kNoBarrier);
    for (Pc pc = 0; pc < program_.instruction_count(); ++pc) {
      const v1::Instruction& instruction = program_.instruction(pc);
      // A barrier of some threads only says nothing about the others.
      if (instruction.op() == v1::OP_BARRIER && instruction.barrier_threads() == 0) {
        barrier_of_[pc] = instruction.barrier_id();
        has_barriers_ = true;
      }
    }
    has_barrier_.assign(program_.blocks().size(), false);
    for (Pc pc = 0; pc < program_.instruction_count(); ++pc) {
      if (barrier_of_[pc] != kNoBarrier) has_barrier_[program_.block_of(pc)] = true;
    }
  }

  absl::Status Run() {
    for (const v1::ChunkReference& reference : launch_.chunks) {
      absl::Status status = reader_.ReadChunk(reference, chunk_);
      if (!status.ok()) {
        if (!absl::IsDataLoss(status)) return status;
        findings_.Error("chunk", absl::StrCat("launch ", launch_.launch.id(), ", frame ", reference.frame()),
                        status.message());
        part_states_.clear();
        continue;
      }
      ++report_.chunks;
      report_.thread_instructions += chunk_.thread_instructions;
      report_.accesses += chunk_.accesses;
      if (chunk_.part == 0) report_.threads += chunk_.path_of_thread.size();
      CheckParts();
      CheckPaths();
      CheckBarriers();
      CheckAddresses();
    }
    return absl::OkStatus();
  }

 private:
  static constexpr uint32_t kNoBarrier = ~uint32_t{0};
  static constexpr uint32_t kBarriers = 16;

  std::string Place(size_t thread) const {
    return absl::StrCat("launch ", launch_.launch.id(), ", block ", chunk_.blocks[thread / chunk_.threads_per_block],
                        chunk_.part > 0 || !chunk_.last_part ? absl::StrCat(", part ", chunk_.part) : "", ", thread ",
                        thread % chunk_.threads_per_block);
  }

  // Where each thread stands after a part must be where its next part starts.
  void CheckParts() {
    const bool cut = chunk_.part > 0 || !chunk_.last_part;
    if (!cut) {
      part_states_.clear();
      return;
    }
    if (chunk_.part == 0) {
      part_states_.assign(chunk_.path_of_thread.size(), WalkState());
    } else if (part_states_.size() != chunk_.path_of_thread.size()) {
      return;  // a part in front could not be read, which has been reported
    }
    for (size_t t = 0; t < chunk_.path_of_thread.size(); ++t) {
      const PathView& path = chunk_.paths[chunk_.path_of_thread[t]];
      WalkState& state = part_states_[t];
      if (state.ended != (path.extent == Extent::kEnded)) {
        findings_.Error("part-continuity", Place(t),
                        state.ended ? "the thread goes on after its exit" : "the thread ends without an exit");
        continue;
      }
      if (state.ended) continue;
      if (path.start_block != state.block ||
          !std::equal(path.call_stack.begin(), path.call_stack.end(), state.stack.begin(), state.stack.end())) {
        findings_.Error(
            "part-continuity", Place(t),
            absl::StrCat("starts at block ", path.start_block, ", the part before stopped at block ", state.block));
        state.block = path.start_block;
        state.stack.assign(path.call_stack.begin(), path.call_stack.end());
      }
      PackedDecisions decisions(path);
      uint64_t instructions = 0;
      (void)Walk(program_, path.extent, decisions, state, ~uint64_t{0}, instructions, [](uint32_t, const Block&) {});
    }
  }

  // Each thread that runs a branch later reaches its reconvergence point at the same call depth, or exits.
  void CheckPaths() {
    for (size_t p = 0; p < chunk_.paths.size(); ++p) {
      const PathView& path = chunk_.paths[p];
      if (path.extent == Extent::kEnded) continue;
      visits_.clear();
      WalkState state{path.start_block, {path.call_stack.begin(), path.call_stack.end()}, false};
      PackedDecisions decisions(path);
      uint64_t instructions = 0;
      const WalkStatus status = Walk(program_, path.extent, decisions, state, ~uint64_t{0}, instructions,
                                     [&](uint32_t b, const Block& block) {
                                       visits_.push_back({b, static_cast<uint32_t>(state.stack.size())});
                                       (void)block;
                                     });
      if (status != WalkStatus::kOk) continue;  // DecodeChunk has refused it
      CheckReconvergence(p, state.ended);
    }
  }

  void CheckReconvergence(size_t p, bool exits) {
    // Backwards: which (block, depth) the rest of the path still visits in the same frame. A frame's blocks follow one
    // another in `visits_` with those of deeper frames between them.
    std::vector<std::vector<bool>> later(1);
    (void)exits;
    seen_.assign(program_.blocks().size(), 0);
    // One pass per frame depth would be quadratic in deep recursion; frames are kept on a stack while walking
    // backwards.
    struct Frame {
      uint32_t depth;
      std::vector<uint32_t> blocks;
    };
    (void)p;
  }

  void CheckBarriers() {}
  void CheckAddresses() {}

  const TraceReader& reader_;
  const LaunchView& launch_;
  const Program& program_;
  Findings& findings_;
  CheckReport& report_;
  DecodedChunk chunk_;
  std::map<int, Ranges> windows_;
  Ranges any_window_;
  Ranges allocations_;
  std::vector<uint32_t> barrier_of_;
  std::vector<bool> has_barrier_;
  bool has_barriers_ = false;
  std::vector<WalkState> part_states_;
  std::vector<std::pair<uint32_t, uint32_t>> visits_;
  std::vector<uint32_t> seen_;
};

}  // namespace

bool CheckReport::ok() const {
  return std::none_of(findings.begin(), findings.end(),
                      [](const Finding& finding) { return finding.severity == Finding::Severity::kError; });
}

absl::StatusOr<CheckReport> CheckTrace(const TraceReader& reader) {
  CheckReport report;
  Findings findings(report.findings);
  for (const LaunchView& launch : reader.launches()) {
    findings.StartLaunch();
    if (absl::Status status = LaunchChecker(reader, launch, findings, report).Run(); !status.ok()) return status;
  }
  return report;
}

}  // namespace heddle::trace
