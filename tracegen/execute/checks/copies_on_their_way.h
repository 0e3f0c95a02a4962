// Asynchronous copies of a path: when what they store to shared memory is there.
#ifndef HEDDLE_TRACEGEN_EXECUTE_CHECKS_COPIES_ON_THEIR_WAY_H_
#define HEDDLE_TRACEGEN_EXECUTE_CHECKS_COPIES_ON_THEIR_WAY_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tracegen/execute/checks/shared_step.h"
#include "traces/format/program/program.h"

namespace heddle::tracegen {

struct CopyEvent {
  enum Kind : uint8_t { kBegin, kCommit, kWait, kWaitForAll };
  Kind kind = kBegin;
  uint32_t pending = 0;  // kWait: groups that may be
};

// A copy stores at the wait that covers it, as AsyncCopies does it.
class CopiesOnTheirWay {
 public:
  // What happens at an instruction of the path; `step` is its own. Returns the stores that it makes, each with the
  // order of the instruction; they are there until the next call.
  std::span<const SharedStep> Take(const CopyEvent& event, const SharedStep& step) {
    arrived_.clear();
    switch (event.kind) {
      case CopyEvent::kBegin:
        copies_.push_back({step, closed_});
        break;
      case CopyEvent::kCommit:
        ++closed_;
        break;
      case CopyEvent::kWait:
        Arrive(closed_ - std::min(event.pending, closed_), step.order);
        break;
      case CopyEvent::kWaitForAll:
        Arrive(closed_ + 1, step.order);
        break;
    }
    return arrived_;
  }

  void Clear() {
    copies_.clear();
    closed_ = 0;
  }
  bool empty() const { return copies_.empty(); }
  // The instruction of the oldest copy.
  trace::Pc first() const { return copies_.front().step.pc; }

 private:
  struct Copy {
    SharedStep step;
    uint32_t group = 0;
  };

  // Those of groups below `end`.
  void Arrive(uint32_t end, uint64_t order) {
    size_t count = 0;
    for (; count < copies_.size() && copies_[count].group < end; ++count) {
      arrived_.push_back(copies_[count].step);
      arrived_.back().order = order;
    }
    copies_.erase(copies_.begin(), copies_.begin() + static_cast<std::ptrdiff_t>(count));
  }

  std::vector<Copy> copies_;  // groups in ascending order
  uint32_t closed_ = 0;       // groups
  std::vector<SharedStep> arrived_;
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_CHECKS_COPIES_ON_THEIR_WAY_H_
