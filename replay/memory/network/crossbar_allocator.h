// Which input buffers of a crossbar send to which outputs at an edge.
#ifndef HEDDLE_REPLAY_MEMORY_NETWORK_CROSSBAR_ALLOCATOR_H_
#define HEDDLE_REPLAY_MEMORY_NETWORK_CROSSBAR_ALLOCATOR_H_

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <memory>

#include "traces/base/bit_set.h"

namespace heddle::replay {

struct CrossbarGrant {
  uint32_t buffer = 0;
  uint32_t output = 0;
};

// The grants of one edge, in a block of memory that never grows.
class CrossbarGrants {
 public:
  // At most `most`: the smaller of the numbers of buffers and of outputs.
  explicit CrossbarGrants(uint32_t most) : grants_(std::make_unique<CrossbarGrant[]>(most)), most_(most) {}

  void Clear() { size_ = 0; }
  void Add(uint32_t buffer, uint32_t output) {
    assert(size_ < most_);
    grants_[size_++] = {buffer, output};
  }
  template <typename Condition>
  void EraseIf(Condition condition) {
    size_ = static_cast<uint32_t>(std::remove_if(grants_.get(), grants_.get() + size_, condition) - grants_.get());
  }
  uint32_t size() const { return size_; }
  const CrossbarGrant& operator[](uint32_t index) const { return grants_[index]; }
  const CrossbarGrant* begin() const { return grants_.get(); }
  const CrossbarGrant* end() const { return grants_.get() + size_; }

 private:
  std::unique_ptr<CrossbarGrant[]> grants_;
  uint32_t most_;
  uint32_t size_ = 0;
};

// Finds a matching between input buffers and outputs: at most one grant per buffer and per output, each of them
// requested.
template <uint32_t kWords>
class CrossbarAllocator {
 public:
  virtual ~CrossbarAllocator() = default;
  // Whether the rows of its requests are the buffers (columns: outputs), or the other way round.
  virtual bool rows_are_buffers() const = 0;
  // Whether buffers ask for outputs that have no room at all, not knowing it. A grant of such an output is lost.
  virtual bool asks_blindly() const = 0;
  // Appends the grants of network edge `edge`. An edge without requests changes nothing, and may be left out.
  virtual void Allocate(uint64_t edge, const BitMatrix<kWords>& requests, CrossbarGrants& grants) = 0;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_NETWORK_CROSSBAR_ALLOCATOR_H_
