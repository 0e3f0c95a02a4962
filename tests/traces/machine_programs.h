// Programs of machine code, for tests of everything that reads traces.
#ifndef HEDDLE_TESTS_TRACES_MACHINE_PROGRAMS_H_
#define HEDDLE_TESTS_TRACES_MACHINE_PROGRAMS_H_

#include <cstdint>

#include "proto/trace.pb.h"
#include "traces/format/program/program.h"

namespace heddle::trace::testing {

// Makes an instruction one of a convergence barrier; its registers stay. `block`: SET: the block where threads meet.
void MakeConvergence(v1::Instruction& instruction, v1::Convergence::Role role, uint32_t barrier = 0,
                     uint32_t block = kNoBlock);

// A kernel as the assembler writes one: a loop from which threads break away, a branch to a call, and a function that
// keeps its caller's barrier in a register. Control bits everywhere, registers of all files.
v1::KernelProgram MachineSample();

// The program as machine code: its registers are the architecture's, every instruction has control bits, and where
// paths meet again some instructions set convergence barriers and wait at them. The result is right, whatever its
// threads do. `guards`: where it can be, threads go past what others run, under a guard, and these break away from a
// barrier.
v1::KernelProgram WithMachineCode(v1::KernelProgram program, bool guards = false);

}  // namespace heddle::trace::testing

#endif  // HEDDLE_TESTS_TRACES_MACHINE_PROGRAMS_H_
