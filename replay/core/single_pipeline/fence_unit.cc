#include "replay/core/single_pipeline/fence_unit.h"

#include <algorithm>

#include "replay/seams/lane_mask.h"

namespace heddle::replay {

void FenceUnit::Admit(uint32_t first, uint32_t threads, uint64_t admitted) {
  std::fill_n(stores_of_thread_.begin() + first, threads, uint16_t{0});
  std::fill_n(admitted_at_.begin() + first, threads, admitted);
}

void FenceUnit::AddStore(AccessId id, const Lanes& threads, uint64_t admitted) {
  if (stores_.size() <= id) stores_.resize(size_t{id} + 1);
  stores_[id].submitted = admitted;
  stores_[id].threads = threads;
  ForEachLane(threads.mask, [&](int lane) { ++stores_of_thread_[threads.thread[lane]]; });
}

void FenceUnit::Acknowledge(AccessId id) {
  const Store& store = stores_[id];
  ForEachLane(store.threads.mask, [&](int lane) {
    const ThreadId thread = store.threads.thread[lane];
    // Threads of a block that has come since have no part in it.
    if (admitted_at_[thread] <= store.submitted) --stores_of_thread_[thread];
  });
}

bool FenceUnit::StoresPending(const Lanes& threads) const {
  bool pending = false;
  ForEachLane(threads.mask, [&](int lane) { pending |= stores_of_thread_[threads.thread[lane]] != 0; });
  return pending;
}

void FenceUnit::Wait(SlotId slot) { waiting_.insert(std::upper_bound(waiting_.begin(), waiting_.end(), slot), slot); }

}  // namespace heddle::replay
