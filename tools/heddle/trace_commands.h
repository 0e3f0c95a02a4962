// `heddle trace`: looking into traces, and making new ones of them. Each command prints its results and complaints
// itself and returns the exit status of the program.
#ifndef HEDDLE_TOOLS_HEDDLE_TRACE_COMMANDS_H_
#define HEDDLE_TOOLS_HEDDLE_TRACE_COMMANDS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "replay/analysis/limit_study.h"

namespace heddle::tools {

// Of many launches, kernels are summed up, unless each launch is asked for.
int TraceInfoCommand(const std::string& path, bool per_launch, bool json);
// Each trace by itself. Exit status 1 if one breaks a rule of the format, 2 if one is not there.
int TraceCheckCommand(const std::vector<std::string>& paths, bool json);
// How few issues warps could need: lane-activity bound and optimal reconvergence.
int TraceLimitsCommand(const std::string& path, const replay::LimitOptions& options, bool json);
// Exit status 1 if the traces differ.
int TraceDiffCommand(const std::string& a, const std::string& b, bool json);

// What of a trace is meant; texts as on the command line, empty = all.
struct TraceSelection {
  std::string launches;      // numbers and ranges
  std::string kernels;       // regular expression
  std::string blocks;        // numbers and ranges
  std::string threads;       // of a block; numbers and ranges
  std::string instructions;  // of a thread; numbers and ranges
};

struct DumpArguments {
  std::string trace;
  TraceSelection selection;
  bool program = false;  // the programs instead of the threads
  bool json = false;
  std::string output;  // -o: empty or "-" = standard output
};
// What threads did, one line per instruction.
int TraceDumpCommand(const DumpArguments& arguments);

// The new trace and how it is written.
struct TraceOutput {
  std::string path;          // -o
  std::optional<int> level;  // Zstandard
};

struct RepackArguments {
  std::string trace;
  TraceOutput output;
  uint64_t chunk = 0;    // thread-instructions of a chunk; 0 = chunks stay
  bool encode = false;   // chunks are encoded anew
  bool recover = false;  // the trace is damaged: keep what is whole
};
// The same trace in other bytes.
int TraceRepackCommand(const RepackArguments& arguments);

struct ExtractArguments {
  std::string trace;
  TraceOutput output;
  TraceSelection selection;
};
// Some launches, kernels or blocks as a trace of their own.
int TraceExtractCommand(const ExtractArguments& arguments);

struct MergeArguments {
  std::vector<std::string> traces;
  TraceOutput output;
};
// Several traces as one.
int TraceMergeCommand(const MergeArguments& arguments);

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_HEDDLE_TRACE_COMMANDS_H_
