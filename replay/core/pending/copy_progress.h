// How far each thread's asynchronous copies are: in flight, in groups, awaited.
#ifndef HEDDLE_REPLAY_CORE_PENDING_COPY_PROGRESS_H_
#define HEDDLE_REPLAY_CORE_PENDING_COPY_PROGRESS_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "traces/format/program/operands.h"

namespace heddle::replay {

// The copies of one thread, numbered ascending in the order of issue (over all threads). A group is what lies between
// two commits.
class CopyProgress {
 public:
  void Begin(uint64_t copy) { in_flight_.push_back(copy); }
  // Copies may end in any order.
  void End(uint64_t copy) {
    const auto found = std::lower_bound(in_flight_.begin(), in_flight_.end(), copy);
    // A thread that has left its copies behind knows nothing of them.
    if (found != in_flight_.end() && *found == copy) in_flight_.erase(found);
  }
  // Closes a group: copies up to number `latest`, the latest that any thread has begun, belong to it or to one before.
  void Commit(uint64_t latest) { commits_[commit_count_++ % kKept] = latest; }

  // Whether more than `most` of the closed groups, at most kMostPending, are not complete.
  bool GroupsPending(uint32_t most) const {
    if (in_flight_.empty() || commit_count_ <= most) return false;
    return in_flight_.front() <= commits_[(commit_count_ - 1 - most) % kKept];
  }
  // Whether a copy up to number `latest` is not complete.
  bool AnyPending(uint64_t latest) const { return !in_flight_.empty() && in_flight_.front() <= latest; }
  void Clear() {
    in_flight_.clear();
    commit_count_ = 0;
  }

  static constexpr uint32_t kMostPending = trace::kMostPending;

 private:
  static constexpr size_t kKept = kMostPending + 1;
  std::vector<uint64_t> in_flight_;  // ascending
  // The latest commits: a group is complete if no copy up to its number is in flight.
  std::array<uint64_t, kKept> commits_{};
  uint64_t commit_count_ = 0;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_CORE_PENDING_COPY_PROGRESS_H_
