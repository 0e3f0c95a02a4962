#include "tools/heddle/table.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace heddle::tools {

std::string WithThousands(uint64_t number) {
  std::string text = std::to_string(number);
  for (int i = static_cast<int>(text.size()) - 3; i > 0; i -= 3) text.insert(i, 1, ',');
  return text;
}

std::string WithUnit(uint64_t bytes) {
  constexpr const char* kUnits[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  if (bytes < 1000) return absl::StrCat(bytes, " B");
  double number = static_cast<double>(bytes);
  int unit = 0;
  for (; number >= 999.95 && unit < 6; ++unit) number /= 1000;
  return absl::StrCat(Decimal(number, number < 10 ? 2 : 1), " ", kUnits[unit]);
}

std::string Decimal(double number, int decimals) { return absl::StrFormat("%.*f", decimals, number); }

std::string Table::Text(int indent) const {
  std::vector<size_t> width;
  for (size_t c = 0; c < columns_.size(); ++c) {
    width.push_back(columns_[c].title.size());
    for (const auto& row : rows_) width[c] = std::max(width[c], row[c].size());
  }
  std::string text;
  const auto add_line = [&](const auto& cell) {
    std::string line(indent, ' ');
    for (size_t c = 0; c < columns_.size(); ++c) {
      const std::string& content = cell(c);
      const std::string padding(width[c] - content.size(), ' ');
      if (c != 0) line += "  ";
      line += columns_[c].align == Align::kLeft ? content + padding : padding + content;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  };
  add_line([&](size_t c) -> const std::string& { return columns_[c].title; });
  std::vector<std::string> rule;
  rule.reserve(width.size());
  for (const size_t w : width) rule.emplace_back(w, '-');
  add_line([&](size_t c) -> const std::string& { return rule[c]; });
  for (const auto& row : rows_) add_line([&](size_t c) -> const std::string& { return row[c]; });
  return text;
}

}  // namespace heddle::tools
