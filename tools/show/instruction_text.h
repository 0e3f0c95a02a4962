// Instructions and basic blocks as people read them.
#ifndef HEDDLE_TOOLS_SHOW_INSTRUCTION_TEXT_H_
#define HEDDLE_TOOLS_SHOW_INSTRUCTION_TEXT_H_

#include <string>

#include "proto/trace.pb.h"
#include "traces/format/program/program.h"

namespace heddle::tools {

// "bfs.cu:12"; "-" if the trace does not tell.
std::string SourcePlace(const trace::v1::FileHeader& header, const trace::v1::Instruction& instruction);

// Opcode, then the registers: "ld.global.u32  %5 <- %3". Registers are numbers, as the trace has them; in machine code
// they have the architecture's names, "LDG.E R4 <- R2 R3". An instruction with a guard has an @ in front.
std::string InstructionText(const trace::Program& program, trace::Pc pc);

// Its control bits, as trace::ControlText has them; "-" if the trace does not tell.
std::string ControlBitsText(const trace::v1::Instruction& instruction);

// How a basic block ends, with block numbers: "branches to 3, or to 5 if taken; threads meet again at 7; loop depth 1".
std::string BlockEndText(const trace::Program& program, uint32_t block);

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_SHOW_INSTRUCTION_TEXT_H_
