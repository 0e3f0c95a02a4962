#include "tools/drawing/replay_drawing.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tools/drawing/issue_drawing.h"
#include "tools/inputs/policy_list.h"
#include "traces/base/status_macros.h"
#include "traces/format/program/kernel_name.h"
#include "traces/format/program/kernel_pattern.h"

namespace heddle::tools {
namespace {

using replay::Cycle;

constexpr uint64_t kDefaultCycles = 240;
constexpr Cycle kMostCycles = 4000;  // a drawing of 8,000 pixels; beyond that nobody sees anything

absl::Status ParseCycles(const std::string& text, RecordedPart& part) {
  part.cycles = kDefaultCycles;
  if (text.empty()) return absl::OkStatus();
  Cycle first = 0;
  Cycle last = 0;
  const std::vector<std::string> ends = absl::StrSplit(text, '-');
  if (ends.size() != 2 || !absl::SimpleAtoi(ends[0], &first) || !absl::SimpleAtoi(ends[1], &last) || last < first) {
    return absl::InvalidArgumentError(
        absl::StrCat("--draw-cycles ", text, ": is written FIRST-LAST, such as 1000-1239"));
  }
  if (last - first >= kMostCycles) {
    return absl::InvalidArgumentError(absl::StrCat("--draw-cycles ", text, ": are ", last - first + 1,
                                                   " cycles, and a drawing has room for ", kMostCycles));
  }
  part.first = first;
  part.cycles = last - first + 1;
  return absl::OkStatus();
}

std::string LaunchText(const trace::LaunchView& launch) {
  return absl::StrCat("launch ", launch.launch.id(), " of ", trace::BriefKernelName(launch.program->name()));
}

// That the launch is there, and is replayed with this --kernels.
absl::Status CheckLaunch(uint32_t id, const trace::TraceReader& trace, const std::string& kernels) {
  const auto refuse = [id](const std::string& why) {
    return absl::InvalidArgumentError(absl::StrCat("--draw-launch ", id, ": ", why));
  };
  const size_t count = trace.launches().size();
  if (id >= count) {
    return refuse(absl::StrCat("the trace has ", count,
                               count == 1 ? " launch, number 0" : absl::StrCat(" launches, 0 to ", count - 1)));
  }
  const trace::LaunchView& launch = trace.launches()[id];
  if (!launch.launch.recorded()) return refuse("was not recorded; `heddle trace info` shows which were");
  HEDDLE_ASSIGN_OR_RETURN(const trace::KernelPattern pattern, trace::KernelPattern::Parse(kernels));
  if (pattern.Matches(launch.program->name())) return absl::OkStatus();
  return refuse(absl::StrCat("is of ", trace::BriefKernelName(launch.program->name()), ", which --kernels \"", kernels,
                             "\" leaves out"));
}

}  // namespace

absl::StatusOr<std::unique_ptr<ReplayDrawing>> ReplayDrawing::Create(
    const DrawArguments& arguments, const machine::v1::Machine& machine,
    const std::vector<replay::CheckedConfiguration>& runs, const std::vector<const trace::TraceReader*>& traces,
    const std::string& kernels) {
  if (runs.size() != 1 || traces.size() != 1) {
    return absl::InvalidArgumentError(absl::StrCat("--draw: a drawing is of one run, these are ",
                                                   runs.size() * traces.size(),
                                                   ": name one trace and one policy of each kind, without --jitter"));
  }
  if (arguments.sm >= machine.sms()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--draw-sm ", arguments.sm, ": machine ", machine.name(), " has SMs 0 to ", machine.sms() - 1));
  }
  if (arguments.launch.has_value()) {
    const absl::Status status = CheckLaunch(*arguments.launch, *traces[0], kernels);
    if (!status.ok()) return status;
  }
  RecordedPart part;
  part.sm = arguments.sm;
  part.launch = arguments.launch;
  part.warp_size = machine.core().warp_size();
  HEDDLE_RETURN_IF_ERROR(ParseCycles(arguments.cycles, part));
  HEDDLE_ASSIGN_OR_RETURN(OutputFile file, OutputFile::Create(arguments.output));
  return std::unique_ptr<ReplayDrawing>(new ReplayDrawing(arguments, machine, runs[0], part, std::move(file)));
}

ReplayDrawing::ReplayDrawing(const DrawArguments& arguments, const machine::v1::Machine& machine,
                             const replay::CheckedConfiguration& run, const RecordedPart& part, OutputFile file)
    : arguments_(arguments),
      machine_(machine),
      run_(run),
      recording_(part),
      progress_(part.sm, part.launch),
      file_(std::move(file)) {}

std::string ReplayDrawing::Title(const trace::TraceReader& trace, const trace::LaunchView& launch) const {
  std::string title = absl::StrCat(PolicyText(run_.divergence.written), " with ", PolicyText(run_.scheduler.written));
  if (run_.dispatch.name() != "thread_blocks") absl::StrAppend(&title, ", ", PolicyText(run_.dispatch.written));
  // A trace of one launch has nothing that it could be mistaken for.
  const bool several = trace.launches().size() > 1;
  absl::StrAppend(&title, ": ", several ? LaunchText(launch) : trace::BriefKernelName(launch.program->name()), " on ",
                  machine_.name());
  if (machine_.sms() > 1) absl::StrAppend(&title, ", SM ", recording_.sm());
  return title;
}

absl::Status ReplayDrawing::Write(const trace::TraceReader& trace) {
  const bool progress = arguments_.show == "progress";
  const std::optional<uint32_t> drawn = progress ? progress_.launch() : recording_.launch();
  if (!drawn.has_value()) {
    return absl::FailedPreconditionError(
        absl::StrCat("--draw: SM ", arguments_.sm, " issued nothing in ",
                     arguments_.launch.has_value() ? LaunchText(trace.launches()[*arguments_.launch]) : "any launch",
                     ": choose another with --draw-sm"));
  }
  const trace::LaunchView& launch = trace.launches()[*drawn];
  if (!progress && recording_.issues().empty()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "--draw: SM ", recording_.sm(), " issued nothing in cycles ", recording_.first(), " to ", recording_.last(),
        " of ", LaunchText(launch), ": its first issue was in cycle ", recording_.first_issue(),
        ", its last issue in cycle ", recording_.last_issue(), "; choose others with --draw-cycles"));
  }
  std::string text;
  if (progress) {
    text = DrawThreadProgress(progress_, Title(trace, launch));
  } else {
    DrawingOptions options;
    options.title = Title(trace, launch);
    options.warp_size = machine_.core().warp_size();
    options.ports = machine_.core().schedulers();
    options.lanes = arguments_.show != "warps";
    options.warps = arguments_.show != "lanes";
    text = DrawIssues(recording_, *launch.program, options);
  }
  HEDDLE_RETURN_IF_ERROR(file_.Write(text));
  return file_.Commit();
}

}  // namespace heddle::tools
