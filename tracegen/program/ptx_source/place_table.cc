#include "tracegen/program/ptx_source/place_table.h"

#include <algorithm>

#include "absl/strings/str_split.h"

namespace heddle::tracegen {

uint32_t PlaceTable::FileIndex(const std::string& path) {
  const std::vector<std::string> parts = absl::StrSplit(path, absl::ByAnyChar("/\\"));
  const std::string& base = parts.back();
  const auto found = std::find(source_files.begin(), source_files.end(), base);
  if (found == source_files.end()) source_files.push_back(base);
  return static_cast<uint32_t>(std::find(source_files.begin(), source_files.end(), base) - source_files.begin()) + 1;
}

uint32_t PlaceTable::Add(uint32_t line, const ptx::Location* loc) {
  SourceLine place;
  if (loc != nullptr && loc->source_line != 0) {
    for (const ptx::SourceFile& file : module_.files) {
      if (file.index == loc->file) place = {FileIndex(file.name), loc->source_line};
    }
  }
  // In a text without .loc: of the text itself.
  if (loc == nullptr) place = {FileIndex(name_), line};
  lines.push_back(place);
  return static_cast<uint32_t>(lines.size());
}

}  // namespace heddle::tracegen
