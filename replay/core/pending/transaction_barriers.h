// Transaction barriers in the shared memory of the resident blocks of one SM.
#ifndef HEDDLE_REPLAY_CORE_PENDING_TRANSACTION_BARRIERS_H_
#define HEDDLE_REPLAY_CORE_PENDING_TRANSACTION_BARRIERS_H_

#include <cstdint>
#include <deque>
#include <map>
#include <utility>

#include "replay/seams/types.h"

namespace heddle::replay {

// Objects by block and address: how many arrivals the present phase lacks, and how many phases are over. Arrivals count
// so many cycles after they were made.
class TransactionBarriers {
 public:
  explicit TransactionBarriers(uint32_t arrival_latency) : arrival_latency_(arrival_latency) {}

  // A barrier begins, or begins anew: `count` arrivals complete a phase.
  void Init(BlockId block, uint64_t address, uint64_t count);
  void Invalidate(BlockId block, uint64_t address) { barriers_.erase({block, address}); }
  // `count` threads arrive in cycle `now`; those that drop out are not expected in later phases.
  void Arrive(BlockId block, uint64_t address, uint64_t count, bool drops, Cycle now);
  // Arrivals that count in cycle `due`, a later one.
  void ArriveAt(BlockId block, uint64_t address, uint64_t count, bool drops, Cycle due);
  // Arrivals that are due in cycle `now` count. Returns whether there are any.
  bool CountArrivals(Cycle now);
  // When the next of the arrivals counts that do not yet; kNever if there are none.
  Cycle NextArrival() const { return arrivals_.empty() ? kNever : arrivals_.front().due; }
  // The present phase expects an arrival more.
  void ExpectOneMore(BlockId block, uint64_t address);
  // Phases since Init that are over; 0 of a barrier that has not begun.
  uint64_t PhasesOver(BlockId block, uint64_t address) const;
  // Barriers, and arrivals that do not count yet.
  size_t size() const { return barriers_.size() + arrivals_.size(); }
  // The block has left.
  void Forget(BlockId block);

 private:
  struct Barrier {
    uint64_t count = 0;
    uint64_t lacks = 0;
    uint64_t over = 0;
  };
  struct Arrival {
    Cycle due = 0;
    BlockId block = 0;
    uint64_t address = 0;
    uint64_t count = 0;
    bool drops = false;
    uint32_t times = 0;  // so many of them
  };
  void Count(BlockId block, uint64_t address, uint64_t count, bool drops);

  const uint32_t arrival_latency_;
  std::deque<Arrival> arrivals_;  // that do not count yet, by time
  std::map<std::pair<BlockId, uint64_t>, Barrier> barriers_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_CORE_PENDING_TRANSACTION_BARRIERS_H_
