// Which process runs which point.
#ifndef HEDDLE_TOOLS_STUDY_SWEEP_POINT_LOCKS_H_
#define HEDDLE_TOOLS_STUDY_SWEEP_POINT_LOCKS_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace heddle::tools::sweep {

// One file whose bytes stand for keys: whoever holds a byte's lock runs the point. The kernel gives locks back when a
// process ends, however it ends, and network file systems carry them between machines, so nothing has to be cleaned up
// and nothing expires. Results do not depend on locks: without them a point may be run twice, with the same bytes.
class PointLocks {
 public:
  // Creates the file if it is not there. Unavailable if it cannot be created or opened.
  static absl::StatusOr<PointLocks> Open(const std::string& path);
  PointLocks(PointLocks&& other) noexcept;
  PointLocks& operator=(PointLocks&&) = delete;
  ~PointLocks();

  enum class Answer {
    kTaken,
    kBusy,        // another process has it
    kUnsupported  // the file system has no locks
  };
  // Does not wait. Of the threads of one process only one may ask for a key.
  Answer Take(std::string_view key);
  void Release(std::string_view key);

  // Whether another process has the key now.
  bool IsBusy(std::string_view key) const;

 private:
  explicit PointLocks(int file) : file_(file) {}
  int file_ = -1;
};

}  // namespace heddle::tools::sweep

#endif  // HEDDLE_TOOLS_STUDY_SWEEP_POINT_LOCKS_H_
