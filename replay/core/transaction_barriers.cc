#include "replay/core/transaction_barriers.h"

#include <algorithm>

namespace heddle::replay {

void TransactionBarriers::Init(BlockId block, uint64_t address, uint64_t count) {
  barriers_[{block, address}] = Barrier{count, count, 0};
}

void TransactionBarriers::Arrive(BlockId block, uint64_t address, uint64_t count, bool drops) {
  const auto found = barriers_.find({block, address});
  if (found == barriers_.end()) return;
  Barrier& barrier = found->second;
  if (drops) barrier.count -= std::min(barrier.count, count);
  barrier.lacks -= std::min(barrier.lacks, count);
  if (barrier.lacks != 0) return;
  ++barrier.over;
  barrier.lacks = barrier.count;
}

void TransactionBarriers::ExpectOneMore(BlockId block, uint64_t address) {
  const auto found = barriers_.find({block, address});
  if (found != barriers_.end()) ++found->second.lacks;
}

uint64_t TransactionBarriers::PhasesOver(BlockId block, uint64_t address) const {
  const auto found = barriers_.find({block, address});
  return found == barriers_.end() ? 0 : found->second.over;
}

void TransactionBarriers::Forget(BlockId block) {
  barriers_.erase(barriers_.lower_bound({block, 0}), barriers_.upper_bound({block, ~uint64_t{0}}));
}

}  // namespace heddle::replay
