// Which threads of a warp have to execute an instruction together by a rule of compilers and languages, and what a
// replay makes of that (`--check-convergence`).
#ifndef HEDDLE_TOOLS_SHOW_CONVERGENCE_CHECK_H_
#define HEDDLE_TOOLS_SHOW_CONVERGENCE_CHECK_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "replay/analysis/cycle_nest.h"
#include "replay/analysis/dynamic_instances.h"
#include "replay/engine/replay.h"
#include "tools/console/json.h"
#include "traces/format/read/reader.h"

namespace heddle::tools {

// The rule of that name: "cycle" or "construct". InvalidArgument for another.
absl::StatusOr<replay::ConvergenceRule> ParseConvergenceRule(const std::string& name);
const char* NameOf(replay::ConvergenceRule rule);

// What was found of some instructions. A dynamic instance is of one warp of the recording: the executions of an
// instruction by those of its threads that the rule puts together.
struct ConvergenceCounts {
  uint64_t instances = 0;
  uint64_t shared = 0;     // of those, by two threads or more: only these can be kept or broken
  uint64_t broken = 0;     // of `shared`, issued in two parts or more
  uint64_t parts = 0;      // issues of those that are broken
  uint64_t exceeding = 0;  // issues that hold threads of one warp which the rule does not put together
  uint64_t regrouped = 0;  // issues that hold threads of several warps

  void Add(const ConvergenceCounts& other);
};

// Watches the replays of one trace, whose warps have `warp_size` threads. Runs come one after the other.
// Memory: some hundred bytes per thread of the blocks that are under way, and 16 per dynamic instance of theirs.
class ConvergenceCheck final : public replay::IssueObserver {
 public:
  ConvergenceCheck(const trace::TraceReader& reader, replay::ConvergenceRule rule, uint32_t warp_size)
      : reader_(reader), rule_(rule), warp_size_(warp_size) {}

  void Issued(const replay::IssueEvent& event) override;

  // To be called once, when all runs have ended.
  void Finish();
  // Errors: cycles that are nested too deep; more dynamic instances at once than kMostInstances.
  absl::Status status() const { return status_; }

  static constexpr uint64_t kMostInstances = uint64_t{1} << 26;

  // Of all instructions, or of those whose result depends on who executes them together, such as shuffles and votes,
  // over all launches of a configuration.
  ConvergenceCounts Total(uint32_t configuration) const;
  ConvergenceCounts TotalOfWarpOperations(uint32_t configuration) const;
  // Where most is broken under the configuration, for people: "bfs.cu:42"; empty if nothing is.
  std::string Worst(uint32_t configuration) const;
  // Adds `convergence` to each launch of a result in JSON (docs/reference/metrics.md).
  void AddTo(uint32_t configuration, nlohmann::ordered_json& result) const;

 private:
  struct Instance {
    uint32_t threads = 0;
    uint32_t issues = 0;
    replay::Pc pc = 0;
  };
  struct Block {
    std::vector<replay::ThreadInstances> threads;
    std::vector<std::unordered_map<uint64_t, Instance>> instances;  // by warp
    uint64_t live = 0;                                              // threads that have not ended
  };
  // Threads of an issue that the rule puts together.
  struct Group {
    Block* block;
    uint32_t warp;
    uint64_t instance;
    replay::Pc pc;
    uint32_t threads;
  };
  using Run = std::pair<uint32_t, uint32_t>;      // configuration and launch
  using Counts = std::vector<ConvergenceCounts>;  // by PC
  using Nests = std::map<const trace::Program*, replay::CycleNest>;

  void Begin(const Run& run);
  Block& FindBlock(uint64_t number);
  // The lane executes its instruction: which of the issue's groups it belongs to.
  void Execute(const replay::IssueEvent::Lane& lane);
  void CountIssue();
  void Fold(const Block& block);
  // Whether the instruction is the last one of a thread.
  bool EndsThread(replay::Pc pc) const;
  template <typename Wanted>
  ConvergenceCounts Sum(uint32_t configuration, Wanted wanted) const;

  const trace::TraceReader& reader_;
  const replay::ConvergenceRule rule_;
  const uint32_t warp_size_;
  std::map<Run, Counts> found_;
  Nests nests_;
  absl::Status status_;

  // The run.
  std::optional<Run> run_;
  Counts* counts_ = nullptr;
  const trace::LaunchView* launch_ = nullptr;
  const replay::CycleNest* nest_ = nullptr;
  std::unordered_map<uint64_t, std::unique_ptr<Block>> blocks_;
  uint64_t instances_ = 0;     // of blocks_
  std::vector<Group> groups_;  // of the issue
};

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_SHOW_CONVERGENCE_CHECK_H_
