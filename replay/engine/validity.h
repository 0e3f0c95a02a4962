// What a trace can stand for, as far as it says so itself.
#ifndef HEDDLE_REPLAY_ENGINE_VALIDITY_H_
#define HEDDLE_REPLAY_ENGINE_VALIDITY_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "proto/result.pb.h"
#include "replay/engine/configuration.h"
#include "replay/engine/replay.h"
#include "traces/format/read/reader.h"

namespace heddle::replay {

// Notes for a result over these launches: blocks and launches that were not recorded, why the trace is incomplete,
// certificates, lockstep.
std::vector<std::string> ValidityNotes(const trace::TraceReader& reader,
                                       const std::vector<const trace::LaunchView*>& launches);

// Which registers were given for these launches, and by whom: a note for each source.
std::vector<std::string> RegisterNotes(const ReplayOptions& options,
                                       const std::vector<const trace::LaunchView*>& launches);
// What the policy has put together that no warp of a device can be: threads whose uniform registers hold different
// values. A note per kernel.
std::vector<std::string> UniformValueNotes(const std::vector<result::v1::LaunchResult>& launches);

// Why runs under a policy that resolves every instruction do not compare with others on a machine with instruction
// buffers (LaunchResult::without_scoreboard): one line.
std::string WithoutScoreboardNote(const std::string& divergence);

// FailedPrecondition if threads of a warp of this launch hand data over without synchronization, and the policy may
// separate threads of a warp into warps of others, or the machine's warps are narrower than those that were recorded:
// then no device would compute what was recorded. ReplayOptions::force_regrouping lets it pass.
absl::Status CheckLockstep(const trace::TraceReader& reader, const trace::LaunchView& launch,
                           const CheckedConfiguration& configuration, const ReplayOptions& options);

// CheckLockstep for all launches that options.kernels selects.
absl::Status CheckLockstep(const trace::TraceReader& reader, const CheckedConfiguration& configuration,
                           const ReplayOptions& options);

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_ENGINE_VALIDITY_H_
