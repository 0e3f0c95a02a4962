// Dirty lines that fills of the data cache displaced.
#ifndef HEDDLE_REPLAY_MEMORY_SM_HELD_WRITE_BACKS_H_
#define HEDDLE_REPLAY_MEMORY_SM_HELD_WRITE_BACKS_H_

#include <cstdint>
#include <vector>

#include "replay/memory/cache/mshr_table.h"
#include "traces/base/ring.h"

namespace heddle::replay {

// A line that a fill displaces needs a place in the miss queue. Until it has one, the MSHR of the fill holds it.
class HeldWriteBacks {
 public:
  struct Line {
    uint16_t entry = MshrTable::kNone;  // the MSHR
    uint64_t line = 0;
  };

  explicit HeldWriteBacks(uint32_t mshrs) : lines_(mshrs == 0 ? 1 : mshrs), holds_(mshrs, Hold::kNone) {}

  bool empty() const { return empty_; }
  void Add(uint16_t entry, uint64_t line) {
    lines_.push_back({entry, line});
    empty_ = false;
    holds_[entry] = Hold::kWriteBack;
  }
  // All that waited for the line of the MSHR have left. Whether the MSHR is held nevertheless.
  bool HoldsDrained(uint16_t entry) {
    if (holds_[entry] == Hold::kNone) return false;
    holds_[entry] = Hold::kOnlyWriteBack;
    return true;
  }
  // The oldest line leaves. `drained` says whether its MSHR was held for it alone.
  Line Take(bool& drained) {
    const Line line = lines_.front();
    lines_.pop_front();
    empty_ = lines_.empty();
    drained = holds_[line.entry] == Hold::kOnlyWriteBack;
    holds_[line.entry] = Hold::kNone;
    return line;
  }

 private:
  enum class Hold : uint8_t { kNone, kWriteBack, kOnlyWriteBack };

  bool empty_ = true;
  Ring<Line> lines_;
  std::vector<Hold> holds_;  // by MSHR; kOnlyWriteBack: it has drained
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_SM_HELD_WRITE_BACKS_H_
