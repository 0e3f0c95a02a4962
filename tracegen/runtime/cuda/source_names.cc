#include "tracegen/runtime/cuda/source_names.h"

#include <cxxabi.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>

namespace heddle::cuda {
namespace {

// Takes clang's mark of a file off the end of `symbol`: "__static__0123456789abcdef", "__intern__...". Returns its
// number.
std::string_view TakeFile(std::string_view& symbol) {
  for (const std::string_view mark : {"__static__", "__intern__"}) {
    const size_t at = symbol.rfind(mark);
    if (at == std::string_view::npos || at == 0) continue;
    const std::string_view number = symbol.substr(at + mark.size());
    const bool hexadecimal = !number.empty() && std::all_of(number.begin(), number.end(),
                                                            [](unsigned char c) { return std::isxdigit(c) != 0; });
    if (!hexadecimal) continue;
    symbol = symbol.substr(0, at);
    return number;
  }
  return {};
}

// nvcc puts what is static and in a namespace into one more, "_INTERNAL_0123abcd_4_a_cu_name::".
void DropVendorNamespace(std::string& name) {
  constexpr std::string_view kStart = "_INTERNAL_";
  for (size_t at = 0; (at = name.find(kStart, at)) != std::string::npos;) {
    const size_t end = name.find("::", at);
    const bool whole = at == 0 || (std::isalnum(static_cast<unsigned char>(name[at - 1])) == 0 && name[at - 1] != '_');
    if (end == std::string::npos) return;
    if (whole) {
      name.erase(at, end + 2 - at);
    } else {
      at = end;
    }
  }
}

}  // namespace

std::string SourceName(std::string_view symbol) {
  const std::string_view file = TakeFile(symbol);
  std::string name(symbol);
  if (symbol.starts_with("_Z")) {
    int status = 0;
    char* const demangled = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
    if (demangled != nullptr) name = demangled;
    std::free(demangled);
    DropVendorNamespace(name);
  }
  if (!file.empty()) name.append(" of ").append(file);
  return name;
}

}  // namespace heddle::cuda
