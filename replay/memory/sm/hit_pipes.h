// Data of hits on their way to the registers.
#ifndef HEDDLE_REPLAY_MEMORY_SM_HIT_PIPES_H_
#define HEDDLE_REPLAY_MEMORY_SM_HIT_PIPES_H_

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "proto/machine.pb.h"
#include "replay/memory/sm/access_table.h"
#include "traces/base/ring.h"

namespace heddle::replay {

// Where data for the registers come from, in the order of the turns that they take.
enum class RegisterSource : uint8_t { kShared, kTexture, kConstant, kDataHits, kReturns };
inline constexpr int kRegisterSources = 5;

// Where the number of data that may arrive at the registers per cycle is limited, hits wait here for their turn, and a
// pipeline that is full holds up the memory stage. Otherwise they are there after their latency.
class HitPipes {
 public:
  // `accesses` outlives this.
  HitPipes(const machine::v1::Hierarchy& memory, AccessTable& accesses);

  bool HasRoom(RegisterSource source) const { return !limited_ || !pipes_[static_cast<int>(source)].full(); }
  // Data of a hit are there in cycle `ready`. There must be room.
  void Hit(RegisterSource source, const Waiter& waiter, Cycle ready) {
    if (!limited_) {
      accesses_.Deliver(waiter, ready, /*returned=*/false);
      return;
    }
    pipes_[static_cast<int>(source)].push_back({waiter, ready});
    filled_ |= static_cast<uint8_t>(1u << static_cast<int>(source));
  }
  // The memory stage has waited `cycles` cycles for room.
  void CountStall(Cycle cycles) { stall_cycles_ += cycles; }
  uint64_t stall_cycles() const { return stall_cycles_; }

  bool empty() const { return filled_ == 0; }
  // A bit for every source with data that have arrived by cycle `now`.
  uint32_t Ready(Cycle now) const {
    uint32_t sources = 0;
    for (uint32_t filled = filled_; filled != 0; filled &= filled - 1) {
      const auto source = static_cast<uint32_t>(std::countr_zero(filled));
      if (pipes_[source].front().ready <= now) sources |= 1u << source;
    }
    return sources;
  }
  // When the next data arrive; kNever if there are none.
  Cycle NextReady() const {
    Cycle next = kNever;
    for (uint32_t filled = filled_; filled != 0; filled &= filled - 1) {
      next = std::min(next, pipes_[std::countr_zero(filled)].front().ready);
    }
    return next;
  }
  // Takes the oldest data of a source.
  Waiter Take(RegisterSource source) {
    Ring<Piped>& pipe = pipes_[static_cast<int>(source)];
    const Waiter waiter = pipe.front().waiter;
    pipe.pop_front();
    if (pipe.empty()) filled_ &= static_cast<uint8_t>(~(1u << static_cast<int>(source)));
    return waiter;
  }
  // Hits in all pipelines.
  uint32_t size() const;

 private:
  struct Piped {
    Waiter waiter;
    Cycle ready = 0;
  };

  uint8_t filled_ = 0;  // bit mask of sources with hits
  const bool limited_;
  AccessTable& accesses_;
  std::array<Ring<Piped>, kRegisterSources> pipes_;  // kReturns: unused
  uint64_t stall_cycles_ = 0;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_SM_HIT_PIPES_H_
