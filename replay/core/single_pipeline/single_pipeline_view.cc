// What slots lack to issue under the front end with a single pipeline.
#include "replay/core/single_pipeline/single_pipeline_core.h"

namespace heddle::replay {
namespace {

// Of an instruction in flight.
template <typename InFlight>
Lack LackOfInstruction(const InFlight& instruction, const Step& step) {
  if (instruction.inserted) return Lack::kResult;
  const bool waits_for_others = instruction.at_barrier || instruction.meets;
  if (waits_for_others || step.kind == Step::kAsync || step.op == trace::v1::OP_FENCE) return Lack::kBarrier;
  if (instruction.off_core) return Lack::kFarMemory;
  return step.kind == Step::kMemory && !instruction.passes ? Lack::kMemory : Lack::kResult;
}

}  // namespace

Lack SinglePipelineCore::LackOf(SlotId slot) const {
  const WarpTable& warps = table();
  const SlotState state = warps.state[slot];
  if (state == SlotState::kFree || warps.lanes[slot].mask == 0) return Lack::kWarp;
  switch (state) {
    case SlotState::kBarrier:
      return Lack::kBarrier;
    case SlotState::kInFlight:
      return LackOfInstruction(in_flight_[slot], sm_.steps[warps.position[slot].pc()]);
    case SlotState::kOffered:
    case SlotState::kParked:
      break;
    default:
      return Lack::kDecision;
  }
  const bool traced = sm_.formation.inserted(slot) == 0;
  if (traced && sm_.context.by_warp && sm_.SharedHeld(slot, sm_.steps[warps.position[slot].pc()])) {
    return Lack::kBarrier;
  }
  const bool room = pipeline_ == nullptr || pipeline_->HasRoom(warps.port[slot]);
  return room ? Lack::kNothing : Lack::kUnit;
}

}  // namespace heddle::replay
