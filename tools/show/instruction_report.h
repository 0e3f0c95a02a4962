// Which instructions the cycles of a run went into, as text.
#ifndef HEDDLE_TOOLS_SHOW_INSTRUCTION_REPORT_H_
#define HEDDLE_TOOLS_SHOW_INSTRUCTION_REPORT_H_

#include <cstddef>
#include <string>

#include "proto/result.pb.h"

namespace heddle::tools {

// For every kernel of a run with a profile, over all its launches, a table of the `most` instructions that the issue
// ports spent the most cycles on, issuing or losing them. Empty without profiles (--per-instruction).
std::string InstructionReport(const result::v1::Result& result, const std::string& run, size_t most = 12);

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_SHOW_INSTRUCTION_REPORT_H_
