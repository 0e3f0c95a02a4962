// A recipe from source to trace file.
#ifndef HEDDLE_TRACEGEN_RECIPE_RECIPE_RUN_H_
#define HEDDLE_TRACEGEN_RECIPE_RECIPE_RUN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/recipe.pb.h"
#include "tracegen/recipe/machine_code.h"

namespace heddle::tracegen {

struct CaptureOptions {
  std::string output;  // final name of the trace
  // Bound on thread-instructions of the whole run; reaching it is an error that names the thread, block and source
  // line.
  uint64_t max_instructions = 100'000'000'000;
  uint32_t resident_blocks = 1;  // of a launch that are live at once; a recipe may ask for more
  int zstd_level = 3;
  unsigned threads = 1;   // that compress; the trace does not depend on it
  unsigned jobs = 1;      // processes that the blocks of long launches are spread over; nor on this
  bool progress = false;  // on stderr
  bool check = true;      // run the recipe's checks after the last launch
  // Run everything without recording first, and refuse the trace if recording has changed any buffer.
  bool compare_with_native = false;
  // For tests of checks: before the checks run, the middle eighth of each buffer that one looks at is changed in turn.
  // It is an error if they accept that.
  bool damage_outputs = false;
  // Not empty: a folder that also receives what a machine with a card needs to do the same (card_plan.h).
  std::string plan;
  uint32_t certify = 0;  // capture every launch again under so many other orders of threads and blocks
  // Run what the user's toolkit assembles of the kernels' PTX, in place of the PTX itself.
  bool machine_code = false;
  MachineLevel machine_level = {};
  bool lockstep = false;      // run the threads of a warp together
  bool allow_bounds = false;  // reads outside all allocations pass
  // Let threads wait at barriers on stacks of their own, as everywhere else: the same trace, made more slowly.
  bool own_stacks = false;
  // A block is cut in time at these; 0 = the format's own limits.
  uint64_t part_instructions = 0;
  uint64_t part_accesses = 0;
};

struct CaptureSummary {
  uint64_t launches = 0;
  uint64_t blocks = 0;
  uint64_t threads = 0;
  uint64_t thread_instructions = 0;
  uint64_t accesses = 0;
  uint64_t bytes = 0;          // of the file
  double execute_seconds = 0;  // user CPU time: running and encoding
  double native_seconds = 0;   // the run without recording, with CaptureOptions::compare_with_native
  double compile_seconds = 0;
  uint64_t ranges_committed = 0;  // of blocks that other processes ran (ParallelBlocks)
  uint64_t ranges_discarded = 0;
  std::vector<std::string> warnings;  // about the kernels, each one line
  std::vector<std::string> notes;     // about how they were captured, which the trace does not depend on
};

// Reads a recipe in text format. Errors name the file, the line, and the unknown or wrong key.
absl::StatusOr<recipe::v1::Recipe> ReadRecipe(const std::string& path);

// Whether a trace may be written to `output`. InvalidArgumentError where that would replace the recipe, or a file that
// the recipe names, or any file that is no trace, or where `output` is no name. Everything else that is wrong with the
// recipe is left to CaptureRecipe.
absl::Status CheckOutput(const std::string& recipe_path, const std::string& output);

// The PTX of a recipe's kernels, as the source of another recipe. Errors: those of reading and compiling.
absl::StatusOr<std::string> PtxOfRecipe(const std::string& recipe_path);

// Compiles, runs and records. The file appears under its final name only when everything, checks included, succeeded.
absl::StatusOr<CaptureSummary> CaptureRecipe(const std::string& recipe_path, const CaptureOptions& options);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_RECIPE_RECIPE_RUN_H_
