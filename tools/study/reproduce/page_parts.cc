#include "tools/study/reproduce/page_parts.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
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

std::string Ours(const claims::v1::Claim& claim, const MeasuredTerm& term) {
  if (!term.problem.empty()) return "not computed";
  std::string text = ClaimNumber(claim, term.ours.mean());
  const std::string noise = Decimal(term.ours.noise(), static_cast<int>(claim.decimals()));
  const bool shows = noise.find_first_not_of("0.") != std::string::npos;
  return shows ? absl::StrCat(text, " ± ", noise) : text;
}

std::string OursCell(const ClaimResult& result) {
  const claims::v1::Claim& claim = *result.claim;
  if (!result.computed()) return "not computed";
  if (claim.row_size() != 0) {
    std::string text = absl::StrCat("sizes: ", result.agreeing, " of ", result.compared);
    if (claim.kind() != claims::v1::STRUCTURAL && result.compared > 2) {
      absl::StrAppend(&text, "; rank correlation ", Decimal(result.rank_correlation, 2));
    }
    return text;
  }
  std::vector<std::string> terms;
  for (const MeasuredTerm& term : result.terms) {
    terms.push_back(absl::StrCat(term.label, term.label.empty() ? "" : " ", Ours(claim, term)));
  }
  return absl::StrJoin(terms, ", ");
}

std::string Share(const Reproduction::Count& count) { return absl::StrCat(count.agree, " of ", count.of); }

}  // namespace heddle::tools::reproduce
