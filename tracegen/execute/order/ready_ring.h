// The threads of a block that can go on, in the order in which they get their turn.
#ifndef HEDDLE_TRACEGEN_EXECUTE_ORDER_READY_RING_H_
#define HEDDLE_TRACEGEN_EXECUTE_ORDER_READY_RING_H_

#include <cstdint>
#include <utility>
#include <vector>

namespace heddle::tracegen {

// A queue of thread numbers with room for each thread of a block once. Functions that look at or take threads need the
// queue to hold one.
class ReadyRing {
 public:
  // Empties the queue and makes room for so many threads.
  void Resize(uint32_t threads) {
    ring_.assign(threads, 0);
    Clear();
  }
  void Clear() { head_ = count_ = 0; }

  uint32_t size() const { return count_; }
  bool empty() const { return count_ == 0; }
  uint32_t front() const { return ring_[head_]; }
  uint32_t back() const { return ring_[Slot(count_ - 1)]; }

  void Push(uint32_t thread) { ring_[Slot(count_++)] = thread; }
  uint32_t Pop() {
    const uint32_t thread = ring_[head_];
    head_ = Slot(1);
    --count_;
    return thread;
  }
  void PopBack() { --count_; }
  // The first thread becomes the last one.
  void Rotate() {
    const uint32_t thread = Pop();
    Push(thread);
  }
  // The first thread, and the one `place` behind it, change places.
  void SwapFront(uint32_t place) { std::swap(ring_[head_], ring_[Slot(place)]); }
  // Takes out one thread, which is most likely among the last. Nothing happens if it is not there.
  void Remove(uint32_t thread) {
    for (uint32_t place = count_; place-- > 0;) {
      if (ring_[Slot(place)] != thread) continue;
      for (; place + 1 < count_; ++place) ring_[Slot(place)] = ring_[Slot(place + 1)];
      --count_;
      return;
    }
  }

 private:
  // Where the thread stands that has `place` others in front of it.
  uint32_t Slot(uint32_t place) const {
    const uint32_t slot = head_ + place;
    const auto size = static_cast<uint32_t>(ring_.size());
    return slot >= size ? slot - size : slot;
  }

  std::vector<uint32_t> ring_;
  uint32_t head_ = 0;
  uint32_t count_ = 0;
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_ORDER_READY_RING_H_
