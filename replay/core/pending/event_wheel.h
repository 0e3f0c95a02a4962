// Events of one SM by cycle.
#ifndef HEDDLE_REPLAY_CORE_PENDING_EVENT_WHEEL_H_
#define HEDDLE_REPLAY_CORE_PENDING_EVENT_WHEEL_H_

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "replay/seams/types.h"

namespace heddle::replay {

// Something that write-back has to do.
struct Completion {
  enum Kind : uint8_t {
    kLanes,         // the data or results of some lanes of an instruction are there
    kAcknowledged,  // a store has reached its last memory partition
    kResume,        // a slot goes on from a barrier that has opened
    kFinish,        // a slot's instruction is done; where its threads go is still to be decided
    kBranch,        // a branch of a slot of one hardware warp has resolved
    kIssue,         // the results of all slots of one issue of several (MIMD) are there, of all their lanes
    kRegisters,     // an arithmetic instruction of a slot of one hardware warp has its results, which hold nothing but
                    // registers
    kOperands,      // the operands of an instruction are read, of its threads in one hardware warp
  };
  // kLanes, kAcknowledged, kIssue: of the instruction or issue, as the core numbers them; kResume, kFinish, kBranch:
  // the slot; kRegisters, kOperands: the hardware warp
  uint32_t id = 0;
  Kind kind = kLanes;
  LaneMask lanes = 0;  // kLanes; kRegisters: the PC of the instruction; kOperands: the number of the reading
};

// A wheel of first-in-first-out lists in a pool, one list per cycle of the horizon, with an occupancy bitmap to find
// the next one. Events of the same cycle come out in the order in which they went in. Events beyond the horizon wait in
// a heap and enter the wheel in time; they were put in before all those that are put in directly for the same cycle,
// and come out before them.
class EventWheel {
 public:
  // `horizon`: longest distance that is quick.
  explicit EventWheel(uint32_t horizon) {
    const uint32_t size = std::bit_ceil(std::clamp<uint32_t>(horizon + 2, 64, 4096));
    mask_ = size - 1;
    last_.assign(size, kNone);
    words_ = size / 64;
    if (words_ <= few_.size()) return;
    many_.assign(words_, 0);
    occupied_ = many_.data();
  }

  EventWheel(const EventWheel&) = delete;
  EventWheel& operator=(const EventWheel&) = delete;

  bool empty() const { return size_ == 0; }

  // `at` must not be before the last cycle that was taken; if it is that cycle, it has to be taken once more.
  void Add(Cycle at, const Completion& event) {
    ++size_;
    if (at - taken_ > mask_) {
      far_.push_back({at, sequence_++, event});
      std::push_heap(far_.begin(), far_.end(), Later);
      return;
    }
    Insert(at, event);
  }

  // The next cycle after the last one taken that has an event; kNever if there is none.
  Cycle Next() const {
    if (size_ == 0) return kNever;
    const Cycle far = far_.empty() ? kNever : far_.front().at;
    const uint32_t start = static_cast<uint32_t>(taken_ + 1) & mask_;
    uint32_t word = start >> 6;
    uint64_t bits = occupied_[word] & (~uint64_t{0} << (start & 63));
    for (uint32_t i = 0; i <= words_; ++i) {
      if (bits != 0) {
        const uint32_t at = word * 64 + static_cast<uint32_t>(std::countr_zero(bits));
        return std::min(far, taken_ + 1 + ((at - start) & mask_));
      }
      word = word + 1 == words_ ? 0 : word + 1;
      bits = occupied_[word];
    }
    return far;
  }

  // Cycle `now` is the next one that is taken. Whether anything is due in it: mostly not, and then there is nothing to
  // take. The list itself has left the host's caches since its cycle came last.
  bool MoveTo(Cycle now) {
    // From taken_ + 1 on nothing is due before `now`, so the window may move.
    taken_ = now;
    while (!far_.empty() && far_.front().at - now <= mask_) {
      std::pop_heap(far_.begin(), far_.end(), Later);
      const Far far = far_.back();
      far_.pop_back();
      Insert(far.at, far.event);
    }
    return Occupied(static_cast<uint32_t>(now) & mask_);
  }

