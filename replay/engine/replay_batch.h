// Runs of one trace that have nothing in common but the trace: for sweeps.
#ifndef HEDDLE_REPLAY_ENGINE_REPLAY_BATCH_H_
#define HEDDLE_REPLAY_ENGINE_REPLAY_BATCH_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/result.pb.h"
#include "replay/engine/replay.h"
#include "replay/memory/ports/address_windows.h"
#include "replay/trace/chunk_cache.h"
#include "traces/format/read/reader.h"

namespace heddle::replay {

// One run with a machine of its own. Of the options machine, overrides, kernels, max_cycles, launch_rule and metrics
// count.
struct BatchRun {
  CheckedConfiguration configuration;
  ReplayOptions options;
};

// Replays batch after batch of runs of one trace on the calling thread. All of them share decoded data: within a batch
// launch by launch, so that a launch that fits into the cache is decoded once per batch, and a trace that fits into it
// once at all. Several replayers may read the same trace from several threads.
class BatchReplayer {
 public:
  // `reader` must outlive the object. `bounds` are those of the decoded data.
  BatchReplayer(const trace::TraceReader& reader, CacheBounds bounds);

  // One outcome per run, in their order, and each the same as that of Replay for this run alone: a run that fails does
  // not touch the others. `go_on` is asked now and then; false ends all unfinished runs as Cancelled.
  std::vector<absl::StatusOr<result::v1::Result>> Replay(std::span<const BatchRun> runs,
                                                         const std::function<bool()>& go_on);

  // What decoding has taken so far.
  DecodingCounters decoding() const;

 private:
  const trace::TraceReader& reader_;
  const CacheBounds bounds_;
  const AddressWindows windows_;
  std::unique_ptr<ChunkCache> cache_;
  DecodingCounters earlier_;  // of caches that were given up
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_ENGINE_REPLAY_BATCH_H_
