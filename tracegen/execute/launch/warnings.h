// What the user should know about a capture, each thing once.
#ifndef HEDDLE_TRACEGEN_EXECUTE_LAUNCH_WARNINGS_H_
#define HEDDLE_TRACEGEN_EXECUTE_LAUNCH_WARNINGS_H_

#include <algorithm>
#include <string>
#include <vector>

namespace heddle::tracegen {

// Texts of one line, in the order in which they were added first.
class Warnings {
 public:
  void Add(const std::string& text) {
    if (std::find(all_.begin(), all_.end(), text) == all_.end()) all_.push_back(text);
  }
  void AddAll(const std::vector<std::string>& texts) {
    for (const std::string& text : texts) Add(text);
  }
  const std::vector<std::string>& all() const { return all_; }

 private:
  std::vector<std::string> all_;
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_LAUNCH_WARNINGS_H_
