// Where the instructions of a PTX module are: in its text, or in the source that `.loc` names.
#ifndef HEDDLE_TRACEGEN_PROGRAM_PTX_SOURCE_PLACE_TABLE_H_
#define HEDDLE_TRACEGEN_PROGRAM_PTX_SOURCE_PLACE_TABLE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tracegen/program/static_program.h"
#include "tracegen/ptx/syntax/module.h"

namespace heddle::tracegen {

// What numbers of instructions mean, as CanonicalModule::lines and source_files have it.
class PlaceTable {
 public:
  explicit PlaceTable(const ptx::Module& module) : module_(module) {}
  // Lines of the text are from now on those of the text of this name.
  void BeginText(const std::string& name) { name_ = name; }
  // The next number, for an instruction at `line` of the text and, if `loc` is not null, of its source.
  uint32_t Add(uint32_t line, const ptx::Location* loc);

  std::vector<SourceLine> lines;
  std::vector<std::string> source_files;

 private:
  uint32_t FileIndex(const std::string& path);
  const ptx::Module& module_;
  std::string name_;
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_PROGRAM_PTX_SOURCE_PLACE_TABLE_H_
