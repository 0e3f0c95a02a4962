// A queue of bounded length in one block of memory.
#ifndef HEDDLE_TRACES_BASE_RING_H_
#define HEDDLE_TRACES_BASE_RING_H_

#include <bit>
#include <cassert>
#include <cstdint>
#include <memory>

namespace heddle {

// First in, first out. Allocates at construction only.
template <typename T>
class Ring {
 public:
  Ring() : Ring(1) {}
  // Holds at most `capacity` elements, at least 1.
  explicit Ring(uint32_t capacity)
      : capacity_(capacity),
        mask_(std::bit_ceil(capacity) - 1),
        elements_(std::make_unique<T[]>(std::bit_ceil(capacity))) {}

  bool empty() const { return size_ == 0; }
  bool full() const { return size_ == capacity_; }
  uint32_t size() const { return size_; }
  uint32_t room() const { return capacity_ - size_; }
  uint32_t capacity() const { return capacity_; }

  T& front() {
    assert(size_ != 0);
    return elements_[first_ & mask_];
  }
  const T& front() const {
    assert(size_ != 0);
    return elements_[first_ & mask_];
  }
  // Element `place` from the front.
  const T& operator[](uint32_t place) const { return elements_[(first_ + place) & mask_]; }

  void push_back(const T& element) {
    assert(size_ < capacity_);
    elements_[(first_ + size_++) & mask_] = element;
  }
  void pop_front() {
    assert(size_ != 0);
    ++first_;
    --size_;
  }

 private:
  uint32_t capacity_;
  uint32_t mask_;
  uint32_t first_ = 0;
  uint32_t size_ = 0;
  std::unique_ptr<T[]> elements_;
};

// A ring of elements that are ready from some time on, their member `ready`. That of the first one lies beside the
// ring's own numbers: who only asks for it does not touch the elements.
template <typename T>
class TimedRing {
 public:
  static constexpr uint64_t kNever = ~uint64_t{0};

  explicit TimedRing(uint32_t capacity) : ring_(capacity) {}

  // When the first is ready; kNever if there is none.
  uint64_t ready() const { return ready_; }
  bool empty() const { return ring_.empty(); }
  bool full() const { return ring_.full(); }
  uint32_t size() const { return ring_.size(); }
  uint32_t room() const { return ring_.room(); }
  uint32_t capacity() const { return ring_.capacity(); }
  const T& front() const { return ring_.front(); }

  void push_back(const T& element) {
    if (ring_.empty()) ready_ = element.ready;
    ring_.push_back(element);
  }
  void pop_front() {
    ring_.pop_front();
    ready_ = ring_.empty() ? kNever : ring_.front().ready;
  }

 private:
  uint64_t ready_ = kNever;
  Ring<T> ring_;
};

}  // namespace heddle

#endif  // HEDDLE_TRACES_BASE_RING_H_
