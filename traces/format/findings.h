// Collects what a checker finds.
#ifndef HEDDLE_TRACES_FORMAT_FINDINGS_H_
#define HEDDLE_TRACES_FORMAT_FINDINGS_H_

#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "traces/format/check.h"

namespace heddle::trace {

// Findings of one launch or program: the first of each rule is kept with its place, further ones are counted.
class Findings {
 public:
  explicit Findings(std::vector<Finding>& out) : out_(out) {}

  // Further findings of the same rules are listed anew.
  void StartScope() { first_.clear(); }

  // Place and message are functions returning strings, called for the first finding only: making them is slow.
  template <typename Place, typename Message>
  void Add(Finding::Severity severity, absl::string_view rule, Place&& place, Message&& message) {
    auto it = first_.find(rule);
    if (it != first_.end()) {
      ++out_[it->second].count;
      return;
    }
    first_.emplace(std::string(rule), out_.size());
    out_.push_back({severity, std::string(rule), std::string(place()), std::string(message()), 1});
  }

 private:
  struct Less {
    using is_transparent = void;
    bool operator()(absl::string_view a, absl::string_view b) const { return a < b; }
  };
  std::vector<Finding>& out_;
  std::map<std::string, size_t, Less> first_;
};

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_FINDINGS_H_
