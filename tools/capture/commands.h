// The ways to start heddle-capture.
#ifndef HEDDLE_TOOLS_CAPTURE_COMMANDS_H_
#define HEDDLE_TOOLS_CAPTURE_COMMANDS_H_

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace heddle::tracegen {

// Exit statuses.
inline constexpr int kFailure = 1;
inline constexpr int kWrongUsage = 2;
inline constexpr int kInterrupted = 130;

// heddle-capture [OPTIONS] RECIPE
int CaptureRecipeCommand(int argc, char** argv);

// heddle-capture [OPTIONS] -- PROGRAM ARGUMENTS...: runs an application and records its kernels. The exit status is
// that of the program (128 + the signal that ended it), 127 if it cannot be started, kFailure if it was 0 but there is
// no trace.
int CaptureApplicationCommand(int argc, char** argv, std::vector<std::string> program);

// heddle-capture --virtual-blocks FILE...: what VTW's wrapper costs the kernels of recipes or device code.
int VirtualBlocksCommand(int argc, char** argv);

// heddle-capture --emit-ptx RECIPE: writes the PTX of a recipe's kernels, which can be the source of another recipe.
int EmitPtxCommand(int argc, char** argv);

// heddle-capture --constants FILE: prints bytes and name of each __constant__ variable in device code, LLVM bitcode
// or PTX, one per line, for heddle-nvcc.
int ConstantsCommand(const std::string& path);

// Prints "heddle-capture: LINE" on standard error; what acts on a terminal instead of being seen becomes escapes.
void PrintMessage(const std::string& line);

// The options that only a capture of a program has, as part of a help text.
std::string ProgramOptionsHelp();

// What both kinds of capture have: where the trace goes and how it is compressed.
struct OutputOptions {
  std::string output;
  int zstd_level = 3;
  unsigned threads = 1;
  unsigned jobs = 1;
  bool quiet = false;
  bool record_writers = false;
  bool machine_code = false;           // --level machine
  std::string architecture = "sm_80";  // --arch
};

// Adds -o, --level, --arch, --zstd-level, --fast, --small, --threads, --jobs, --quiet and --record-writers. `--level
// 12` means
// `--zstd-level 12`: Zstandard's was the only level for long, and is in the other commands that write traces.
void AddOutputOptions(CLI::App& app, OutputOptions& options);

// That --arch, or another option of `names`, says something about machine code where none is asked for; empty if not.
std::string WhyNoMachineOptions(const CLI::App& app, const OutputOptions& options,
                                const std::vector<std::string>& names = {});

// If --record-writers asks for it, adds the column of last writers to a complete trace (traces/format). Tells where it
// lacks some. Errors: there is no column; the trace is as it was.
absl::Status RecordWriters(const std::string& trace, const OutputOptions& options);

// What is said about a trace when it is complete.
struct TraceSummary {
  uint64_t launches = 0;
  uint64_t recorded = 0;  // of the launches
  uint64_t threads = 0;
  uint64_t thread_instructions = 0;
  uint64_t bytes = 0;  // of the file
  double seconds = 0;  // that it took
};
// One line, such as "a.htrace: 3 launches, 512 threads, ...".
std::string DescribeTrace(const std::string& path, const TraceSummary& summary);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TOOLS_CAPTURE_COMMANDS_H_
