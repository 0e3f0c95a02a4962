// Which kernels a module has.
#ifndef HEDDLE_TRACEGEN_PROGRAM_KERNEL_LIST_H_
#define HEDDLE_TRACEGEN_PROGRAM_KERNEL_LIST_H_

#include <string>
#include <vector>

namespace heddle::tracegen {

struct CanonicalModule;

// A function's name as written in the source, without namespace, template arguments and parameters.
std::string BaseName(const std::string& mangled);

// Names of the kernels in the module, as a recipe writes them (demangled base name) and mangled.
struct KernelName {
  std::string name;
  std::string mangled;
};
std::vector<KernelName> ListKernels(const CanonicalModule& module);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_PROGRAM_KERNEL_LIST_H_
