// What a drawing of a replay is made of: which threads issued on one SM, and which warps waited.
#ifndef HEDDLE_TOOLS_DRAWING_ISSUE_RECORDING_H_
#define HEDDLE_TOOLS_DRAWING_ISSUE_RECORDING_H_

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "replay/engine/replay.h"

namespace heddle::tools {

// What is to be recorded.
struct RecordedPart {
  uint32_t sm = 0;
  std::optional<uint32_t> launch;      // absent: the first in which the SM issues
  std::optional<replay::Cycle> first;  // cycle; absent: that of the SM's first issue in the launch
  uint64_t cycles = 1;
  uint32_t warp_size = 32;
};

// Keeps the events of one SM in a range of cycles of one launch.
class IssueRecording : public replay::IssueObserver {
 public:
  struct Issue {
    replay::Cycle cycle = 0;
    uint32_t port = 0;
    std::vector<replay::IssueEvent::Lane> lanes;
  };
  struct Wait {
    replay::WaitEvent::Kind kind = replay::WaitEvent::Kind::kPassedOver;
    replay::Cycle cycle = 0;
    uint64_t block = 0;
    std::vector<replay::IssueEvent::Lane> threads;
  };
  using WarpId = std::pair<uint64_t, uint32_t>;  // thread block, warp of it
  // Of a warp's first and last issue in the launch, whether recorded or not.
  struct Life {
    replay::Cycle first = 0;
    replay::Cycle last = 0;
  };

  explicit IssueRecording(const RecordedPart& part) : part_(part), launch_(part.launch), first_(part.first) {}

  void Issued(const replay::IssueEvent& event) override;
  bool wants_waits() const override { return true; }
  void Waits(const replay::WaitEvent& event) override;

  uint32_t sm() const { return part_.sm; }
  // The launch that was recorded; nothing if the SM issued nothing in the one that was asked for, or in any.
  std::optional<uint32_t> launch() const { return first_issue_.has_value() ? launch_ : std::nullopt; }
  // The cycles that are recorded, both included. Known when there is a launch.
  replay::Cycle first() const { return first_.value_or(0); }
  replay::Cycle last() const { return first() + part_.cycles - 1; }
  // Cycles of the SM's first and last issue in the launch, recorded or not.
  replay::Cycle first_issue() const { return first_issue_.value_or(0); }
  replay::Cycle last_issue() const { return last_issue_; }
  const std::vector<Issue>& issues() const { return issues_; }
  const std::vector<Wait>& waits() const { return waits_; }
  // Of all warps that issued in the launch.
  const std::map<WarpId, Life>& lives() const { return lives_; }

 private:
  const RecordedPart part_;
  std::optional<uint32_t> launch_;
  std::optional<replay::Cycle> first_;
  std::optional<replay::Cycle> first_issue_;
  replay::Cycle last_issue_ = 0;
  std::vector<Issue> issues_;
  std::vector<Wait> waits_;
  uint32_t launch_of_waits_ = 0;
  std::map<WarpId, Life> lives_;
};

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_DRAWING_ISSUE_RECORDING_H_
