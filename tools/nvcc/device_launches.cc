#include "tools/nvcc/device_launches.h"

#include <algorithm>
#include <cctype>
#include <cstddef>

#include "tools/nvcc/unsupported.h"

namespace heddle::nvcc {
namespace {

bool IsWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool IsSpace(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

// Where the name of the kernel begins that ends before `end`: names with :: and arguments of templates. `end` itself if
// there is none.
size_t StartOfKernel(std::string_view plain, size_t end) {
  size_t at = end;
  while (at > 0 && IsSpace(plain[at - 1])) --at;
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
    while (at > 0 && IsSpace(plain[at - 1])) --at;
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

// On one line.
std::string OnOneLine(std::string_view name) {
  std::string line(name);
  std::replace_if(line.begin(), line.end(), IsSpace, ' ');
  return line;
}

}  // namespace

std::string WriteDeviceLaunches(std::string_view text) {
  if (text.find("<<<") == std::string_view::npos) return std::string(text);
  const std::string plain = WithoutComments(text);
  std::string result;
  size_t copied = 0;
  size_t depth = 0;         // of braces
  size_t device_depth = 0;  // that the body of a device function has; 0 = outside
  bool host = false, device = false;
  for (size_t i = 0; i < plain.size(); ++i) {
    if (IsWord(plain[i])) {
      const size_t start = i;
      while (i + 1 < plain.size() && IsWord(plain[i + 1])) ++i;
      const std::string_view word = std::string_view(plain).substr(start, i + 1 - start);
      if (word == "__host__") host = true;
      if (word == "__global__" || word == "__device__") device = true;
    } else if (plain[i] == '{') {
      ++depth;
      if (device && !host && device_depth == 0) device_depth = depth;
      device = host = false;
    } else if (plain[i] == '}') {
      if (depth == device_depth) device_depth = 0;
      if (depth > 0) --depth;
    } else if (plain[i] == ';') {
      device = host = false;
    } else if (device_depth != 0 && plain.compare(i, 3, "<<<") == 0) {
      const size_t start = StartOfKernel(plain, i);
      const size_t end = EndOfShape(plain, i + 3);
      if (start == i || start < copied || end == std::string::npos) continue;
      const std::string name = OnOneLine(text.substr(start, i - start));
      result.append(text.substr(copied, start - copied));
      result += "HeddleChild<decltype(&" + name + "), &" + name + ">({";
      result.append(text.substr(i + 3, end - 3 - (i + 3)));
      result += "})";
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
