// The fourth seam: for which warp the next instructions are fetched (front end with instruction buffers).
//
// To add a fetch policy: write replay/policies/fetch/NAME.cc with a class that derives from FetchPolicy and one
// HEDDLE_FETCH_POLICY registration. Nothing else is edited.
#ifndef HEDDLE_REPLAY_SEAMS_FETCH_POLICY_H_
#define HEDDLE_REPLAY_SEAMS_FETCH_POLICY_H_

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "replay/seams/policy_origin.h"
#include "replay/seams/policy_registry.h"
#include "replay/seams/shared_state.h"
#include "replay/seams/types.h"
#include "replay/seams/warp_scheduler.h"
#include "replay/seams/warp_table.h"

namespace heddle::replay {

// What a fetch policy sees of the front end in the cycle of its choice: after issue and decode.
struct FetchView {
  // Warps that may be fetched for: with room in their buffer (by the machine's rule), no fetch under way, no branch
  // unresolved. Those at a barrier are in `at_barrier` instead, if they could be fetched for otherwise.
  const SlotSet& eligible;
  const SlotSet& at_barrier;
  std::span<const uint8_t> entries;     // by slot: valid instructions in its buffer
  std::span<const SlotId> issued;       // by port: the slot that issued in this cycle, kNoSlot if none
  std::span<const SlotId> last_issued;  // by port: the slot that issued last, in this cycle or before
};

// One instance per SM and launch; one warp is fetched for per cycle. Must be a deterministic function of its calls.
class FetchPolicy {
 public:
  static constexpr char kSeam[] = "fetch";
  static constexpr char kKind[] = "fetch policy";

  virtual ~FetchPolicy() = default;
  // The slot to fetch for: a member of `eligible` or, if the policy fetches for them, of `at_barrier`; kNoSlot for
  // none. Has no side effects: a refused fetch is asked for again.
  virtual SlotId Pick(const FetchView& view) const = 0;
  // The fetch of the picked slot went to the instruction cache.
  virtual void Fetched(SlotId /*slot*/) {}
  virtual std::span<const uint64_t> counters() const { return {}; }
};

struct FetchContext {
  const WarpTable& table;  // of the SM, lives as long as the policy
  // By port; for policies that ask the scheduler for its order (Pick is pure).
  std::span<const std::unique_ptr<WarpScheduler>> schedulers;
  int buffer_entries;         // per warp
  bool fetch_when_free_slot;  // else only for empty buffers
  int warp_size;
  int ports;
  SmShared shared = {};  // with other policies of the SM
};

using FetchRegistry = PolicyRegistry<FetchPolicy, FetchContext>;

#define HEDDLE_FETCH_POLICY(...)                                                                  \
  HEDDLE_REGISTER_AT_SEAM("fetch", ::heddle::replay::FetchPolicy, ::heddle::replay::FetchContext, \
                          ::heddle::replay::FetchRegistry, __VA_ARGS__)

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_SEAMS_FETCH_POLICY_H_
