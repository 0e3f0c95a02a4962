// The subcommands but those of `heddle trace` (trace_commands.h). Each prints its results and complaints itself and
// returns the exit status of the program.
#ifndef HEDDLE_TOOLS_HEDDLE_COMMANDS_H_
#define HEDDLE_TOOLS_HEDDLE_COMMANDS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "replay/engine/replay.h"
#include "tools/drawing/replay_drawing.h"
#include "tools/drawing/replay_timeline.h"
#include "tools/inputs/policy_list.h"
#include "tools/inputs/trace_memory.h"

namespace heddle::tools {

// Starts heddle-capture, the program that needs LLVM, with the same arguments in place of this process. It is beside
// this program or in libexec/heddle; a build without LLVM has none.
int CaptureCommand(const std::vector<std::string>& arguments);

struct ReplayArguments {
  std::vector<std::string> traces;  // at least one
  std::string preset;               // that machine and policies come from, as far as they are not given; empty = none
  std::vector<std::string> libraries;  // --policy-library, loaded already
  std::string machine = "fermi_fixed";
  PolicyLists policies;
  std::vector<std::string> overrides;  // --set
  std::string kernels;                 // regular expression; empty = all
  std::string output;                  // -o: "-" = standard output; empty = none
  uint64_t max_cycles = 0;
  uint32_t jobs = 1;
  uint64_t trace_memory = kTraceMemory;  // --trace-memory
  bool force_regrouping = false;         // --force-regrouping
  uint32_t jitter = 0;            // runs with noise on the memory's latencies, per pair of policies; 0 = one without
  bool json = false;              // results on standard output instead of the table
  bool per_launch = false;        // a table for each launch
  replay::MetricOptions metrics;  // --per-instruction, --bins, --warp-phases
  bool check_order = false;       // --check-order
  DrawArguments draw;             // --draw
  TimelineArguments timeline;     // --timeline
  bool quiet = false;             // no table, no notes, no progress
};
int ReplayCommand(const ReplayArguments& arguments);

// All policies, or everything about those called `name`.
int PoliciesCommand(const std::string& name, bool json);

// All machines, or the text of one file.
int MachinesCommand(const std::string& name, bool json);

struct ImportArguments {
  std::vector<std::string> files;
  std::string name;    // of the machine; empty = the first file's, without ending
  std::string output;  // -o: empty or "-" = standard output
};
// A machine file from the configuration of GPGPU-Sim or Accel-Sim. With an output file, what is not represented is also
// told on standard error.
int ImportCommand(const ImportArguments& arguments);

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_HEDDLE_COMMANDS_H_
