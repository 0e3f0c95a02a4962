#include "replay/core/transaction_barriers.h"

#include <algorithm>

namespace heddle::replay {

void TransactionBarriers::Init(BlockId block, uint64_t address, uint64_t count) {
  barriers_[{block, address}] = Barrier{count, count, 0};
}

void TransactionBarriers::Arrive(BlockId block, uint64_t address, uint64_t count, bool drops, Cycle now) {
  if (arrival_latency_ == 0) {
    Count(block, address, count, drops);
    return;
  }
  const Cycle due = now + arrival_latency_;
  const auto is_alike = [&](const Arrival& one) {
    return one.due == due && one.block == block && one.address == address && one.count == count && one.drops == drops;
  };
  // Mostly the threads of a warp arrive together.
  if (arrivals_.empty() || !is_alike(arrivals_.back())) arrivals_.push_back({due, block, address, count, drops, 0});
  ++arrivals_.back().times;
}

bool TransactionBarriers::CountArrivals(Cycle now) {
  bool any = false;
  for (; !arrivals_.empty() && arrivals_.front().due <= now; arrivals_.pop_front()) {
    const Arrival& one = arrivals_.front();
    for (uint32_t i = 0; i < one.times; ++i) Count(one.block, one.address, one.count, one.drops);
    any = true;
  }
  return any;
}

void TransactionBarriers::Count(BlockId block, uint64_t address, uint64_t count, bool drops) {
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
  std::erase_if(arrivals_, [block](const Arrival& one) { return one.block == block; });
  barriers_.erase(barriers_.lower_bound({block, 0}), barriers_.upper_bound({block, ~uint64_t{0}}));
}

}  // namespace heddle::replay
