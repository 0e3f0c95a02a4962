// Finds, in what the threads of a block have recorded, shared memory that is used without the synchronization it needs.
#ifndef HEDDLE_TRACEGEN_EXECUTE_CHECKS_SHARED_CHECK_H_
#define HEDDLE_TRACEGEN_EXECUTE_CHECKS_SHARED_CHECK_H_

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "tracegen/execute/block/block_observer.h"
#include "tracegen/execute/checks/cluster_loads.h"
#include "tracegen/execute/checks/hand_off_finder.h"
#include "tracegen/execute/checks/shared_paths.h"
#include "tracegen/execute/checks/uninitialized_loads.h"
#include "traces/format/program/clusters.h"
#include "traces/format/program/program.h"

namespace heddle::tracegen {

// Barriers and warp operations divide what a thread does into intervals: number of barriers passed, and of warp
// operations since the last one. Between two accesses by different threads of a warp in intervals of the same number
// there is nothing that orders them. Such accesses are gone through in the order that a warp in lockstep has (lowest
// instruction first, as BlockRunner's lockstep), whatever the order in which the threads happened to run; threads that
// are at the same instruction run it together. A hand-off is
// * a load of what another thread has stored last, unless the thread itself has taken part in that store;
// * a store to what another thread has loaded;
// * a store over that of another thread, unless that thread takes part in it: whoever runs last would leave its value.
// Stores of the same constant count as one, as it does not matter whose comes last. Atomics are loads and stores, but
// not among themselves. Warp operations count whatever their mask, so that a hand-off behind one for other threads is
// missed; so is one between parts of a block that is cut in time.
//
// Most kernels pass quickly: an interval in which a warp only loads, or stores once, needs no look at addresses, nor do
// loads behind a barrier by which all of shared memory has been stored to. Intervals in which a warp only stores,
// several times, as when it fills arrays, are looked at in one of kStoresSampled blocks.
//
// A load of a place that no thread has stored to before the same barrier reads what is not initialized.
//
// In launches whose clusters have several blocks, both are looked for in the shared memory of the whole cluster; there
// only loads of what no thread of it has ever stored to are told.
//
// An asynchronous copy stores at the wait that covers it; a thread that ends without such a wait is told.
class SharedMemoryCheck final : public BlockObserver {
 public:
  // Of one launch of `program`, which must outlive the check, with so many threads and so much shared memory per block.
  // `constants`: by instruction a number that stands for the constant that it stores, 0 = none is known; may be empty.
  // One cluster after the other is shown; its blocks may be shown in parts in any order.
  SharedMemoryCheck(const trace::Program& program, uint32_t threads, uint32_t shared_bytes,
                    std::vector<uint32_t> constants = {}, const trace::Clusters& clusters = {});

  absl::Status AddBlock(uint64_t block, BlockRecords& records, std::span<const uint64_t> consumed, bool last) override;
  bool CanBeCopied() const override { return true; }
  std::string TakeFindings() override;
  void AddFindings(std::string_view findings) override;

  // Number of loads, or of places stored over, by pair of instructions.
  const std::map<HandOff, uint64_t>& hand_offs() const { return hand_offs_.found(); }
  // The first load, and its block, of what was not initialized.
  const std::optional<UninitializedLoad>& uninitialized() const {
    return of_clusters_.has_value() ? of_clusters_->found() : uninitialized_.found();
  }
  // The first asynchronous copy of the program that some thread has not waited for when it ended.
  std::optional<trace::Pc> unwaited() const;

 private:
  static constexpr uint64_t kStoresSampled = 16;  // the first one of so many

  const uint32_t shared_bytes_;
  const trace::Clusters clusters_;
  std::vector<SharedPaths> paths_;  // by rank
  HandOffFinder hand_offs_;
  UninitializedLoads uninitialized_;
  std::optional<ClusterLoads> of_clusters_;  // of several blocks, in place of the one above
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_CHECKS_SHARED_CHECK_H_
