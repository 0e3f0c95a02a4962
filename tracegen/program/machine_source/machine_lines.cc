#include "tracegen/program/machine_source/machine_lines.h"

#include <algorithm>

namespace heddle::tracegen {

uint32_t MachineLines::Add(const machine::ProgramInstruction& instruction) {
  SourceLine line;
  if (instruction.source_file != 0) {
    const std::string& path = program_.source_files[instruction.source_file - 1];
    const std::string base = path.substr(path.find_last_of("/\\") + 1);
    auto found = std::find(source_files.begin(), source_files.end(), base);
    if (found == source_files.end()) found = source_files.insert(found, base);
    line = {static_cast<uint32_t>(found - source_files.begin()) + 1, instruction.source_line};
  }
  lines.push_back(line);
  return static_cast<uint32_t>(lines.size());
}

}  // namespace heddle::tracegen
