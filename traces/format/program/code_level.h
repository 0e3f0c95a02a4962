// What the instructions of a program are: PTX of our own compilation, PTX as somebody handed it over, machine code;
// and whether they are the program's at all, or stand for those of a closed library.
#ifndef HEDDLE_TRACES_FORMAT_PROGRAM_CODE_LEVEL_H_
#define HEDDLE_TRACES_FORMAT_PROGRAM_CODE_LEVEL_H_

#include <cstdint>
#include <string>

#include "proto/trace.pb.h"

namespace heddle::trace {

// In words: "PTX 9.0 by NVVM 13.0 for sm_80", or as much of it as the program tells; "stand-in for cublasSgemm" for
// code of the recording's own in place of a closed library's. Empty for other PTX that the recording's own compiler
// made, which the header of the trace describes.
std::string CodeInWords(const v1::KernelProgram& program);

// The least minor version that a file with such a program says it is of.
uint32_t MinorVersionOf(const v1::KernelProgram& program);

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_PROGRAM_CODE_LEVEL_H_
