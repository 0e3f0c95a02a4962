// What `heddle replay` checks of its runs beside their results: --check-order, --check-convergence.
#ifndef HEDDLE_TOOLS_HEDDLE_REPLAY_CHECKS_H_
#define HEDDLE_TOOLS_HEDDLE_REPLAY_CHECKS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "replay/engine/replay.h"
#include "tools/console/json.h"
#include "tools/show/convergence_check.h"
#include "tools/show/order_check.h"
#include "traces/format/read/reader.h"

namespace heddle::tools {

// One of the two, for every trace of a command.
class ReplayChecks {
 public:
  // `convergence`: the name of a rule, empty for none; not with `order`. `warp_size`: of the machine.
  ReplayChecks(bool order, std::string convergence, uint32_t warp_size)
      : order_(order), convergence_(std::move(convergence)), warp_size_(warp_size) {}

  bool any() const { return order_ || !convergence_.empty(); }

  // ReplayEach, trace after trace, each watched by a check of its own; what --check-order finds becomes notes of the
  // results. Errors: those of ReplayEach and of the checks.
  absl::StatusOr<replay::RunOutcomes> Replay(const std::vector<const trace::TraceReader*>& traces,
                                             const std::vector<replay::CheckedConfiguration>& runs,
                                             replay::ReplayOptions options);

  // What was found of a run, by number of its trace and configuration, is added to its result in JSON.
  void AddTo(size_t trace, uint32_t configuration, nlohmann::ordered_json& result) const;
  // Tables for people; empty if the notes say everything. `numbers`: of the results, which configuration.
  std::string Report(const std::vector<const trace::TraceReader*>& traces,
                     const std::vector<std::vector<result::v1::Result>>& results,
                     const std::vector<std::vector<uint32_t>>& numbers) const;

 private:
  // Makes the check of the next trace.
  replay::IssueObserver* Watch(const trace::TraceReader& trace);
  absl::Status EndWatch();

  const bool order_;
  const std::string convergence_;
  const uint32_t warp_size_;
  std::vector<std::unique_ptr<OrderCheck>> orders_;              // by trace
  std::vector<std::unique_ptr<ConvergenceCheck>> convergences_;  // by trace
};

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_HEDDLE_REPLAY_CHECKS_H_
