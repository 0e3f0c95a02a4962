// Which parts of the OpenCL device headers a source can do without.
#ifndef HEDDLE_TRACEGEN_FRONTEND_OPENCL_PARTS_H_
#define HEDDLE_TRACEGEN_FRONTEND_OPENCL_PARTS_H_

#include <string>
#include <string_view>
#include <vector>

namespace heddle::tracegen {

// Options of clang (-D...) that leave out of heddle_opencl.h what `text` cannot use: its many overloaded functions take
// most of the time of a compilation. `text` is everything that the compiler may see: sources, headers, options. With a
// file included that is not in it, nothing is left out.
std::vector<std::string> UnusedOpenClParts(std::string_view text);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_FRONTEND_OPENCL_PARTS_H_
