#include "tools/study/reproduce/page_parts.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "tools/console/table.h"

namespace heddle::tools::reproduce {
namespace {

// A cell of a table.
std::string Cell(const std::string& text) { return absl::StrReplaceAll(text, {{"|", "\\|"}, {"\n", " "}}); }

}  // namespace

std::string Row(const std::vector<std::string>& cells) {
  std::string row = "|";
  for (const std::string& cell : cells) absl::StrAppend(&row, " ", Cell(cell), " |");
  return row + "\n";
}

std::string ClaimNumber(const claims::v1::Claim& claim, double value) {
  std::string text = Decimal(value, static_cast<int>(claim.decimals()));
  if (text.starts_with('-') && text.find_first_not_of("-0.") == std::string::npos) text = text.substr(1);
  return claim.unit().empty() ? text : absl::StrCat(text, " ", claim.unit());
}

std::string Share(const Reproduction::Count& count) { return absl::StrCat(count.agree, " of ", count.of); }

}  // namespace heddle::tools::reproduce
