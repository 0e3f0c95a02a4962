// Transaction barriers in the shared memory of the resident blocks of one SM.
#ifndef HEDDLE_REPLAY_CORE_TRANSACTION_BARRIERS_H_
#define HEDDLE_REPLAY_CORE_TRANSACTION_BARRIERS_H_

#include <cstdint>
#include <map>
#include <utility>

#include "replay/seams/types.h"

namespace heddle::replay {

// Objects by block and address: how many arrivals the present phase lacks, and how many phases are over.
class TransactionBarriers {
 public:
  // A barrier begins, or begins anew: `count` arrivals complete a phase.
  void Init(BlockId block, uint64_t address, uint64_t count);
  void Invalidate(BlockId block, uint64_t address) { barriers_.erase({block, address}); }
  // `count` threads arrive; those that drop out are not expected in later phases.
  void Arrive(BlockId block, uint64_t address, uint64_t count, bool drops);
  // The present phase expects an arrival more.
  void ExpectOneMore(BlockId block, uint64_t address);
  // Phases since Init that are over; 0 of a barrier that has not begun.
  uint64_t PhasesOver(BlockId block, uint64_t address) const;
  size_t size() const { return barriers_.size(); }
  // The block has left.
  void Forget(BlockId block);

 private:
  struct Barrier {
    uint64_t count = 0;
    uint64_t lacks = 0;
    uint64_t over = 0;
  };
  std::map<std::pair<BlockId, uint64_t>, Barrier> barriers_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_CORE_TRANSACTION_BARRIERS_H_
