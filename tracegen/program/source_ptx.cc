#include <string>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "tracegen/program/static_program.h"

namespace heddle::tracegen {

std::string SourcePtx(const CanonicalModule& module) {
  if (module.flows != nullptr) return module.ptx;  // it is one
  std::string out;
  uint32_t id = 0;
  bool files_told = false;
  for (const absl::string_view line : absl::StrSplit(module.ptx, '\n')) {
    absl::string_view stripped = absl::StripAsciiWhitespace(line);
    if (absl::StartsWith(stripped, ".file")) continue;
    if (absl::StartsWith(stripped, ".section")) break;  // debugging data of our numbers
    if (absl::ConsumePrefix(&stripped, ".loc\t") || absl::ConsumePrefix(&stripped, ".loc ")) {
      const std::vector<absl::string_view> words = absl::StrSplit(stripped, absl::ByAnyChar(" \t"), absl::SkipEmpty());
      if (words.size() < 2 || !absl::SimpleAtoi(words[1], &id) || id > module.lines.size()) id = 0;
      // Line 0: not known.
      const SourceLine place = id == 0 ? SourceLine{} : module.lines[id - 1];
      absl::StrAppend(&out, "\t.loc ", std::max(1u, place.file), " ", place.line, " 0\n");
      continue;
    }
    if (!files_told && absl::StartsWith(stripped, ".address_size")) {
      absl::StrAppend(&out, std::string(line), "\n");
      for (size_t i = 0; i < module.source_files.size(); ++i) {
        absl::StrAppend(&out, ".file ", i + 1, " \"", module.source_files[i], "\"\n");
      }
      if (module.source_files.empty()) absl::StrAppend(&out, ".file 1 \"kernel\"\n");
      files_told = true;
      continue;
    }
    const bool ours = module.made_volatile.count(id) > 0 && absl::StrContains(line, ".volatile");
    absl::StrAppend(&out, ours ? absl::StrReplaceAll(line, {{".volatile", ""}}) : std::string(line), "\n");
  }
  return out;
}

}  // namespace heddle::tracegen
