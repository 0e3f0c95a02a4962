// `heddle replay --draw`: a drawing of one run.
#ifndef HEDDLE_TOOLS_DRAWING_REPLAY_DRAWING_H_
#define HEDDLE_TOOLS_DRAWING_REPLAY_DRAWING_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/machine.pb.h"
#include "replay/engine/replay.h"
#include "tools/console/output.h"
#include "tools/drawing/issue_recording.h"
#include "tools/drawing/thread_progress.h"
#include "traces/format/read/reader.h"

namespace heddle::tools {

// What is asked for on the command line.
struct DrawArguments {
  std::string output;              // --draw; empty = no drawing
  std::string cycles = "";         // --draw-cycles FIRST-LAST; empty = 240 from the SM's first issue on
  uint32_t sm = 0;                 // --draw-sm
  std::optional<uint32_t> launch;  // --draw-launch; absent = the first in which the SM issues
  std::string show = "both";       // --draw-show: lanes, warps, both, progress
};

// A drawing under way: watches the replay, and writes the file afterwards.
class ReplayDrawing {
 public:
  // Checks what can be checked before the run, and creates the file. `kernels` is the expression of --kernels. Errors:
  // InvalidArgument, in the words of the options.
  static absl::StatusOr<std::unique_ptr<ReplayDrawing>> Create(const DrawArguments& arguments,
                                                               const machine::v1::Machine& machine,
                                                               const std::vector<replay::CheckedConfiguration>& runs,
                                                               const std::vector<const trace::TraceReader*>& traces,
                                                               const std::string& kernels);

  replay::IssueObserver* observer() {
    if (arguments_.show == "progress") return &progress_;
    return &recording_;
  }
  // After the run. Errors: FailedPrecondition if the SM issued nothing in the launch or in these cycles; those of
  // writing.
  absl::Status Write(const trace::TraceReader& trace);

 private:
  std::string Title(const trace::TraceReader& trace, const trace::LaunchView& launch) const;

  ReplayDrawing(const DrawArguments& arguments, const machine::v1::Machine& machine,
                const replay::CheckedConfiguration& run, const RecordedPart& part, OutputFile file);

  const DrawArguments arguments_;
  const machine::v1::Machine& machine_;
  const replay::CheckedConfiguration run_;
  IssueRecording recording_;
  ThreadProgress progress_;  // instead, if that is to be shown
  OutputFile file_;
};

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_DRAWING_REPLAY_DRAWING_H_
