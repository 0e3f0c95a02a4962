#include "tools/nvcc/device_launches.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "tools/nvcc/source_text.h"

namespace heddle::nvcc {
namespace {

// Where the name of the kernel begins that ends before `end`: names with :: and arguments of templates. `end` itself if
// there is none.
size_t StartOfKernel(std::string_view plain, size_t end) {
  size_t at = SkipSpaceBack(plain, end);
  if (at > 0 && plain[at - 1] == '>') {
    int depth = 0, parentheses = 0;  // in which > is a comparison
    while (at > 0) {
      --at;
      if (plain[at] == ')') ++parentheses;
      if (plain[at] == '(' && --parentheses < 0) return end;
      if (parentheses == 0 && plain[at] == '>') ++depth;
      if (parentheses == 0 && plain[at] == '<' && --depth == 0) break;
      if (plain[at] == ';' || plain[at] == '{' || plain[at] == '}') return end;
    }
    at = SkipSpaceBack(plain, at);
  }
  const size_t last = at;
  while (at > 0 && (IsWord(plain[at - 1]) || plain[at - 1] == ':')) --at;
  return at == last ? end : at;
}

// Behind the >>> that ends the shape which begins at `from`; npos if there is none.
size_t EndOfShape(std::string_view plain, size_t from) {
  int depth = 0;
  for (size_t i = from; i < plain.size() && plain[i] != ';'; ++i) {
    const char c = plain[i];
    if (c == '(' || c == '{' || c == '[') ++depth;
    if (c == ')' || c == '}' || c == ']') --depth;
    if (depth == 0 && plain.substr(i, 3) == ">>>") return i + 3;
  }
  return std::string_view::npos;
}

// What lies between the parenthesis at `at`, but for blanks, and the one that closes it; nothing if there is none, or
// if it may not be said a second time as an operand that is not evaluated.
std::optional<std::string_view> Arguments(std::string_view plain, size_t at) {
  at = SkipSpace(plain, at);
  if (at == plain.size() || plain[at] != '(') return std::nullopt;
  int depth = 0;
  for (size_t i = at; i < plain.size(); ++i) {
    if (plain[i] == '(') ++depth;
    if (plain[i] == ')' && --depth == 0) return plain.substr(at + 1, i - at - 1);
    // A list of values, a directive, a lambda.
    if (plain[i] == '{' || plain[i] == '#' || plain[i] == ';') return std::nullopt;
  }
  return std::nullopt;
}

// Where in the braces of a text one is.
struct Nesting {
  size_t depth = 0;
  size_t device_depth = 0;            // that the body of a device function has; 0 = outside
  bool host = false, device = false;  // what has been read of a declaration
};

// Behind a directive, whose last line has no backslash.
size_t EndOfDirective(std::string_view plain, size_t at) {
  size_t end = plain.find('\n', at);
  while (end != std::string_view::npos && end > at && plain[end - 1] == '\\') end = plain.find('\n', end + 1);
  return std::min(end, plain.size());
}

// On one line.
std::string OnOneLine(std::string_view name) {
  std::string line(name);
  std::replace_if(line.begin(), line.end(), IsSpace, ' ');
  return line;
}

}  // namespace

std::string WriteDeviceLaunches(std::string_view text, bool by_arguments) {
  if (text.find("<<<") == std::string_view::npos) return std::string(text);
  const std::string plain = WithoutComments(text);
  std::string result;
  size_t copied = 0;
  Nesting at;
  std::vector<Nesting> conditions;  // at each #if that is open: all its branches begin there
  for (size_t i = 0; i < plain.size(); ++i) {
    if (plain[i] == '#') {
      // Macros name __device__ without beginning a function.
      const size_t name = std::min(plain.find_first_not_of(" \t", i + 1), plain.size());
      const std::string_view directive = std::string_view(plain).substr(name);
      if (directive.starts_with("if")) {
        conditions.push_back(at);
      } else if (directive.starts_with("el") && !conditions.empty()) {
        at = conditions.back();
      } else if (directive.starts_with("endif") && !conditions.empty()) {
        conditions.pop_back();
      }
      i = EndOfDirective(plain, i);
    } else if (IsWord(plain[i])) {
      const size_t start = i;
      while (i + 1 < plain.size() && IsWord(plain[i + 1])) ++i;
      const std::string_view word = std::string_view(plain).substr(start, i + 1 - start);
      if (word == "__host__") at.host = true;
      if (word == "__global__" || word == "__device__") at.device = true;
    } else if (plain[i] == '{') {
      ++at.depth;
      if (at.device && !at.host && at.device_depth == 0) at.device_depth = at.depth;
      at.device = at.host = false;
    } else if (plain[i] == '}') {
      if (at.depth == at.device_depth) at.device_depth = 0;
      if (at.depth > 0) --at.depth;
    } else if (plain[i] == ';') {
      at.device = at.host = false;
    } else if (at.device_depth != 0 && plain.compare(i, 3, "<<<") == 0) {
      const size_t start = StartOfKernel(plain, i);
      const size_t end = EndOfShape(plain, i + 3);
      if (start == i || start < copied || end == std::string::npos) continue;
      const std::string name = OnOneLine(text.substr(start, i - start));
      result.append(text.substr(copied, start - copied));
      const std::optional<std::string_view> arguments = by_arguments ? Arguments(plain, end) : std::nullopt;
      if (arguments) {
        // clang only looks among overloaded kernels where no function is around: in a class.
        result.append("({ using HeddleArguments = decltype(HeddleTypesOf(").append(OnOneLine(*arguments));
        result.append(")); struct HeddleHere { using Kernel = HeddleKernel<HeddleKernels<HeddleArguments>::Find(&");
        result.append(name).append(", HeddleRank<2>())>; }; HeddleChild<typename HeddleHere::Kernel>({");
      } else {
        result.append("HeddleChild<decltype(&").append(name).append("), &").append(name).append(">({");
      }
      result.append(text.substr(i + 3, end - 3 - (i + 3)));
      result.append(arguments ? "}); })" : "})");
      // Lines within the name.
      result.append(static_cast<size_t>(std::count(text.begin() + static_cast<ptrdiff_t>(start),
                                                   text.begin() + static_cast<ptrdiff_t>(i), '\n')),
                    '\n');
      copied = end;
      i = end - 1;
    }
  }
  result.append(text.substr(copied));
  return result;
}

}  // namespace heddle::nvcc
