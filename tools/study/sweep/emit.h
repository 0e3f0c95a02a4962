// Files for engines that run many jobs: every job is a `heddle sweep run --points A-B`.
#ifndef HEDDLE_TOOLS_STUDY_SWEEP_EMIT_H_
#define HEDDLE_TOOLS_STUDY_SWEEP_EMIT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/study/sweep/folder.h"

namespace heddle::tools::sweep {

// First and last point of a job.
struct Chunk {
  uint64_t first = 0;
  uint64_t last = 0;
};

struct ChunkOptions {
  double minutes = 10;                   // that a job should take on one core
  double instructions_per_second = 2e6;  // thread-instructions, of one core, for the estimate
  uint64_t points = 0;                   // per job; 0 = by time
  uint64_t most_chunks = 1000;           // jobs grow if there would be more
  bool retry_failed = false;             // failed points count as missing
};

// Chunks of consecutive points from one that is missing to one that is missing; points in between that are done cost a
// look at the folder. Ascending; empty if nothing is missing.
absl::StatusOr<std::vector<Chunk>> MissingChunks(const SweepFolder& folder, const ChunkOptions& options);

enum class Engine { kSlurm, kSnakemake, kJobList };

struct EmitOptions {
  std::string program;                 // path of heddle
  uint32_t cores = 1;                  // of a job
  uint32_t throttle = 100;             // jobs at once; Slurm
  std::vector<std::string> libraries;  // of policies, --policy-library
  std::string extra;                   // further options of `sbatch`, such as "--partition=long --time=60"; Slurm
  bool retry_failed = false;           // jobs run failed points again
};

// The text of an sbatch script (an array of at most 1,000 elements), a Snakefile (one rule per chunk), or a list of
// commands, one per line, for GNU parallel or xargs. Paths are absolute.
std::string EmitText(Engine engine, const SweepFolder& folder, const std::vector<Chunk>& chunks,
                     const EmitOptions& options);

// For a POSIX shell.
std::string ShellQuoted(const std::string& text);

}  // namespace heddle::tools::sweep

#endif  // HEDDLE_TOOLS_STUDY_SWEEP_EMIT_H_
