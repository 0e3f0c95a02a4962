#include "tools/heddle/replay_drawing.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tools/heddle/issue_drawing.h"
#include "tools/heddle/policy_list.h"

namespace heddle::tools {
namespace {

using replay::Cycle;

constexpr Cycle kDefaultCycles = 240;
constexpr Cycle kMostCycles = 4000;  // a drawing of 8,000 pixels; beyond that nobody sees anything

absl::Status ParseCycles(const std::string& text, Cycle& first, Cycle& last) {
  first = 0;
  last = kDefaultCycles - 1;
  if (text.empty()) return absl::OkStatus();
  const std::vector<std::string> ends = absl::StrSplit(text, '-');
  if (ends.size() != 2 || !absl::SimpleAtoi(ends[0], &first) || !absl::SimpleAtoi(ends[1], &last) || last < first) {
    return absl::InvalidArgumentError(
        absl::StrCat("--draw-cycles ", text, ": is written FIRST-LAST, such as 1000-1239"));
  }
  if (last - first >= kMostCycles) {
    return absl::InvalidArgumentError(absl::StrCat("--draw-cycles ", text, ": are ", last - first + 1,
                                                   " cycles, and a drawing has room for ", kMostCycles));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<ReplayDrawing>> ReplayDrawing::Create(const DrawArguments& arguments,
                                                                     const machine::v1::Machine& machine,
                                                                     const std::vector<replay::Configuration>& runs,
                                                                     size_t traces) {
  if (runs.size() != 1 || traces != 1) {
    return absl::InvalidArgumentError(absl::StrCat("--draw: a drawing is of one run, these are ", runs.size() * traces,
                                                   ": name one trace and one policy of each kind, without --jitter"));
  }
  if (arguments.sm >= machine.sms()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--draw-sm ", arguments.sm, ": machine ", machine.name(), " has SMs 0 to ", machine.sms() - 1));
  }
  Cycle first = 0;
  Cycle last = 0;
  if (const absl::Status status = ParseCycles(arguments.cycles, first, last); !status.ok()) return status;
  absl::StatusOr<OutputFile> file = OutputFile::Create(arguments.output);
  if (!file.ok()) return file.status();
  return std::unique_ptr<ReplayDrawing>(new ReplayDrawing(arguments, machine, runs[0], first, last, *std::move(file)));
}

ReplayDrawing::ReplayDrawing(const DrawArguments& arguments, const machine::v1::Machine& machine,
                             const replay::Configuration& run, Cycle first, Cycle last, OutputFile file)
    : arguments_(arguments),
      machine_(machine),
      run_(run),
      recording_(arguments.sm, first, last),
      progress_(arguments.sm),
      file_(std::move(file)) {}

std::string ReplayDrawing::Title(const trace::Program& program) const {
  std::string title = absl::StrCat(PolicyText(run_.divergence), " with ", PolicyText(run_.scheduler));
  if (run_.dispatch.name != "thread_blocks") absl::StrAppend(&title, ", ", PolicyText(run_.dispatch));
  absl::StrAppend(&title, ": ", program.name(), " on ", machine_.name());
  if (machine_.sms() > 1) absl::StrAppend(&title, ", SM ", recording_.sm());
  return title;
}

absl::Status ReplayDrawing::Write(const trace::TraceReader& trace) {
  const bool progress = arguments_.show == "progress";
  const std::optional<uint32_t> drawn = progress ? progress_.launch() : recording_.launch();
  const trace::Program* program = nullptr;
  for (const trace::LaunchView& launch : trace.launches()) {
    if (drawn == launch.launch.id()) program = launch.program;
  }
  if (program == nullptr || (!progress && recording_.issues().empty())) {
    return absl::FailedPreconditionError(absl::StrCat(
        "--draw: SM ", recording_.sm(), " issued nothing in cycles ", recording_.first(), " to ", recording_.last(),
        program == nullptr ? "" : absl::StrCat("; its last issue was in cycle ", recording_.last_issue())));
  }
  std::string text;
  if (progress) {
    text = DrawThreadProgress(progress_, Title(*program));
  } else {
    DrawingOptions options;
    options.title = Title(*program);
    options.warp_size = machine_.core().warp_size();
    options.ports = machine_.core().schedulers();
    options.lanes = arguments_.show != "warps";
    options.warps = arguments_.show != "lanes";
    text = DrawIssues(recording_, *program, options);
  }
  if (const absl::Status status = file_.Write(text); !status.ok()) return status;
  return file_.Commit();
}

}  // namespace heddle::tools
