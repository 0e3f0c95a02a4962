#include "tools/console/table.h"

#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "traces/base/printable.h"

namespace heddle::tools {

std::string WithUnit(uint64_t bytes) {
  constexpr const char* kUnits[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  if (bytes < 1000) return absl::StrCat(bytes, " B");
  double number = static_cast<double>(bytes);
  int unit = 0;
  for (; number >= 999.95 && unit < 6; ++unit) number /= 1000;
  return absl::StrCat(Decimal(number, number < 10 ? 2 : 1), " ", kUnits[unit]);
}

std::string Decimal(double number, int decimals) { return absl::StrFormat("%.*f", decimals, number); }

void Table::AddRow(std::vector<std::string> cells) {
  constexpr size_t kMost = 200;
  for (std::string& cell : cells) {
    if (cell.size() > kMost || !IsPrintable(cell)) cell = CutText(Printable(cell), kMost);
  }
  rows_.push_back(std::move(cells));
}

std::vector<size_t> Table::Widths() const {
  std::vector<size_t> width;
  for (size_t c = 0; c < columns_.size(); ++c) {
    width.push_back(columns_[c].title.size());
    for (const auto& row : rows_) width[c] = std::max(width[c], row[c].size());
  }
  return width;
}

std::string Table::Text(int indent) const {
  std::vector<size_t> all(columns_.size());
  std::iota(all.begin(), all.end(), size_t{0});
  return Text(indent, all, Widths());
}

std::string Table::TextWithin(size_t width) const {
  const std::vector<size_t> widths = Widths();
  std::string text;
  for (size_t next = 1; next < columns_.size();) {
    std::vector<size_t> shown = {0};
    size_t used = widths[0];
    do {
      used += 2 + widths[next];
      shown.push_back(next++);
    } while (next < columns_.size() && used + 2 + widths[next] <= width);
    absl::StrAppend(&text, text.empty() ? "" : "\n", Text(0, shown, widths));
  }
  return text;
}

std::string Table::Markdown() const {
  std::string text;
  const auto add_line = [&](const auto& cell) {
    for (size_t c = 0; c < columns_.size(); ++c) {
      absl::StrAppend(&text, c == 0 ? "| " : " | ",
                      absl::StrReplaceAll(cell(c), {{"|", "\\|"}, {"`", "'"}, {"<", "&lt;"}, {"*", "\\*"}}));
    }
    text += " |\n";
  };
  add_line([&](size_t c) { return columns_[c].title; });
  for (const Column& column : columns_) text += column.align == Align::kLeft ? "|---" : "|--:";
  text += "|\n";
  for (const auto& row : rows_) add_line([&](size_t c) { return row[c]; });
  return text;
}

std::string Table::Text(int indent, const std::vector<size_t>& shown, const std::vector<size_t>& width) const {
  std::string text;
  const auto add_line = [&](const auto& cell) {
    std::string line(indent, ' ');
    for (const size_t c : shown) {
      const std::string& content = cell(c);
      const std::string padding(width[c] - content.size(), ' ');
      if (c != shown.front()) line += "  ";
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
