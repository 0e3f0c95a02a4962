// Symbols of device code that two compilers name differently: static ones, and those in namespaces without a name.
#ifndef HEDDLE_TRACEGEN_RUNTIME_CUDA_SOURCE_NAMES_H_
#define HEDDLE_TRACEGEN_RUNTIME_CUDA_SOURCE_NAMES_H_

#include <string>
#include <string_view>

namespace heddle::cuda {

// What `symbol` is in the source, the same for clang's name of it and nvcc's: demangled, without what nvcc puts around
// names that only their file knows, and with clang's number of the file behind it, where there is one. Any text that is
// no symbol of C++ is itself.
std::string SourceName(std::string_view symbol);

}  // namespace heddle::cuda

#endif  // HEDDLE_TRACEGEN_RUNTIME_CUDA_SOURCE_NAMES_H_
