// What a CUDA source uses that heddle-nvcc cannot compile, in words that clang does not have.
#ifndef HEDDLE_TOOLS_NVCC_UNSUPPORTED_H_
#define HEDDLE_TOOLS_NVCC_UNSUPPORTED_H_

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::nvcc {

// What became of an include: it is in a part that the preprocessor leaves out, there is no such header, or there is
// one.
enum class Inclusion { kNone, kMissing, kFound };

// Of a header as it is written, such as "thrust/sort.h".
using FindHeader = std::function<Inclusion(const std::string& header)>;

// One line per construct, such as "a.cu:12: a kernel launches a kernel (dynamic parallelism), ...": includes of
// libraries that are not there, launches within functions that run on the device, parts of CUDA's interfaces that there
// are not. For after a compilation that has failed; comments, strings and character literals do not count. Only the
// text itself is looked at, not what it includes.
std::vector<std::string> DescribeUnsupported(const std::string& path, std::string_view text, const FindHeader& find);

// The line, from 1, on which `text` declares a __constant__ variable of this name; 0 if it does not.
size_t LineOfConstant(std::string_view text, std::string_view name);

}  // namespace heddle::nvcc

#endif  // HEDDLE_TOOLS_NVCC_UNSUPPORTED_H_
