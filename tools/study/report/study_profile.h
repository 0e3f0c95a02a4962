// The instructions of a kernel that cost most, under all of its runs.
#ifndef HEDDLE_TOOLS_STUDY_REPORT_STUDY_PROFILE_H_
#define HEDDLE_TOOLS_STUDY_REPORT_STUDY_PROFILE_H_

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/study/report/study.h"

namespace heddle::tools {

// The classes that add up to all port cycles, in the order of the page: issued, structural, data_memory,
// data_arithmetic, control, fetch, policy, barrier, exit, empty.
std::vector<uint64_t> StallList(const result::v1::StallCycles& stalls);

// Lines of source files, each file read once.
class SourceLines {
 public:
  // A file is looked for by its last name in the folders, in their order.
  explicit SourceLines(std::vector<std::string> folders) : folders_(std::move(folders)) {}
  // The line (from 1) without blanks around it; empty if it is not known.
  std::string Line(const std::string& file, uint32_t line);

 private:
  const std::vector<std::string> folders_;
  std::map<std::string, std::vector<std::string>> files_;
};

class HotInstructions {
 public:
  // Of all cells of a kernel. The cost of an instruction is its share of a run's port cycles; the `most` with the
  // largest cost under any run are kept, in the order of the program.
  HotInstructions(const std::vector<const Study::Cell*>& cells, size_t most);

  bool empty() const { return hot_.empty(); }
  // [pc, text, file, line, source line] by instruction.
  nlohmann::ordered_json Describe(SourceLines& sources) const;
  // What a cell counted at these instructions, one list per counter, and port cycles elsewhere; null without a profile.
  nlohmann::ordered_json Profile(const Study::Cell& cell) const;

 private:
  std::vector<result::v1::InstructionCounters> hot_;  // any one of each, for its place and text
};

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_STUDY_REPORT_STUDY_PROFILE_H_
