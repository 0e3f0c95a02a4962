// Which files a CUDA source consists of.
#ifndef HEDDLE_TOOLS_NVCC_INCLUDED_FILES_H_
#define HEDDLE_TOOLS_NVCC_INCLUDED_FILES_H_

#include <string>
#include <string_view>
#include <vector>

#include "tools/nvcc/unsupported.h"

namespace heddle::nvcc {

// The names in a rule of make, "target: FILE FILE \", with its blanks, dollars and line ends written as make wants
// them.
std::vector<std::string> NamesOfRule(std::string_view rule);

// What became of an include of `header`, given all files that were read and all names that were not found.
Inclusion FindInclusion(const std::vector<std::string>& files, const std::string& header);

// Those of `files` that belong to the program: neither the compiler's nor the system's, nor in one of the folders
// `foreign`, of which empty ones are none.
std::vector<std::string> FilesOfProgram(const std::vector<std::string>& files, const std::vector<std::string>& foreign);

}  // namespace heddle::nvcc

#endif  // HEDDLE_TOOLS_NVCC_INCLUDED_FILES_H_
