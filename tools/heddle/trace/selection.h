// Launches, blocks and threads of a trace as a command line names them.
#ifndef HEDDLE_TOOLS_HEDDLE_TRACE_SELECTION_H_
#define HEDDLE_TOOLS_HEDDLE_TRACE_SELECTION_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "traces/base/number_ranges.h"
#include "traces/format/read/reader.h"

namespace CLI {
class App;
}

namespace heddle::tools {

// The end of the help of commands that take numbers.
inline constexpr char kRanges[] = "Numbers and ranges count from 0: 3, 0-7, 8-, or a list of these with commas.";

// What of a trace is meant; texts as on the command line, empty = all.
struct TraceSelection {
  std::string launches;      // numbers and ranges
  std::string kernels;       // regular expression
  std::string blocks;        // numbers and ranges
  std::string threads;       // of a block; numbers and ranges
  std::string instructions;  // of a thread; numbers and ranges
};

// Adds --launches, --kernels and --blocks to a command.
void AddLaunchOptions(CLI::App& command, TraceSelection& selection);

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
