// Which threads of a warp are together: convergence barriers (BSSY, BSYNC, BREAK, BMOV), and the branches that ask.
//
// A barrier's register holds, in its lowest bits, the number of the instruction where threads meet, and above it which
// barrier of the runtime it is. Where no instruction of a kernel asks which threads are together nobody waits, and that
// number is 0.
#include "llvm/IR/Constants.h"
#include "tracegen/program/machine_source/machine_step.h"
#include "tracegen/program/ptx_source/device_operation.h"

namespace heddle::tracegen {
namespace {

using llvm::Value;

constexpr unsigned kPlaceBits = 20;
constexpr uint32_t kPlaceMask = (1u << kPlaceBits) - 1;

Value* NumberOf(llvm::IRBuilder<>& b, Value* barrier) { return b.CreateLShr(barrier, kPlaceBits); }

}  // namespace

void LowerBarrierSet(MachineStepContext& step, uint64_t meeting, bool waits) {
  llvm::IRBuilder<>& b = step.b;
  const uint64_t place = meeting / machine::kInstructionBytes;
  if (place > kPlaceMask) step.e.Fail("a convergence barrier in code that is as long as this");
  Value* barrier = b.getInt32(static_cast<uint32_t>(place));
  if (waits) {
    Value* number = CallDeviceOperation(b, kJoinOperation, b.getInt32Ty(), {});
    barrier = b.CreateOr(b.CreateShl(number, kPlaceBits), barrier);
  }
  step.state.Write(step.e.Find('B')->use.reg, barrier);
}

void LowerBarrierMove(MachineStepContext& step) {
  machine::Emission& e = step.e;
  const machine::Operand* to = e.Find('d') != nullptr ? e.Find('d') : e.Find('B');
  const machine::Operand* from = e.Find('b') != nullptr ? e.Find('b') : e.Find('s');
  if (to == nullptr || from == nullptr || e.Find('w') != nullptr) {
    e.Fail("what this moves");
    return;
  }
  Value* value = e.Bits(*from);
  step.state.Write(to->use.reg, value);
  if (e.Has("CLEAR")) step.state.Write(from->use.reg, e.Zero());
}

void LowerBarrierMeeting(MachineStepContext& step) {
  Value* number = NumberOf(step.b, step.state.Read(step.e.Find('b')->use.reg));
  CallDeviceOperation(step.b, kMeetOperation, step.b.getVoidTy(), {number});
}

void LowerBarrierBreak(MachineStepContext& step) {
  Value* number = NumberOf(step.b, step.state.Read(step.e.Find('b')->use.reg));
  CallDeviceOperation(step.b, kLeaveOperation, step.b.getVoidTy(), {number});
}

Value* MeetingOffset(llvm::IRBuilder<>& b, Value* barrier) {
  return b.CreateMul(b.CreateAnd(barrier, kPlaceMask), b.getInt32(machine::kInstructionBytes));
}

Value* LowerDiverged(machine::Emission& e, Value* counts) {
  llvm::IRBuilder<>& b = e.b;
  Value* mask = e.Find('s') != nullptr ? e.In(0) : b.getInt32(~0u);
  Value* diverged =
      CallDeviceOperation(b, kDivergedOperation, b.getInt32Ty(), {mask, b.CreateZExt(counts, b.getInt32Ty())});
  return b.CreateIsNotNull(diverged);
}

}  // namespace heddle::tracegen
