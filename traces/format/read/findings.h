// Collects what a checker finds.
#ifndef HEDDLE_TRACES_FORMAT_READ_FINDINGS_H_
#define HEDDLE_TRACES_FORMAT_READ_FINDINGS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "traces/format/read/check.h"

namespace heddle::trace {

// The first finding of each rule is kept with its place, further ones are counted: of errors within a program or
// launch, of warnings within the trace, as a program may launch a kernel that deserves one thousands of times.
class Findings {
 public:
  explicit Findings(std::vector<Finding>& out) : out_(out) {}

  // Findings from now on are of another program, or of another launch.
  void StartProgram() {
    std::erase_if(first_,
                  [this](const auto& rule) { return out_[rule.second.finding].severity == Finding::Severity::kError; });
  }
  void StartLaunch() {
    StartProgram();
    ++launch_;
  }

  // Place and message are functions returning strings, called for the first finding only: making them is slow.
  template <typename Place, typename Message>
  void Add(Finding::Severity severity, absl::string_view rule, Place&& place, Message&& message) {
    auto it = first_.find(rule);
    if (it != first_.end()) {
      Finding& first = out_[it->second.finding];
      ++first.count;
      first.launches += it->second.latest_launch != launch_;
      it->second.latest_launch = launch_;
      return;
    }
    first_.emplace(std::string(rule), First{out_.size(), launch_});
    out_.push_back({severity, std::string(rule), std::string(place()), std::string(message()), 1,
                    launch_ == 0 ? uint64_t{0} : uint64_t{1}});
  }

 private:
  struct Less {
    using is_transparent = void;
    bool operator()(absl::string_view a, absl::string_view b) const { return a < b; }
  };
  struct First {
    size_t finding = 0;          // its place in out_
    uint64_t latest_launch = 0;  // that had a finding of the rule
  };
  std::vector<Finding>& out_;
  std::map<std::string, First, Less> first_;
  uint64_t launch_ = 0;  // counted from 1; 0 in front of the first
};

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_READ_FINDINGS_H_
