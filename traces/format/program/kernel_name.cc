#include "traces/format/program/kernel_name.h"

#include <algorithm>
#include <string_view>

#include "absl/strings/ascii.h"
#include "traces/base/printable.h"

namespace heddle::trace {
namespace {

constexpr size_t kMost = 80;  // characters

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
  std::string brief = WithoutParameters(name);
  if (brief.ends_with('>')) brief = WithoutReturnType(brief);
  if (brief.size() > kMost) brief = WithBriefArguments(brief);
  const size_t arguments = brief.find('<');
  if (brief.size() > kMost && arguments != std::string::npos) {
    constexpr std::string_view kRest = "...>";
    brief.resize(std::max(kMost - kRest.size(), arguments + 1));
    brief += kRest;
  }
  // Whatever is still longer has hardly been made by a compiler.
  constexpr size_t kMostOfOddNames = 2 * kMost;
  return CutText(brief, kMostOfOddNames);
}

std::string BriefKernelName(const std::string& name) { return name.size() <= kMost ? name : ShortKernelName(name); }

}  // namespace heddle::trace
