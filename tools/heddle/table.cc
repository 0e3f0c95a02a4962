#include "tools/heddle/table.h"

#include <algorithm>
#include <string_view>

#include "absl/strings/ascii.h"
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

namespace {

std::string WithoutParameters(const std::string& name) {
  if (!name.ends_with(')')) return name;
  int depth = 0;
  for (size_t i = name.size(); i-- > 0;) {
    if (name[i] == ')') ++depth;
    if (name[i] == '(' && --depth == 0) return i == 0 ? name : name.substr(0, i);
  }
  return name;
}

// Only names of template instances are demangled with their return type.
std::string WithoutReturnType(const std::string& name) {
  int depth = 0;
  for (size_t i = name.size(); i-- > 0;) {
    if (name[i] == '>' || name[i] == ')') ++depth;
    if (name[i] == '<' || name[i] == '(') --depth;
    if (name[i] == ' ' && depth == 0) return name.substr(i + 1);
  }
  return name;
}

// "a::f<b::c::g<b::d>, h<int>::i>" -> "a::f<g<...>, h<...>::i>".
std::string WithBriefArguments(const std::string& name) {
  std::string shorter;
  int depth = 0;
  for (size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    depth -= c == '>';
    if (c == '>' && depth == 1) shorter += "...";
    if (depth == 1 && name.compare(i, 2, "::") == 0 && absl::ascii_isalnum(shorter.back())) {
      while (absl::ascii_isalnum(shorter.back()) || shorter.back() == '_') shorter.pop_back();
      ++i;
    } else if (depth < 2) {
      shorter += c;
    }
    depth += c == '<';
  }
  return shorter;
}

}  // namespace

std::string ShortKernelName(const std::string& name) {
  constexpr size_t kMost = 80;  // characters; instances of library templates have names of thousands
  std::string brief = WithoutParameters(name);
  if (brief.ends_with('>')) brief = WithoutReturnType(brief);
  if (brief.size() > kMost) brief = WithBriefArguments(brief);
  const size_t arguments = brief.find('<');
  if (brief.size() > kMost && arguments != std::string::npos) {
    constexpr std::string_view kRest = "...>";
    brief.resize(std::max(kMost - kRest.size(), arguments + 1));
    brief += kRest;
  }
  return brief;
}

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
  for (const size_t w : width) rule.emplace_back(w, '-');
  add_line([&](size_t c) -> const std::string& { return rule[c]; });
  for (const auto& row : rows_) add_line([&](size_t c) -> const std::string& { return row[c]; });
  return text;
}

}  // namespace heddle::tools
