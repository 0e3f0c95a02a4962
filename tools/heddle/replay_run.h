// What `heddle replay` does once its command line has been read.
#ifndef HEDDLE_TOOLS_HEDDLE_REPLAY_RUN_H_
#define HEDDLE_TOOLS_HEDDLE_REPLAY_RUN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "replay/engine/replay.h"
#include "tools/drawing/replay_drawing.h"
#include "tools/drawing/replay_timeline.h"
#include "tools/inputs/policy_list.h"
#include "tools/inputs/trace_memory.h"

namespace heddle::tools {

struct ReplayArguments {
  std::vector<std::string> traces;  // at least one
  std::string preset;               // that machine and policies come from, as far as they are not given; empty = none
  std::vector<std::string> libraries;  // --policy-library
  std::string machine = "fermi_fixed";
  PolicyLists policies;
  std::vector<std::string> overrides;  // --set
  std::vector<std::string> registers;  // --registers
  std::string kernels;                 // regular expression; empty = all
  std::string output;                  // -o: "-" = standard output; empty = none
  std::string launches = "in_order";   // --launches: a name of replay::LaunchRuleNames
  uint64_t max_cycles = 0;
  uint32_t jobs = 1;
  uint64_t trace_memory = kTraceMemory;  // --trace-memory
  bool force_regrouping = false;         // --force-regrouping
  uint32_t jitter = 0;            // runs with noise on the memory's latencies, per pair of policies; 0 = one without
  bool json = false;              // results on standard output instead of the table
  bool per_launch = false;        // a table for each launch
  std::string counters;           // --counters: of the policies' own, "all" or names; empty = none
  replay::MetricOptions metrics;  // --per-instruction, --bins, --warp-phases
  bool check_order = false;       // --check-order
  std::string check_convergence;  // --check-convergence: name of a rule; empty = none
  DrawArguments draw;             // --draw
  TimelineArguments timeline;     // --timeline
  bool quiet = false;             // no table, no notes, no progress
};
// Replays the traces under every combination of the policies. Prints results and errors itself and returns the exit
// status of the program.
int ReplayTraces(const ReplayArguments& arguments);

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_HEDDLE_REPLAY_RUN_H_
