// What the replay said it issued, kept for checks.
#ifndef HEDDLE_TESTS_CONFORMANCE_ISSUE_LOG_H_
#define HEDDLE_TESTS_CONFORMANCE_ISSUE_LOG_H_

#include <algorithm>
#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "replay/engine/replay.h"

namespace heddle::replay {

struct LoggedLane {
  uint32_t lane = 0;
  Pc pc = 0;
  uint64_t block = 0;
  uint32_t thread = 0;
  friend auto operator<=>(const LoggedLane&, const LoggedLane&) = default;
};

// Ordered by cycle, SM and port: the order of issue.
struct IssueEntry {
  uint32_t launch = 0;
  Cycle cycle = 0;
  uint32_t sm = 0;
  uint32_t port = 0;
  std::vector<LoggedLane> lanes;
  friend auto operator<=>(const IssueEntry&, const IssueEntry&) = default;
  std::string Text() const;
};

// One log per configuration of a Replay call.
class SortedIssueLog final : public IssueObserver {
 public:
  explicit SortedIssueLog(size_t configurations = 1) : logs_(configurations) {}

  void Issued(const IssueEvent& event) override {
    IssueEntry& issue = logs_.at(event.configuration).emplace_back();
    issue.launch = event.launch;
    issue.cycle = event.cycle;
    issue.sm = event.sm;
    issue.port = event.port;
    for (const IssueEvent::Lane& lane : event.lanes) {
      issue.lanes.push_back({lane.lane, lane.pc, lane.block, lane.thread});
    }
  }

  // Sorted; SMs may be simulated one after the other.
  const std::vector<IssueEntry>& Sorted(size_t configuration = 0) {
    std::stable_sort(logs_[configuration].begin(), logs_[configuration].end());
    return logs_[configuration];
  }

 private:
  std::vector<std::vector<IssueEntry>> logs_;
};

inline std::string IssueEntry::Text() const {
  std::string text = "launch " + std::to_string(launch) + ", cycle " + std::to_string(cycle) + ", SM " +
                     std::to_string(sm) + ", port " + std::to_string(port) + ":";
  for (const LoggedLane& lane : lanes) {
    text += " " + std::to_string(lane.lane) + "=pc" + std::to_string(lane.pc * 8) + "/block" +
            std::to_string(lane.block) + "/thread" + std::to_string(lane.thread);
  }
  return text;
}

}  // namespace heddle::replay

#endif  // HEDDLE_TESTS_CONFORMANCE_ISSUE_LOG_H_
