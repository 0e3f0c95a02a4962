// Runs the points of a sweep that have no result.
#ifndef HEDDLE_TOOLS_STUDY_SWEEP_RUN_H_
#define HEDDLE_TOOLS_STUDY_SWEEP_RUN_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "replay/engine/replay.h"
#include "tools/study/sweep/folder.h"

namespace heddle::tools::sweep {

struct RunOptions {
  NumberRanges points;        // numbers of points; default all
  uint32_t jobs = 1;          // threads
  bool retry_failed = false;  // also those that failed before
  // Bound on decoded trace data, by all threads.
  uint64_t cache_bytes = replay::ReplayOptions::kDefaultCacheBytes;
  // Called from one thread at a time, with points that are finished and in all. May be empty.
  std::function<void(uint64_t done, uint64_t total)> progress;
};

struct RunSummary {
  uint64_t points = 0;                // asked for
  uint64_t already_done = 0;          // had a result
  uint64_t failed_before = 0;         // have a failure on record and were not retried
  uint64_t done = 0;                  // ran, result written
  uint64_t failed = 0;                // ran, failure written
  uint64_t elsewhere = 0;             // another process was still running them at the end
  uint64_t unreadable = 0;            // not run since their trace is not there or is another one
  std::vector<std::string> problems;  // of the traces; one line each
  bool without_locks = false;         // the file system has none
  replay::DecodingCounters decoding;
};

// Each point is run by one process at a time, and published as a whole. What goes wrong within a run is that point's
// failure; what goes wrong around it (a full disk, no permission) ends everything with an error, and leaves the points
// to the next run. Refuses a plan of another model version, and a folder whose machines changed since.
absl::StatusOr<RunSummary> RunPoints(const SweepFolder& folder, const RunOptions& options);

}  // namespace heddle::tools::sweep

#endif  // HEDDLE_TOOLS_STUDY_SWEEP_RUN_H_
