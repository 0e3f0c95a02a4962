// A recorded timeline as a file that Perfetto opens.
#ifndef HEDDLE_TOOLS_DRAWING_TIMELINE_WRITER_H_
#define HEDDLE_TOOLS_DRAWING_TIMELINE_WRITER_H_

#include <string>

#include "proto/result.pb.h"
#include "tools/drawing/timeline_recording.h"
#include "traces/format/read/reader.h"

namespace heddle::tools {

// The bytes of the file. Per SM a row per issue port (what it issued, and the class of every cycle without an issue), a
// row per slot of the warp table (what it issued, what it waited for otherwise), a row of barriers that open, and IPC
// and lane activity; for the machine the counters of the result's time series; and a row for each warp of the result's
// warp timeline with its phases. Launches come one after the other, as in the result.
std::string TimelineFile(const TimelineRecording& recording, const trace::TraceReader& trace,
                         const result::v1::Result& result);

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_DRAWING_TIMELINE_WRITER_H_
