// `heddle replay --timeline`: what one run did, cycle by cycle, for Perfetto.
#ifndef HEDDLE_TOOLS_DRAWING_REPLAY_TIMELINE_H_
#define HEDDLE_TOOLS_DRAWING_REPLAY_TIMELINE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/machine.pb.h"
#include "proto/result.pb.h"
#include "replay/engine/replay.h"
#include "tools/console/output.h"
#include "tools/drawing/timeline_recording.h"
#include "traces/format/read/reader.h"

namespace heddle::tools {

// What is asked for on the command line.
struct TimelineArguments {
  std::string output;       // --timeline; empty = none
  std::string cycles = "";  // --timeline-cycles FIRST-LAST, of each launch; empty = all
  std::string sms = "";     // --sm: numbers and ranges, "0,4-7"; empty = all
};

// Numbers and ranges of numbers below `count`, such as "0,4-7", ascending and once each; all if the text is empty.
// InvalidArgument for anything else.
absl::StatusOr<std::vector<uint32_t>> ParseSms(const std::string& text, uint32_t count);

// A timeline under way: watches the replay, and writes the file afterwards.
class ReplayTimeline {
 public:
  // Checks what can be checked before the run, creates the file, and asks in `options` for what it needs. Errors:
  // InvalidArgument, in the words of the options.
  static absl::StatusOr<std::unique_ptr<ReplayTimeline>> Create(const TimelineArguments& arguments,
                                                                replay::ReplayOptions& options, size_t runs);

  // After the run. Takes out of the result what was collected for the timeline alone. Errors: FailedPrecondition if
  // there is nothing in these cycles, or too much; those of writing.
  absl::Status Write(const trace::TraceReader& trace, result::v1::Result& result);

 private:
  ReplayTimeline(std::vector<uint32_t> sms, replay::Cycle first, replay::Cycle last, OutputFile file);

  TimelineRecording recording_;
  OutputFile file_;
  bool own_bins_ = false;
  bool own_phases_ = false;
};

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_DRAWING_REPLAY_TIMELINE_H_
