// Instructions that do more than compute: memory, and threads that meet.
#ifndef HEDDLE_TRACEGEN_PROGRAM_MACHINE_SOURCE_MACHINE_STEP_H_
#define HEDDLE_TRACEGEN_PROGRAM_MACHINE_SOURCE_MACHINE_STEP_H_

#include <cstdint>

#include "llvm/IR/IRBuilder.h"
#include "proto/trace.pb.h"
#include "tracegen/machine/flow/program.h"
#include "tracegen/machine/meaning/emission.h"
#include "tracegen/program/machine_source/machine_state.h"

namespace heddle::tracegen {

// One instruction that is lowered. Emission::failure says what of it is not known.
struct MachineStepContext {
  machine::Emission& e;
  const machine::ProgramInstruction& instruction;
  MachineState& state;
  llvm::IRBuilder<>& b;
};

// `access` receives the IR instruction that makes the access which the static program has, if there is one.
void LowerMachineAccess(MachineStepContext& step, llvm::Instruction** access);
void LowerMachineAtomic(MachineStepContext& step, llvm::Instruction** access);
// Of an instruction with a MatrixOperationOf.
void LowerMachineMatrix(MachineStepContext& step, llvm::Instruction** access);
// From here on it is what hands over the numbers that the thread records. Of an IsMachineCopy.
void LowerMachineCopy(MachineStepContext& step, llvm::Instruction** access);
// Of an IsMachineTransaction.
void LowerMachineTransaction(MachineStepContext& step, llvm::Instruction** access);
void LowerMachineMeeting(MachineStepContext& step, llvm::Instruction** access);
// Whether a move also says, by a predicate, whether all threads that are together hold the same.
bool AsksWhatOthersHold(const machine::Instruction& instruction);

// Convergence barriers. Registers hold where their threads meet, and which one it is, if threads wait at them.
// Of a BSSY, whose threads meet at that offset in the section of code.
void LowerBarrierSet(MachineStepContext& step, uint64_t meeting, bool waits);
void LowerBarrierMove(MachineStepContext& step);
// Of a BSYNC or a BREAK, in code whose threads wait.
void LowerBarrierMeeting(MachineStepContext& step);
void LowerBarrierBreak(MachineStepContext& step);
// The offset in a register that LowerBarrierSet has written.
llvm::Value* MeetingOffset(llvm::IRBuilder<>& b, llvm::Value* barrier);
// Of a BRA.DIV or BRA.CONV: an i1, whether threads that it names are not together with those that `counts` holds for.
llvm::Value* LowerDiverged(machine::Emission& e, llvm::Value* counts);

// The pointer that an access to memory uses, in the address space of the instruction.
llvm::Value* MachinePointer(MachineStepContext& step);
// The same of one address, in the address space of `space`.
llvm::Value* MachinePointer(MachineStepContext& step, const machine::Address& address, trace::v1::MemorySpace space);

// The same as a generic pointer.
llvm::Value* GenericMachinePointer(MachineStepContext& step, const machine::Address& address,
                                   trace::v1::MemorySpace space);

// The register `offset` behind one; a constant one stays.
machine::Register MachineRegisterBehind(const machine::Register& first, uint32_t offset);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_PROGRAM_MACHINE_SOURCE_MACHINE_STEP_H_
