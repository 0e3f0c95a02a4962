// How messages name an instruction.
#ifndef HEDDLE_TRACES_FORMAT_PROGRAM_INSTRUCTION_PLACE_H_
#define HEDDLE_TRACES_FORMAT_PROGRAM_INSTRUCTION_PLACE_H_

#include <string>

#include "proto/trace.pb.h"
#include "traces/format/program/program.h"

namespace heddle::trace {

// "bfs.cu:12 (PC 96)", "line 12 (PC 96)" if the file is not known, or "PC 96" for an instruction without a source line.
std::string InstructionPlace(const v1::FileHeader& header, const Program& program, Pc pc);

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_PROGRAM_INSTRUCTION_PLACE_H_
