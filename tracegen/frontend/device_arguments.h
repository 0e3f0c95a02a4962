// How clang is asked for device bitcode: one place for recipes, OpenCL programs, NVRTC and, for what it shares with
// them, heddle-nvcc. Standard library only.
#ifndef HEDDLE_TRACEGEN_FRONTEND_DEVICE_ARGUMENTS_H_
#define HEDDLE_TRACEGEN_FRONTEND_DEVICE_ARGUMENTS_H_

#include <string>
#include <vector>

namespace heddle::tracegen {

enum class Language { kCuda, kOpenCl, kBitcode };

// Arguments of clang 19 that turn CUDA or OpenCL source into bitcode for nvptx64 with line tables, whatever else is
// asked for: no vendor's toolkit, PTX 7.0, no vectors that a GPU does not have. Language standard, optimisation,
// includes, defines, warnings and names of files are the caller's.
std::vector<std::string> DeviceArguments(Language language, const std::string& target);

// Further arguments that keep a branch a branch where LLVM would run both sides and select. Machines without
// conditional moves, such as Fung's thesis has them (section 5.3), have these branches. A choice of two values that are
// there anyway (a maximum) stays a selection.
std::vector<std::string> KeepBranchesArguments();

// The project's own device headers in `folder` (FindDeviceHeaders): where they are, and that they come first.
std::vector<std::string> DeviceHeaderArguments(Language language, const std::string& folder);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_FRONTEND_DEVICE_ARGUMENTS_H_
