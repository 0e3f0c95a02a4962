// Copies from global to shared memory of machine code, and what waits for them.
//
// LDGSTS copies 4, 8 or 16 bytes. With ZFILL the lowest bits of its source's address, which is else a multiple of that,
// say how many of these bytes are not read; zeros take their place. Where its predicate does not hold nothing is read.
// LDGDEPBAR closes a group of copies. It raises a barrier of the control bits, and DEPBAR waits until no more than a
// number of groups are under way.
#include "llvm/IR/Constants.h"
#include "tracegen/program/machine_source/collective_text.h"
#include "tracegen/program/machine_source/machine_step.h"
#include "tracegen/program/operand_marker.h"
#include "tracegen/program/ptx_source/device_operation.h"

namespace heddle::tracegen {
namespace {

namespace v1 = ::heddle::trace::v1;
using llvm::Value;

void Copy(MachineStepContext& step, llvm::Instruction** access) {
  llvm::IRBuilder<>& b = step.b;
  const machine::Instruction& at = step.e.at;
  const CopyAddresses addresses = AddressesOf(at);
  if (addresses.from == nullptr) {
    step.e.Fail("a copy without a source");
    return;
  }
  Value* to = GenericMachinePointer(step, *addresses.to, v1::SPACE_SHARED);
  Value* from = GenericMachinePointer(step, *addresses.from, v1::SPACE_GLOBAL);
  Value* bytes = b.getInt32(CopyBytes(at));
  Value* read = bytes;
  if (at.Has("ZFILL")) {
    Value* number = b.CreatePtrToInt(from, b.getInt64Ty());
    Value* left_out = b.CreateAnd(number, uint64_t{CopyBytes(at)} - 1);
    from = b.CreateIntToPtr(b.CreateSub(number, left_out), b.getPtrTy());
    read = b.CreateSub(bytes, b.CreateTrunc(left_out, b.getInt32Ty()));
  }
  read = b.CreateSelect(step.e.InPredicate(0, true), read, b.getInt32(0));
  llvm::SmallVector<Value*, 3> recorded = {from, to};
  if (ReadsSomeBytes(at)) {
    // Where nothing is read, the source is no address.
    recorded[0] = b.CreateSelect(b.CreateIsNull(read), llvm::Constant::getNullValue(from->getType()), from);
    if (!ReadsNothing(at)) recorded.push_back(read);
  }
  *access = MarkOperands(b, recorded);
  CallDeviceOperation(b, kCopyOperation, b.getVoidTy(), {to, from, bytes, read});
}

}  // namespace

void LowerMachineCopy(MachineStepContext& step, llvm::Instruction** access) {
  const std::string_view opcode = step.e.at.opcode();
  if (opcode == "LDGSTS") {
    Copy(step, access);
  } else if (opcode == "LDGDEPBAR") {
    CallDeviceOperation(step.b, kCommitOperation, step.b.getVoidTy(), {});
  } else if (step.instruction.op == v1::OP_ASYNC) {
    CallDeviceOperation(step.b, kWaitGroupOperation, step.b.getVoidTy(), {step.b.getInt32(PendingGroups(step.e.at))});
  }
}

}  // namespace heddle::tracegen
