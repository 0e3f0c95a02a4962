#include "tools/nvcc/unsupported.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <iterator>

namespace heddle::nvcc {
namespace {

// Libraries of a toolkit that have neither headers nor code here.
constexpr std::string_view kLibraries[] = {"cublas", "cufft",   "curand", "cusparse", "cusolver", "cudnn",  "nccl",
                                           "nvrtc",  "nvgraph", "nvjpeg", "nvml",     "npp",      "cutlass"};
// Libraries of headers alone, which compile where they are installed.
constexpr std::string_view kHeaderLibraries[] = {"thrust", "cub"};

// The text with blanks in place of comments, and, unless they follow #include, of what strings and characters hold.
std::string WithoutComments(std::string_view text) {
  std::string plain(text);
  const auto blank = [&plain](size_t from, size_t to) {
    for (size_t i = from; i < to && i < plain.size(); ++i) {
      if (plain[i] != '\n') plain[i] = ' ';
    }
  };
  bool directive = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\n') directive = i > 0 && text[i - 1] == '\\' && directive;
    if (c == '#') directive = true;
    if (c == '/' && text.substr(i, 2) == "//") {
      const size_t end = std::min(text.find('\n', i), text.size());
      blank(i, end);
      i = end - 1;
    } else if (c == '/' && text.substr(i, 2) == "/*") {
      const size_t close = text.find("*/", i + 2);
      const size_t end = close == std::string_view::npos ? text.size() : close + 2;
      blank(i, end);
      i = end - 1;
    } else if ((c == '"' || c == '\'') && !directive) {
      if (c == '\'' && i > 0 && std::isalnum(static_cast<unsigned char>(text[i - 1])) != 0) continue;  // 1'000
      size_t end = i + 1;
      while (end < text.size() && text[end] != c && text[end] != '\n') end += text[end] == '\\' ? 2 : 1;
      blank(i + 1, end);
      i = end;
    }
  }
  return plain;
}

bool IsWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::string Place(const std::string& path, size_t line) { return path + ":" + std::to_string(line) + ": "; }

// Of '#include <thrust/sort.h>', if that header is not found: why. Empty if the line includes none of the libraries.
std::string MissingLibrary(std::string_view line, const FindHeader& find) {
  const auto skip = [&line] {
    while (!line.empty() && (line.front() == ' ' || line.front() == '\t')) line.remove_prefix(1);
  };
  const auto take = [&line](std::string_view word) {
    if (!line.starts_with(word)) return false;
    line.remove_prefix(word.size());
    return true;
  };
  skip();
  if (!take("#")) return {};
  skip();
  if (!take("include")) return {};
  skip();
  const bool own = line.starts_with("\"");  // may be a file of the program, unless it is in a library's folder
  if (!take("<") && !take("\"")) return {};
  const auto is_of = [line, own](std::string_view library) {
    if (!line.starts_with(library) || line.size() == library.size()) return false;
    const char next = line[library.size()];
    return next == '/' || (!own && std::islower(static_cast<unsigned char>(next)) == 0);
  };
  const std::string_view* found = std::find_if(std::begin(kLibraries), std::end(kLibraries), is_of);
  const std::string_view library = line.starts_with("cuda/")       ? "libcu++"  // <cuda/barrier>, <cuda/std/atomic>
                                   : found != std::end(kLibraries) ? *found
                                                                   : std::string_view();
  if (!library.empty()) {
    return "the library " + std::string(library) +
           " is not supported: heddle-nvcc has the CUDA runtime and driver API, and no libraries on top";
  }
  for (const std::string_view library : kHeaderLibraries) {
    if (!is_of(library) || find(std::string(line.substr(0, line.find_first_of(">\""))))) continue;
    return "the library " + std::string(library) +
           " is not installed: its own headers are compiled as they are (Debian: lib" + std::string(library) +
           "-dev); give their folder with -I if it is not /usr/include";
  }
  return {};
}

}  // namespace

std::vector<std::string> DescribeUnsupported(const std::string& path, std::string_view text, const FindHeader& find) {
  const std::string plain = WithoutComments(text);
  std::vector<std::string> found;
  size_t line = 1;
  size_t line_start = 0;
  size_t depth = 0;              // of braces
  size_t device_depth = 0;       // that the body of a device function has; 0 = outside
  bool host_function = false;    // the same for __host__
  bool device_function = false;  // __global__ or __device__ has been read, and no body or end of a declaration since
  for (size_t i = 0; i <= plain.size(); ++i) {
    if (i == plain.size() || plain[i] == '\n') {
      const std::string why = MissingLibrary(std::string_view(plain).substr(line_start, i - line_start), find);
      if (!why.empty()) found.push_back(Place(path, line) + why);
      ++line;
      line_start = i + 1;
      continue;
    }
    const std::string_view rest = std::string_view(plain).substr(i);
    if (IsWord(plain[i])) {
      size_t end = 1;
      while (end < rest.size() && IsWord(rest[end])) ++end;
      const std::string_view word = rest.substr(0, end);
      if (device_depth == 0 && (word == "__global__" || word == "__device__")) device_function = true;
      if (device_depth == 0 && word == "__host__") host_function = true;
      i += end - 1;
    } else if (plain[i] == '{') {
      ++depth;
      if (device_function && !host_function && device_depth == 0) device_depth = depth;
      device_function = host_function = false;
    } else if (plain[i] == '}') {
      if (depth == device_depth) device_depth = 0;
      if (depth > 0) --depth;
    } else if (plain[i] == ';') {
      device_function = host_function = false;
    } else if (device_depth != 0 && rest.starts_with("<<<")) {
      found.push_back(Place(path, line) +
                      "device code launches a kernel (dynamic parallelism), which is not supported: launch it from the "
                      "host");
      i += 2;
    }
  }
  return found;
}

}  // namespace heddle::nvcc
