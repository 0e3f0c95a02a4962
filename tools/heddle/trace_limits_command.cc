#include <algorithm>

#include "absl/strings/str_cat.h"
#include "tools/console/json.h"
#include "tools/console/output.h"
#include "tools/console/table.h"
#include "tools/console/terminal.h"
#include "tools/heddle/trace_commands.h"
#include "tools/inputs/trace_file.h"
#include "traces/format/program/kernel_name.h"

namespace heddle::tools {
namespace {

using Json = nlohmann::ordered_json;
using replay::BlockLimit;
using replay::LaunchLimits;
using replay::LimitOptions;

constexpr Table::Align kLeft = Table::Align::kLeft;

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

}  // namespace

int TraceLimitsCommand(const std::string& path, const LimitOptions& options, bool json) {
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

}  // namespace heddle::tools
