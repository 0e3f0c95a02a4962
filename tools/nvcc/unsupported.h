// What a CUDA source uses that heddle-nvcc cannot compile, in words that clang does not have.
#ifndef HEDDLE_TOOLS_NVCC_UNSUPPORTED_H_
#define HEDDLE_TOOLS_NVCC_UNSUPPORTED_H_

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::nvcc {

// Whether a header such as "thrust/sort.h" is in one of the folders where the compiler looks.
using FindHeader = std::function<bool(const std::string& header)>;

// One line per construct, such as "a.cu:12: a kernel launches a kernel (dynamic parallelism), ...": includes of
// libraries that are not there, and launches within functions that run on the device. For after a compilation that has
// failed; comments, strings and character literals do not count. Only the text itself is looked at, not what it
// includes.
std::vector<std::string> DescribeUnsupported(const std::string& path, std::string_view text, const FindHeader& find);

}  // namespace heddle::nvcc

#endif  // HEDDLE_TOOLS_NVCC_UNSUPPORTED_H_
