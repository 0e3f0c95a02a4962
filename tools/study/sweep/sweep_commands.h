// The subcommands of `heddle sweep`. Each prints its results and errors itself and returns the exit status of the
// program.
#ifndef HEDDLE_TOOLS_STUDY_SWEEP_SWEEP_COMMANDS_H_
#define HEDDLE_TOOLS_STUDY_SWEEP_SWEEP_COMMANDS_H_

#include <cstdint>
#include <string>

#include "tools/inputs/trace_memory.h"
#include "tools/study/sweep/effects.h"
#include "tools/study/sweep/emit.h"

namespace heddle::tools::sweep {

int PlanCommand(const std::string& spec, const std::string& folder);

struct RunArguments {
  std::string folder;
  std::string points;  // --points; empty = all
  std::string plan;    // --plan: first digits of the points' digest; empty = any
  uint32_t jobs = 1;
  uint64_t trace_memory = kTraceMemory;  // --trace-memory
  bool retry_failed = false;
  bool quiet = false;  // no progress, no notes
};
// kFailed if a point failed or could not be run.
int RunCommand(const RunArguments& arguments);

struct EmitArguments {
  std::string folder;
  Engine engine = Engine::kJobList;
  std::string output;  // -o: empty = in the folder under the engine's usual name, "-" = standard output
  ChunkOptions chunks;
  EmitOptions emit;
};
int EmitCommand(const EmitArguments& arguments);

int StatusCommand(const std::string& folder, bool json);

struct CollectArguments {
  std::string folder;
  std::string output;  // -o: empty or "-" = standard output
  std::string sqlite;  // --sqlite; empty = none
  bool per_launch = false;
  uint32_t jobs = 2;
};
int CollectCommand(const CollectArguments& arguments);

int EffectsCommand(const std::string& folder, const EffectsOptions& options, bool json);

}  // namespace heddle::tools::sweep

#endif  // HEDDLE_TOOLS_STUDY_SWEEP_SWEEP_COMMANDS_H_
