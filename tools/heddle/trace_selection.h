// Launches, blocks and threads of a trace as a command line names them.
#ifndef HEDDLE_TOOLS_HEDDLE_TRACE_SELECTION_H_
#define HEDDLE_TOOLS_HEDDLE_TRACE_SELECTION_H_

#include <vector>

#include "absl/status/statusor.h"
#include "tools/heddle/trace_commands.h"
#include "traces/base/number_ranges.h"
#include "traces/format/read/reader.h"

namespace heddle::tools {

struct SelectedParts {
  std::vector<bool> launches;  // by number of the launch; at least one is selected
  NumberRanges blocks;
  NumberRanges threads;
  NumberRanges instructions;
};

// Reads the texts of a command line for a trace. InvalidArgument, with what there is, for anything malformed, for
// launches that the trace does not have, kernels that no launch runs, and threads that no selected launch has. (Blocks
// are looked at when they are read: what was recorded need not be the whole grid.)
absl::StatusOr<SelectedParts> ReadSelection(const TraceSelection& selection, const trace::TraceReader& reader);

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_HEDDLE_TRACE_SELECTION_H_
