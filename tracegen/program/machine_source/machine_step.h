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
