// `heddle trace limits`.
#include <CLI/CLI.hpp>
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "replay/analysis/limit_study.h"
#include "tools/console/command.h"
#include "tools/console/json.h"
#include "tools/console/option_checks.h"
#include "tools/console/output.h"
#include "tools/console/table.h"
#include "tools/console/terminal.h"
#include "tools/inputs/trace_file.h"
#include "traces/format/program/kernel_name.h"

namespace heddle::tools {
namespace {

using Json = nlohmann::ordered_json;
using replay::BlockLimit;
using replay::LaunchLimits;
using replay::LimitOptions;

using enum Table::Align;

// Share of the lanes that work, in per cent.
double Activity(uint64_t thread_instructions, uint64_t issues, uint32_t warp_size) {
  if (issues == 0) return 0;
  return 100 * static_cast<double>(thread_instructions) / (static_cast<double>(issues) * warp_size);
}

std::string Ratio(uint64_t part, uint64_t whole) {
  return whole == 0 ? "-" : Decimal(static_cast<double>(part) / static_cast<double>(whole), 3);
}

std::string Text(const std::vector<LaunchLimits>& launches, const LimitOptions& options) {
  Table bound({{"launch"}, {"kernel", kLeft}, {"thread-instructions"}, {"fewest issues"}, {"lane activity"}});
  Table study({{"launch"},
               {"kernel", kLeft},
               {"warps"},
               {"never"},
               {"post-dominator"},
               {"optimal"},
               {"gain"},
               {"greedy"},
               {"too long"}});
  for (const LaunchLimits& launch : launches) {
    const std::string id = absl::StrCat(launch.launch);
    const std::string kernel = trace::ShortKernelName(launch.kernel);
    bound.AddRow(
        {id, kernel, WithThousands(launch.thread_instructions), WithThousands(launch.lane_activity_issues),
         absl::StrCat(Decimal(Activity(launch.thread_instructions, launch.lane_activity_issues, options.warp_size), 1),
                      " %")});
    study.AddRow({id, kernel, WithThousands(launch.warps), WithThousands(launch.nrec_issues),
                  WithThousands(launch.pdom_issues), WithThousands(launch.optimal_issues),
                  Ratio(launch.pdom_issues, launch.optimal_issues), WithThousands(launch.heuristic_warps),
                  WithThousands(launch.long_warps)});
  }
  return absl::StrCat(
      "Regrouping: fewest issues of warps of ", options.warp_size, " out of one ",
      options.scope_is_block ? "block" : "launch", ", threads in ",
      options.lane_fixed ? "their home lanes" : "any lane", ", in any order\n", bound.Text(2),
      "\nReconvergence: issues of static warps, by where they rejoin\n", study.Text(2),
      "\n  gain: issues at post-dominators by optimal ones. greedy: warps with more than four paths, for "
      "which fewer may\n  do. too long: warps that were not aligned, and count as at post-dominators.\n");
}

Json ToJson(const LaunchLimits& launch, const LimitOptions& options) {
  Json blocks = Json::array();
  for (const BlockLimit& block : launch.blocks) {
    blocks.push_back({{"block", block.block},
                      {"thread_instructions", block.executions},
                      {"issues", block.issues},
                      {"lost_issues", block.lost_issues(options.warp_size)}});
  }
  return {{"launch", launch.launch},
          {"kernel", launch.kernel},
          {"warp_size", options.warp_size},
          {"thread_instructions", launch.thread_instructions},
          {"lane_activity",
           {{"scope", options.scope_is_block ? "block" : "kernel"},
            {"lane_fixed", options.lane_fixed},
            {"swizzle", options.swizzle},
            {"issues", launch.lane_activity_issues},
            {"blocks", blocks}}},
          {"reconvergence",
           {{"warps", launch.warps},
            {"thread_instructions", launch.studied_instructions},
            {"nrec_issues", launch.nrec_issues},
            {"pdom_issues", launch.pdom_issues},
            {"optimal_issues", launch.optimal_issues},
            {"heuristic_warps", launch.heuristic_warps},
            {"long_warps", launch.long_warps},
            {"fallback_warps", launch.fallback_warps}}}};
}

// How few issues warps could need: lane-activity bound and optimal reconvergence.
int ShowLimits(const std::string& path, const LimitOptions& options, bool json) {
  const auto reader = OpenTrace(path);
  if (!reader.ok()) return ReportError(TraceErrorStatus(reader.status()), reader.status());
  const auto launches = replay::StudyLimits(**reader, options);
  if (!launches.ok()) return ReportError(kFailed, launches.status());
  std::string text;
  if (json) {
    Json all = Json::array();
    for (const LaunchLimits& launch : *launches) all.push_back(ToJson(launch, options));
    text = absl::StrCat(JsonLine(all), "\n");
  } else {
    text = Text(*launches, options);
  }
  const absl::Status written = WriteStandardOutput(text);
  return written.ok() ? kSuccess : ReportError(kFailed, written);
}

class TraceLimits final : public Command {
 public:
  void AddOptions(CLI::App& command) override {
    command.add_option("--warp-size", limits_.warp_size, "Threads of a warp")
        ->check(WholeNumberFromTo(1, 64))
        ->capture_default_str();
    command.add_option("--scope", scope_, "Whose threads may share a warp in the lane-activity bound")
        ->check(CLI::IsMember({"block", "kernel"}))
        ->capture_default_str();
    command.add_flag("--free-lanes", free_lanes_, "Threads may sit in any lane");
    command.add_flag("--swizzle", limits_.swizzle, "Odd warps swap the home lanes of neighbours");
    command
        .add_option("--first-threads", limits_.first_threads,
                    "Reconvergence study of the first so many threads of a launch only (Fung: 128)")
        ->check(PositiveWholeNumber());
    command.add_option("TRACE", trace_, "Trace file")->required();
    command.add_flag("--json", json_, "Print JSON");
  }

  int Run() override {
    limits_.lane_fixed = !free_lanes_;
    limits_.scope_is_block = scope_ == "block";
    return ShowLimits(trace_, limits_, json_);
  }

 private:
  std::string trace_;
  replay::LimitOptions limits_;
  std::string scope_ = "block";
  bool free_lanes_ = false;
  bool json_ = false;
};

HEDDLE_COMMAND(TraceLimits, .name = "trace limits", .place = 3,
               .summary = "How few issues warps could need, whatever the policy: lane activity, optimal reconvergence");

}  // namespace
}  // namespace heddle::tools
