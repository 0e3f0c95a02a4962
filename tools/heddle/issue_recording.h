// What a drawing of a replay is made of: which threads issued on one SM, and which warps waited.
#ifndef HEDDLE_TOOLS_HEDDLE_ISSUE_RECORDING_H_
#define HEDDLE_TOOLS_HEDDLE_ISSUE_RECORDING_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "replay/engine/replay.h"

namespace heddle::tools {

// Keeps the events of one SM in a stretch of cycles of the first launch that it hears of.
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

  // Cycles `first` to `last`, both included.
  IssueRecording(uint32_t sm, replay::Cycle first, replay::Cycle last) : sm_(sm), first_(first), last_(last) {}

  void Issued(const replay::IssueEvent& event) override {
    if (!IsOurs(event.launch, event.sm)) return;
    last_issue_ = event.cycle;
    if (event.cycle < first_ || event.cycle > last_) return;
    issues_.push_back({event.cycle, event.port, {event.lanes.begin(), event.lanes.end()}});
  }
  bool wants_waits() const override { return true; }
  void Waits(const replay::WaitEvent& event) override {
    if (!IsOurs(event.launch, event.sm) || event.cycle < first_ || event.cycle > last_) return;
    waits_.push_back({event.kind, event.cycle, event.block, {event.threads.begin(), event.threads.end()}});
  }

  uint32_t sm() const { return sm_; }
  replay::Cycle first() const { return first_; }
  replay::Cycle last() const { return last_; }
  // The launch that was recorded; nothing if the SM issued nothing at all.
  std::optional<uint32_t> launch() const { return launch_; }
  // Cycle of the SM's last issue in the launch, recorded or not.
  replay::Cycle last_issue() const { return last_issue_; }
  const std::vector<Issue>& issues() const { return issues_; }
  const std::vector<Wait>& waits() const { return waits_; }

 private:
  bool IsOurs(uint32_t launch, uint32_t sm) {
    if (sm != sm_) return false;
    if (!launch_.has_value()) launch_ = launch;
    return *launch_ == launch;
  }

  const uint32_t sm_;
  const replay::Cycle first_;
  const replay::Cycle last_;
  std::optional<uint32_t> launch_;
  replay::Cycle last_issue_ = 0;
  std::vector<Issue> issues_;
  std::vector<Wait> waits_;
};

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_HEDDLE_ISSUE_RECORDING_H_
