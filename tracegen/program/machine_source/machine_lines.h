// Numbers of lowered machine instructions, and the lines of the source that they come from.
#ifndef HEDDLE_TRACEGEN_PROGRAM_MACHINE_SOURCE_MACHINE_LINES_H_
#define HEDDLE_TRACEGEN_PROGRAM_MACHINE_SOURCE_MACHINE_LINES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tracegen/machine/flow/program.h"
#include "tracegen/program/static_program.h"

namespace heddle::tracegen {

// Fills CanonicalModule::lines and source_files.
class MachineLines {
 public:
  explicit MachineLines(const machine::MachineProgram& program) : program_(program) {}

  // The next number, from 1.
  uint32_t Add(const machine::ProgramInstruction& instruction);

  std::vector<SourceLine> lines;
  std::vector<std::string> source_files;  // base names

 private:
  const machine::MachineProgram& program_;
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_PROGRAM_MACHINE_SOURCE_MACHINE_LINES_H_
