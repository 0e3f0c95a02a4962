// What the slots of an SM with instruction buffers lack to issue, for policies that ask.
#ifndef HEDDLE_REPLAY_CORE_IBUFFER_IBUFFER_VIEW_H_
#define HEDDLE_REPLAY_CORE_IBUFFER_IBUFFER_VIEW_H_

#include <cstdint>
#include <optional>

#include "absl/container/inlined_vector.h"
#include "replay/core/ibuffer/ibuffer_state.h"
#include "replay/core/ibuffer/issue_stage.h"
#include "replay/core/sm_parts.h"
#include "replay/seams/issue_view.h"
#include "replay/seams/types.h"

namespace heddle::replay {

// Works out every answer anew, from buffers, scoreboard and units: the issue status of slots is kept in step between
// the calls of policies, not within them. So nobody who does not ask pays for it.
class IBufferView final : public IssueView {
 public:
  // All of the core, which must outlive the object.
  IBufferView(const SmParts& sm, const IBufferState& state, const IssueStage& issue)
      : sm_(sm), state_(state), issue_(issue) {}

  Lack LackOf(SlotId slot) const override;
  std::optional<uint32_t> AwaitedRegister(SlotId slot) const override;

  // Whether the slot waits for data from beyond the core, be it offered or parked, with an instruction in its buffer or
  // without: what DivergencePolicy::LongLatencyEnded is told the end of.
  bool WaitsLong(SlotId slot) const;

 private:
  using HwWarps = absl::InlinedVector<HwWarpLanes, 2>;

  // Where the slot's threads are. The tables of the front end tell, unless the policy has changed the slot just now.
  HwWarps Locate(SlotId slot) const;
  Lack InFlight(const WarpEntry& warp) const;
  Lack Resting(SlotId slot) const;
  // Of a slot that needs nothing but a unit.
  Lack OfUnit(UnitClass unit) const { return issue_.HasRoom(unit) ? Lack::kNothing : Lack::kUnit; }
  bool Pauses(SlotId slot, const WarpEntry& warp, const HwWarps& hw_warps) const;
  Scoreboard::Hazard HazardOf(SlotId slot, const HwWarps& hw_warps) const;
  bool HasBuffers(SlotId slot) const { return !state_.one_in_flight && sm_.formation.inserted(slot) == 0; }

  const SmParts& sm_;
  const IBufferState& state_;
  const IssueStage& issue_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_CORE_IBUFFER_IBUFFER_VIEW_H_
