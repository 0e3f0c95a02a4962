// One machine instruction as an instruction of the static program.
#ifndef HEDDLE_TRACEGEN_PROGRAM_MACHINE_SOURCE_STATIC_INSTRUCTION_H_
#define HEDDLE_TRACEGEN_PROGRAM_MACHINE_SOURCE_STATIC_INSTRUCTION_H_

#include <cstdint>
#include <string>

#include "tracegen/machine/flow/program.h"
#include "tracegen/program/flow.h"
#include "tracegen/program/linked_flow.h"

namespace heddle::tracegen {

// A name for a register, as the parts that count registers read names: "%r4", "%p0", "%ru6".
std::string FlowName(const machine::Register& reg);

// What the name stands for in the trace.
MachineRegister ArchitectureRegister(const machine::Register& reg);

// `id`: its number in the module, from 1.
FlowInstruction StaticMachineInstruction(const machine::ProgramFunction& function,
                                         const machine::ProgramInstruction& instruction, uint32_t id);

// What stands in an empty block that decides on a guard.
FlowInstruction StaticJoin(uint32_t id);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_PROGRAM_MACHINE_SOURCE_STATIC_INSTRUCTION_H_
