// Runs the blocks of a launch in several processes, with the outcome of running them one after the other.
#ifndef HEDDLE_TRACEGEN_EXECUTE_PARALLEL_PARALLEL_BLOCKS_H_
#define HEDDLE_TRACEGEN_EXECUTE_PARALLEL_PARALLEL_BLOCKS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tracegen/execute/block/block_runner.h"
#include "tracegen/execute/launch/launch_form.h"
#include "tracegen/execute/parallel/block_worker.h"
#include "traces/format/program/program.h"
#include "traces/format/write/writer.h"

namespace heddle::tracegen {

// How long a kernel runs before its blocks are spread: kSecondsBeforeSpreading, or what this environment variable says.
inline constexpr char kSpreadAfterVariable[] = "HEDDLE_SPREAD_AFTER";
double SecondsBeforeSpreading();

// Thread-level speculation, with blocks in the place of a loop's iterations (Steffan et al., "A Scalable Approach to
// Thread-Level Speculation", ISCA 2000): the next blocks are dealt in ranges to N processes, each of which runs them in
// a private copy of memory and notes which bytes they read and write. In the order of blocks, a range is *committed*,
// which makes its writes and its records those of the launch, if it has read nothing that a range before it in the same
// round has written. Otherwise it is thrown away, and run once more in this process, in its turn. So whatever the
// program does, memory, trace, messages and warnings are those of one block after the other, to the byte.
//
// A kernel runs in this process for some time before processes are started; kernels that have gone wrong too often, and
// those that are known to (device-side malloc, textures), always do.
//
// Memory: per process twice kArenaBytes and the records of one block, a quarter of the memory that a range touches (to
// granules of 32 KiB), and copies of the pages that it writes.
class ParallelBlocks {
 public:
  static constexpr uint64_t kArenaBytes = uint64_t{32} << 20;

  // options: jobs, memory, seconds_before_spreading, note and max_instructions count here.
  explicit ParallelBlocks(const RunnerOptions& options) : options_(options) {}

  // As BlockRunner::Run of `runner`, for blocks that are recorded. `program`: of the recorded form.
  absl::Status Run(BlockRunner& runner, const LaunchForm& form, const Geometry& geometry,
                   const trace::v1::KernelProgram& program, trace::TraceWriter& writer);

  // How much was done in other processes, for tests and measurements.
  struct Counts {
    uint64_t committed = 0;  // ranges
    uint64_t discarded = 0;
  };
  const Counts& counts() const { return counts_; }

 private:
  // What is known of a kernel from earlier launches.
  struct Kernel {
    bool one_by_one = false;  // never spread again
    double seconds = 0;       // that it has run, in this process
    uint64_t blocks = 0;      // in that time
    uint64_t committed = 0;
    uint64_t discarded = 0;
  };
  class Launch;

  const RunnerOptions options_;
  std::map<std::string, Kernel> kernels_;
  Counts counts_;
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_PARALLEL_PARALLEL_BLOCKS_H_
