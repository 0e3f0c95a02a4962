// Which uniform registers of machine code can differ between the threads of a launch, and where threads record them.
#ifndef HEDDLE_TRACEGEN_PROGRAM_MACHINE_SOURCE_UNIFORM_VALUES_H_
#define HEDDLE_TRACEGEN_PROGRAM_MACHINE_SOURCE_UNIFORM_VALUES_H_

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "tracegen/program/machine_source/context.h"
#include "tracegen/program/machine_source/machine_layout.h"

namespace heddle::tracegen {

// By place in MachineProgram::instructions.
struct UniformReads {
  // Numbers of the registers that an instruction reads whose values can differ.
  std::map<uint32_t, std::vector<uint32_t>> registers;
  // Instructions that compute under a guard, and are to record such values: those whose guard is false record nothing,
  // so each is a block of its own.
  std::set<uint32_t> alone;
};

// A value that follows from constants and constant banks alone is the same for all threads of a launch, wherever it is
// worked out: nothing is recorded of it. A register whose value depends on the way that a thread took (a loop's
// counter), on the block or on the warp may differ. The rank of a block in its cluster counts as equal: code reads it
// to address the block's own shared memory, which is another one for threads of another block anyway. What registers
// hold behind a call and at the entry of a function that is called counts as different.
//
// Each instruction records what it reads of these registers for the work of threads: this is where a group that does
// not agree needs one issue per value. Instructions of the uniform datapath, which work on such registers alone, record
// nothing; nor do barriers, calls, fences, asynchronous and matrix instructions.
UniformReads FindUniformReads(const MachineContext& in, uint32_t function);

// Gives the steps of a function the uniform registers whose values threads record there, and their instructions in the
// static program the operands for them.
void RecordUniformValues(const MachineContext& in, uint32_t function, const UniformReads& reads, MachineLayout& layout);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_PROGRAM_MACHINE_SOURCE_UNIFORM_VALUES_H_
