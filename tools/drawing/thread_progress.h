// How far the threads of an SM are, over time: where some are left behind, it shows.
#ifndef HEDDLE_TOOLS_DRAWING_THREAD_PROGRESS_H_
#define HEDDLE_TOOLS_DRAWING_THREAD_PROGRESS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "replay/engine/replay.h"

namespace heddle::tools {

// Instructions that the threads of one SM have executed in one launch: minimum, deciles and maximum over all threads
// that have begun, at regular times. Few samples whatever the length: when there are too many, every other one is
// dropped and the time between them doubles.
class ThreadProgress : public replay::IssueObserver {
 public:
  static constexpr size_t kQuantiles = 11;  // minimum, nine deciles, maximum
  static constexpr size_t kMostSamples = 512;
  struct Sample {
    replay::Cycle cycle = 0;  // before the issues of this cycle
    std::array<uint64_t, kQuantiles> instructions{};
  };

  // Without a launch the first in which the SM issues.
  ThreadProgress(uint32_t sm, std::optional<uint32_t> launch) : sm_(sm), wanted_(launch) {}

  void Issued(const replay::IssueEvent& event) override;

  // Up to and with the state behind the last issue. Empty if the SM issued nothing.
  std::vector<Sample> Samples() const;
  replay::Cycle last_issue() const { return last_issue_; }
  // The launch; nothing if the SM issued nothing in it.
  std::optional<uint32_t> launch() const { return launch_; }

 private:
  Sample Now(replay::Cycle cycle) const;

  const uint32_t sm_;
  const std::optional<uint32_t> wanted_;
  std::optional<uint32_t> launch_;
  std::map<std::pair<uint64_t, uint32_t>, uint64_t> instructions_;  // by thread block and thread
  std::vector<Sample> samples_;
  replay::Cycle next_ = 1;  // sample
  replay::Cycle step_ = 1;
  replay::Cycle last_issue_ = 0;
};

// An SVG document: the range of all threads, of the middle eight tenths, and the median, over time (Fung, Figure 6.4d).
std::string DrawThreadProgress(const ThreadProgress& progress, const std::string& title);

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_DRAWING_THREAD_PROGRESS_H_
