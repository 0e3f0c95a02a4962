// Elements that are known by numbers, and whose numbers are used again.
#ifndef HEDDLE_TRACES_BASE_POOL_H_
#define HEDDLE_TRACES_BASE_POOL_H_

#include <cstdint>
#include <vector>

namespace heddle {

// Grows to the most elements that were ever in use at once. The number that was given back last is used first. A
// reference to an element is good until the next Take.
template <typename T>
class Pool {
 public:
  // A number that is not in use. Its element holds what it held when the number was given back.
  uint32_t Take() {
    if (free_.empty()) {
      elements_.emplace_back();
      return static_cast<uint32_t>(elements_.size() - 1);
    }
    const uint32_t number = free_.back();
    free_.pop_back();
    return number;
  }
  void Give(uint32_t number) { free_.push_back(number); }
  T& operator[](uint32_t number) { return elements_[number]; }
  const T& operator[](uint32_t number) const { return elements_[number]; }
  // Whether no number is in use.
  bool idle() const { return free_.size() == elements_.size(); }

 private:
  std::vector<T> elements_;
  std::vector<uint32_t> free_;
};

}  // namespace heddle

#endif  // HEDDLE_TRACES_BASE_POOL_H_
