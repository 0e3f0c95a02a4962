// The line on stderr that tells how far a capture is.
#ifndef HEDDLE_TRACEGEN_APPLICATION_PROGRESS_LINE_H_
#define HEDDLE_TRACEGEN_APPLICATION_PROGRESS_LINE_H_

#include <chrono>
#include <optional>
#include <string>

namespace heddle::tracegen {

// Replaces itself, and not too often. Whoever writes anything else to stderr clears it first.
class ProgressLine {
 public:
  // Seconds since the object was made, if the line may be replaced now; nullopt: it was a moment ago.
  std::optional<double> SecondsIfDue() const;
  void Show(const std::string& text);
  void Clear();

 private:
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point last_shown_;
  bool is_shown_ = false;
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_APPLICATION_PROGRESS_LINE_H_