  // Calls function(event) for every event of cycle `now`, in order; `now` must not be later than Next(). The function
  // may add events.
  template <typename Function>
  void Take(Cycle now, Function function) {
    if (!MoveTo(now)) return;
    const uint32_t index = static_cast<uint32_t>(now) & mask_;
    occupied_[index >> 6] &= ~(uint64_t{1} << (index & 63));
    const uint32_t last = last_[index];
    uint32_t node = kNone;
    uint32_t next = nodes_[last].next;
    do {
      node = next;
      Node& entry = nodes_[node];
      const Completion event = entry.event;
      next = entry.next;
      entry.next = free_;
      free_ = node;
      --size_;
      function(event);
    } while (node != last);
  }

  // Whether accept(cycle, event) is true of every event, none of which is beyond the horizon. TakeAll calls
  // function(cycle, event) for them, in order of cycle and insertion, and forgets them.
  template <typename Accept>
  bool All(Accept accept) const {
    if (!far_.empty()) return false;
    const Cycle end = taken_ + mask_ + 1;
    for (Cycle at = taken_; at < end;) {
      const uint32_t index = static_cast<uint32_t>(at) & mask_;
      const uint64_t rest = occupied_[index >> 6] >> (index & 63);  // of this word, from `at` on
      if (rest == 0) {
        at += 64 - (index & 63);
        continue;
      }
      at += static_cast<uint32_t>(std::countr_zero(rest));
      if (at >= end) break;
      const uint32_t last = last_[static_cast<uint32_t>(at) & mask_];
      uint32_t node = last;
      do {
        node = nodes_[node].next;
        if (!accept(at, nodes_[node].event)) return false;
      } while (node != last);
      ++at;
    }
    return true;
  }
  template <typename Function>
  void TakeAll(Function function) {
    All([&](Cycle at, const Completion& event) {
      function(at, event);
      return true;
    });
    std::fill_n(occupied_, words_, 0);
    nodes_.clear();
    free_ = kNone;
    size_ = 0;
  }

 private:
  static constexpr uint32_t kNone = ~uint32_t{0};
  struct Node {
    Completion event;
    uint32_t next = kNone;  // of the same cycle, behind the last one the first; of those that are not in use
  };
  struct Far {
    Cycle at;
    uint64_t sequence;
    Completion event;
  };
  static bool Later(const Far& a, const Far& b) { return a.at != b.at ? a.at > b.at : a.sequence > b.sequence; }

  void Insert(Cycle at, const Completion& event) {
    uint32_t node = free_;
    if (node == kNone) {
      node = static_cast<uint32_t>(nodes_.size());
      nodes_.emplace_back();
    } else {
      free_ = nodes_[node].next;
    }
    Node& entry = nodes_[node];  // field by field: a copy of what was just written in pieces waits for them
    entry.event.id = event.id;
    entry.event.kind = event.kind;
    entry.event.lanes = event.lanes;
    const uint32_t index = static_cast<uint32_t>(at) & mask_;
    if (Occupied(index)) {
      Node& last = nodes_[last_[index]];
      entry.next = last.next;
      last.next = node;
    } else {
      entry.next = node;
      occupied_[index >> 6] |= uint64_t{1} << (index & 63);
    }
    last_[index] = node;
  }

  bool Occupied(uint32_t index) const { return (occupied_[index >> 6] >> (index & 63) & 1) != 0; }

  // What every cycle looks at comes first.
  uint32_t mask_ = 0;
  uint32_t words_ = 0;  // of occupied_
  Cycle taken_ = 0;
  size_t size_ = 0;
  uint64_t* occupied_ = few_.data();
  std::array<uint64_t, 4> few_{};  // beside the rest, so that few lines of the host's cache are touched
  std::vector<Far> far_;
  uint32_t free_ = kNone;
  std::vector<uint32_t> last_;  // by cycle, if it is occupied: the last event's node
  std::vector<Node> nodes_;
  std::vector<uint64_t> many_;  // occupied_ of long horizons
  uint64_t sequence_ = 0;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_CORE_PENDING_EVENT_WHEEL_H_
