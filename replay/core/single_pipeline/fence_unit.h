// Fences of the front end with a single pipeline: which stores are not acknowledged, and who waits for them.
#ifndef HEDDLE_REPLAY_CORE_SINGLE_PIPELINE_FENCE_UNIT_H_
#define HEDDLE_REPLAY_CORE_SINGLE_PIPELINE_FENCE_UNIT_H_

#include <cstdint>
#include <vector>

#include "replay/memory/ports/memory_system.h"
#include "replay/seams/types.h"

namespace heddle::replay {

// Counts the stores on their way by thread.
class FenceUnit {
 public:
  explicit FenceUnit(int max_threads)
      : stores_of_thread_(static_cast<size_t>(max_threads), 0), admitted_at_(static_cast<size_t>(max_threads), 0) {}

  // A block or warp comes to hardware threads `first` to `first` + `threads` - 1. `admitted`: how many have come to
  // the SM, this one included.
  void Admit(uint32_t first, uint32_t threads, uint64_t admitted);
  // A store of these hardware threads goes to the memory.
  void AddStore(AccessId id, const Lanes& threads, uint64_t admitted);
  // It has been acknowledged.
  void Acknowledge(AccessId id);
  // Whether stores of one of the threads are on their way.
  bool StoresPending(const Lanes& threads) const;

  // The slot's fence has to wait.
  void Wait(SlotId slot);
  // Takes the slots for which waits(slot) is not true any more, ascending.
  template <typename Waits>
  std::vector<SlotId> TakeReleased(Waits waits);

 private:
  struct Store {
    uint64_t submitted = 0;  // when, in blocks admitted
    Lanes threads;
  };
  std::vector<Store> stores_;               // by number of the access
  std::vector<uint16_t> stores_of_thread_;  // how many
  std::vector<uint64_t> admitted_at_;       // by thread: when, in blocks admitted
  std::vector<SlotId> waiting_;             // ascending
};

template <typename Waits>
std::vector<SlotId> FenceUnit::TakeReleased(Waits waits) {
  std::vector<SlotId> released;
  std::vector<SlotId> still_waiting;
  for (const SlotId slot : waiting_) (waits(slot) ? still_waiting : released).push_back(slot);
  waiting_.swap(still_waiting);
  return released;
}

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_CORE_SINGLE_PIPELINE_FENCE_UNIT_H_
