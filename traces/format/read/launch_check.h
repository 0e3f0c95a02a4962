// Checks what the threads of one launch did.
#ifndef HEDDLE_TRACES_FORMAT_READ_LAUNCH_CHECK_H_
#define HEDDLE_TRACES_FORMAT_READ_LAUNCH_CHECK_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "traces/format/read/address_check.h"
#include "traces/format/read/barrier_check.h"
#include "traces/format/read/check.h"
#include "traces/format/read/findings.h"
#include "traces/format/read/part_check.h"
#include "traces/format/read/reconvergence_check.h"
#include "traces/format/read/thread_place.h"

namespace heddle::trace {

// Goes through the chunks of the launch and lets each check see what it is about.
class LaunchChecker {
 public:
  LaunchChecker(const TraceReader& reader, const LaunchView& launch, Findings& findings, CheckReport& report);

  // Reads every chunk. Broken rules become findings; an error is returned only if the file cannot be read at all.
  absl::Status Run();

 private:
  // The column of last writers, if it is there.
  absl::Status CheckLastWriters(const v1::ChunkReference& reference);
  void CheckChunk();
  void CheckPath(size_t path);
  void CheckTotals();
  // Blocks of a cluster are recorded together.
  absl::Status CheckClusters();

  const TraceReader& reader_;
  const LaunchView& launch_;
  const Program& program_;
  Findings& findings_;
  CheckReport& report_;
  DecodedChunk chunk_;
  const ThreadPlace place_{launch_, chunk_};
  bool complete_ = true;  // all chunks could be read
  uint64_t thread_instructions_ = 0;
  uint64_t accesses_ = 0;
  AddressCheck addresses_;
  BarrierCheck barriers_;
  PartCheck parts_;
  ReconvergenceCheck reconvergence_;
  std::vector<uint32_t> path_accesses_;  // columns of the path at hand
};

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_READ_LAUNCH_CHECK_H_
