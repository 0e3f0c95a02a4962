#include "tools/show/finding_table.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace heddle::tools {

std::string MoreRows(size_t rows) {
  return rows <= kMostFindings ? "" : absl::StrCat("  and ", rows - kMostFindings, " more, see --json\n");
}

std::string InstructionName(const trace::Program& program, trace::Pc pc) {
  return absl::StrCat(program.instruction(pc).mnemonic(), " at ", uint64_t{pc} * 8);
}

const char* UseOfStored(trace::v1::OpClass op) {
  if (op == trace::v1::OP_STORE) return "overwritten";
  return op == trace::v1::OP_ATOMIC ? "updated" : "loaded";
}

FindingTable::FindingTable(bool per_launch, std::vector<Table::Column> columns, size_t counted)
    : per_launch_(per_launch), columns_(std::move(columns)), counted_(counted) {
  columns_.insert(columns_.begin(), {per_launch ? "launch" : "launches"});
}

void FindingTable::Add(const trace::LaunchView& launch, const std::string& what, uint64_t count,
                       std::vector<std::string> cells) {
  const uint64_t scope = per_launch_ ? launch.launch.id() : launch.program->id();
  const auto [place, is_new] = place_of_.emplace(std::pair(scope, what), rows_.size());
  if (is_new) rows_.push_back({0, 0, std::move(cells)});
  Row& row = rows_[place->second];
  row.number = per_launch_ ? launch.launch.id() : row.number + 1;
  row.count += count;
}

std::string FindingTable::Text(absl::string_view heading) const {
  if (rows_.empty()) return "";
  Table table(columns_);
  for (size_t i = 0; i < std::min(rows_.size(), kMostFindings); ++i) {
    std::vector<std::string> cells = rows_[i].cells;
    cells.insert(cells.begin() + static_cast<std::ptrdiff_t>(counted_), WithThousands(rows_[i].count));
    cells.insert(cells.begin(), absl::StrCat(rows_[i].number));
    table.AddRow(std::move(cells));
  }
  return absl::StrCat("\n", heading, "\n", table.Text(2), MoreRows(rows_.size()));
}

}  // namespace heddle::tools
