// Collective and asynchronous instructions that a configuration cannot replay.
#ifndef HEDDLE_REPLAY_ENGINE_COLLECTIVE_CHECK_H_
#define HEDDLE_REPLAY_ENGINE_COLLECTIVE_CHECK_H_

#include "absl/status/status.h"
#include "replay/engine/replay.h"
#include "traces/format/read/reader.h"

namespace heddle::replay {

// Errors: Unimplemented, with the instruction's place, for what no replay knows yet: asynchronous copies other than
// from global to shared memory, bytes that a transaction barrier expects, matrix instructions of some threads of a
// warp, masks of lanes in registers, and values of uniform registers at asynchronous and matrix instructions.
// FailedPrecondition for matrix instructions, which are one of trace::kMatrixThreads threads, if the machine's warps
// are narrower, unless ReplayOptions::force_regrouping lets it; and for products of elements of which the machine has
// none.
absl::Status CheckCollectives(const trace::TraceReader& reader, const trace::LaunchView& launch,
                              const ReplayOptions& options);

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_ENGINE_COLLECTIVE_CHECK_H_
