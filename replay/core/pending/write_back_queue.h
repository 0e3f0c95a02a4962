// What write-back has to do on one SM, and in which order.
#ifndef HEDDLE_REPLAY_CORE_PENDING_WRITE_BACK_QUEUE_H_
#define HEDDLE_REPLAY_CORE_PENDING_WRITE_BACK_QUEUE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "replay/core/pending/event_wheel.h"
#include "replay/seams/types.h"

namespace heddle::replay {

// Results by the cycle in which they are due, then by the order in which they became known. A policy that has no room
// for a resolve blocks everything behind it, which waits here in its order.
class WriteBackQueue {
 public:
  // `horizon`: the longest usual time until a result, in cycles.
  explicit WriteBackQueue(uint32_t horizon) : wheel_(horizon) {}

  // A result that is due at the start of cycle `at`; see EventWheel::Add.
  void Add(Cycle at, const Completion& item) { wheel_.Add(at, item); }
  // Something to do as soon as everything that waits now has been done.
  void Hold(const Completion& item) { held_.push_back(item); }

  // Takes what is held back, calling process(item), up to the first call that returns false; that item is not kept.
  // Returns whether all were taken.
  template <typename Process>
  bool TakeHeld(Process process) {
    while (first_held_ < held_.size()) {
      const Completion item = held_[first_held_++];
      if (!process(item)) break;
    }
    if (first_held_ < held_.size()) return false;
    held_.clear();
    first_held_ = 0;
    return true;
  }

  // Whether anything is due in cycle `now`, which is the next one that is taken: else TakeDue may be left out.
  bool AnyDue(Cycle now) { return wheel_.MoveTo(now); }
  // Takes what is due in cycle `now` in the same way; what comes after a call that returned false is held back, as is
  // everything if `blocked`.
  template <typename Process>
  void TakeDue(Cycle now, bool blocked, Process process) {
    TakeDue(now, blocked, process, [this](const Completion& item) { Hold(item); });
  }
  // For a front end that holds back by itself: hold(item) has to Hold everything that the item is made of.
  template <typename Process, typename HoldBack>
  void TakeDue(Cycle now, bool blocked, Process process, HoldBack hold) {
    wheel_.Take(now, [&](const Completion& item) {
      if (blocked) {
        hold(item);
      } else {
        blocked = !process(item);
      }
    });
  }

  // See EventWheel; of what is not held back.
  template <typename Accept>
  bool All(Accept accept) const {
    return wheel_.All(accept);
  }
  template <typename Function>
  void TakeAll(Function function) {
    wheel_.TakeAll(function);
  }

  size_t held() const { return held_.size() - first_held_; }
  // The next cycle with something due, kNever if there is none.
  Cycle Next() const { return wheel_.Next(); }

 private:
  EventWheel wheel_;
  std::vector<Completion> held_;  // from first_held_ on
  size_t first_held_ = 0;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_CORE_PENDING_WRITE_BACK_QUEUE_H_
