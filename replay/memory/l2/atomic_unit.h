// What does the atomics of a slice.
#ifndef HEDDLE_REPLAY_MEMORY_L2_ATOMIC_UNIT_H_
#define HEDDLE_REPLAY_MEMORY_L2_ATOMIC_UNIT_H_

#include <cstdint>

#include "replay/memory/ports/clock_domains.h"
#include "replay/memory/ports/memory_request.h"

namespace heddle::replay {

// One operation at a time, one lane of an address per edge. Its line (without a cache: its block of memory) is locked
// meanwhile.
class AtomicUnit {
 public:
  // Lines have 2^line_bits bytes.
  explicit AtomicUnit(uint32_t line_bits) : line_bits_(line_bits) {}

  // Time starts again at edge 0; nothing may be under way.
  void BeginLaunch() { done_ = 0; }
  bool busy() const { return busy_; }
  // Whether the request has to wait until the operation that is under way is over.
  bool HoldsUp(const MemoryRequest& request) const {
    return busy_ &&
           (request.kind == RequestKind::kAtomic || request.address >> line_bits_ == operation_.address >> line_bits_);
  }
  // Begins an operation at edge `now`; none may be under way.
  void Begin(const MemoryRequest& request, Edge now) {
    busy_ = true;
    operation_ = request;
    done_ = now + request.passes;
  }
  // The edge at which the operation that is under way can end, and what is answered then.
  Edge done() const { return done_; }
  const MemoryRequest& operation() const { return operation_; }
  void End() { busy_ = false; }

 private:
  bool busy_ = false;
  const uint32_t line_bits_;
  Edge done_ = 0;
  MemoryRequest operation_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_L2_ATOMIC_UNIT_H_
