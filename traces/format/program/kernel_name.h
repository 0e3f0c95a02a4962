// Names of kernels as people read them. Instances of library templates have names of hundreds of characters.
#ifndef HEDDLE_TRACES_FORMAT_PROGRAM_KERNEL_NAME_H_
#define HEDDLE_TRACES_FORMAT_PROGRAM_KERNEL_NAME_H_

#include <string>

namespace heddle::trace {

// A kernel's demangled name without its parameter list and return type: "void bfs_level<int>(int*, int)" ->
// "bfs_level<int>". Of longer ones than 80 characters, template arguments are told briefly: "sort<policy<...>, ...>".
std::string ShortKernelName(const std::string& name);

// For messages: the name itself up to 80 characters, its short name beyond.
std::string BriefKernelName(const std::string& name);

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_PROGRAM_KERNEL_NAME_H_
