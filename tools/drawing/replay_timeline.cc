#include "tools/drawing/replay_timeline.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tools/console/table.h"
#include "tools/drawing/timeline_writer.h"
#include "traces/base/status_macros.h"

namespace heddle::tools {
namespace {

using replay::Cycle;

constexpr uint64_t kMostEvents = 4'000'000;  // about 250 MB of file; viewers take no more
constexpr uint64_t kBinCycles = 100;         // of the machine's counters, at first
constexpr uint64_t kPhaseBlocks = 64;        // whose warps' phases are shown
constexpr Cycle kEnd = (Cycle{1} << 62) - 1;

// "A-B" with A <= B.
bool ParseRange(absl::string_view text, uint64_t& first, uint64_t& last) {
  const std::vector<absl::string_view> ends = absl::StrSplit(text, '-');
  return ends.size() == 2 && absl::SimpleAtoi(ends[0], &first) && absl::SimpleAtoi(ends[1], &last) && first <= last;
}

}  // namespace

absl::StatusOr<std::vector<uint32_t>> ParseSms(const std::string& text, uint32_t count) {
  std::set<uint32_t> sms;
  if (text.empty()) {
    for (uint32_t sm = 0; sm < count; ++sm) sms.insert(sm);
  }
  for (const absl::string_view part : absl::StrSplit(text, ',')) {
    if (text.empty()) break;
    uint64_t first = 0;
    uint64_t last = 0;
    if (absl::SimpleAtoi(part, &first)) {
      last = first;
    } else if (!ParseRange(part, first, last)) {
      return absl::InvalidArgumentError(absl::StrCat("--sm ", text, ": are numbers and ranges, such as 0,4-7"));
    }
    if (last >= count) {
      return absl::InvalidArgumentError(absl::StrCat("--sm ", text, ": the machine has SMs 0 to ", count - 1));
    }
    for (uint64_t sm = first; sm <= last; ++sm) sms.insert(static_cast<uint32_t>(sm));
  }
  return std::vector<uint32_t>(sms.begin(), sms.end());
}

absl::StatusOr<std::unique_ptr<ReplayTimeline>> ReplayTimeline::Create(const TimelineArguments& arguments,
                                                                       replay::ReplayOptions& options, size_t runs) {
  if (runs != 1) {
    return absl::InvalidArgumentError(absl::StrCat("--timeline: a timeline is of one run, these are ", runs,
                                                   ": name one trace and one policy of each kind, without --jitter"));
  }
  if (options.observer != nullptr) return absl::InvalidArgumentError("--timeline and --draw: one of them at a time");
  Cycle first = 0;
  Cycle last = kEnd;
  if (!arguments.cycles.empty() && (!ParseRange(arguments.cycles, first, last) || last > kEnd)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--timeline-cycles ", arguments.cycles, ": is written FIRST-LAST, such as 1000-1999"));
  }
  HEDDLE_ASSIGN_OR_RETURN(std::vector<uint32_t> sms, ParseSms(arguments.sms, options.machine.sms()));
  HEDDLE_ASSIGN_OR_RETURN(OutputFile file, OutputFile::Create(arguments.output));
  auto timeline = std::unique_ptr<ReplayTimeline>(new ReplayTimeline(std::move(sms), first, last, std::move(file)));
  options.observer = &timeline->recording_;
  if (options.metrics.bin_cycles == 0) {
    options.metrics.bin_cycles = kBinCycles;
    timeline->own_bins_ = true;
  }
  if (options.metrics.timeline_blocks == 0) {
    options.metrics.timeline_blocks = kPhaseBlocks;
    timeline->own_phases_ = true;
  }
  return timeline;
}

ReplayTimeline::ReplayTimeline(std::vector<uint32_t> sms, Cycle first, Cycle last, OutputFile file)
    : recording_(std::move(sms), first, last, kMostEvents), file_(std::move(file)) {}

absl::Status ReplayTimeline::Write(const trace::TraceReader& trace, result::v1::Result& result) {
  if (recording_.full()) {
    return absl::FailedPreconditionError(
        absl::StrCat("--timeline: these cycles have more than ", WithThousands(kMostEvents),
                     " events; name fewer with --timeline-cycles, or fewer SMs with --sm"));
  }
  if (recording_.events() == 0) {
    uint64_t longest = 0;
    for (const result::v1::LaunchResult& launch : result.launch()) longest = std::max(longest, launch.cycles());
    return absl::FailedPreconditionError(
        absl::StrCat("--timeline: these SMs do nothing in these cycles; the longest launch takes ",
                     WithThousands(longest), " cycles"));
  }
  absl::Status status = file_.WriteBytes(TimelineFile(recording_, trace, result));
  if (status.ok()) status = file_.Commit();
  for (result::v1::LaunchResult& launch : *result.mutable_launch()) {
    if (own_bins_) launch.clear_time_series();
    if (own_phases_) launch.clear_warp_timeline();
  }
  return status;
}

}  // namespace heddle::tools
