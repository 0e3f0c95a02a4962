#include "replay/core/pending/transaction_barriers.h"

#include <algorithm>
#include <iterator>

namespace heddle::replay {

void TransactionBarriers::Init(BlockId block, uint64_t address, uint64_t count) {
  barriers_[{block, address}] = Barrier{count, count, 0};
}

void TransactionBarriers::Arrive(BlockId block, uint64_t address, uint64_t count, bool drops, Cycle now) {
  if (arrival_latency_ == 0) {
    Count(block, address, count, drops);
    return;
  }
  ArriveAt(block, address, count, drops, now + arrival_latency_);
}

void TransactionBarriers::ArriveAt(BlockId block, uint64_t address, uint64_t count, bool drops, Cycle due) {
  const auto later = [](Cycle at, const Arrival& one) { return at < one.due; };
  const auto behind = std::upper_bound(arrivals_.begin(), arrivals_.end(), due, later);
  // Mostly the threads of a warp arrive together.
  if (behind != arrivals_.begin()) {
    Arrival& last = *std::prev(behind);
    if (last.due == due && last.block == block && last.address == address && last.count == count &&
        last.drops == drops) {
      ++last.times;
      return;
    }
  }
  arrivals_.insert(behind, {due, block, address, count, drops, 1});
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
