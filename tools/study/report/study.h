// Many results as one table: kernels by runs.
#ifndef HEDDLE_TOOLS_STUDY_REPORT_STUDY_H_
#define HEDDLE_TOOLS_STUDY_REPORT_STUDY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/result.pb.h"

namespace heddle::tools {

struct Study {
  // A machine with the overrides it was run with.
  struct Machine {
    std::string name;  // with the overrides
    const machine::v1::Machine* machine = nullptr;
    size_t baseline = 0;  // the run that speed-ups refer to: the first of policy pdom, else the first
  };
  // All launches of one kernel in one trace.
  struct Kernel {
    std::string name;  // short, and different from all others
    std::string kernel;
    std::string trace;
    std::string digest;
  };
  // One choice of policies on one machine.
  struct Run {
    std::string divergence, scheduler, dispatch, fetch, memory;  // with those parameters in which runs differ
    std::string name;                                            // those that differ between runs
    size_t machine = 0;
    const result::v1::Result* first = nullptr;  // that has it
  };
  struct Cell {
    size_t kernel = 0;
    size_t run = 0;
    std::vector<uint64_t> seeds;   // of the noise on memory latencies, in the order of the results
    std::vector<uint64_t> cycles;  // by seed: sum over the kernel's launches
    // Of the first seed: the kernel's launches, and their counters added up. Of the sum only counters are meaningful,
    // no ratio, no size of the machine.
    std::vector<const result::v1::LaunchResult*> launches;
    result::v1::LaunchResult sum;
    std::optional<double> depth_utilisation;  // per cent

    uint64_t mean_cycles() const;
  };

  std::vector<Machine> machines;
  std::vector<Kernel> kernels;
  std::vector<Run> runs;    // those of a machine together
  std::vector<Cell> cells;  // by kernel, then by run; what was not run is not there
  std::vector<std::string> notes;
  size_t duplicates = 0;  // results that were there already; they are left out
};

// Sorts results into a study, which refers to them: they must outlive it. InvalidArgument if two results say different
// things about the same run, or one has no launch.
absl::StatusOr<Study> MakeStudy(const std::vector<result::v1::Result>& results);

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_STUDY_REPORT_STUDY_H_
