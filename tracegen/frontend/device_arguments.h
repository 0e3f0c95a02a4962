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

// Further arguments that keep what the sides of a branch do in these sides, where LLVM would run both and select. The
// selections that remain are for LowerSelections.
std::vector<std::string> KeepBranchesArguments();
// What the trace's optimisation says of code that was made so: a word behind "-O2".
inline constexpr char kKeepBranches[] = "keep-branches";

// The project's own device headers in `folder` (FindDeviceHeaders): where they are, and that they come first.
std::vector<std::string> DeviceHeaderArguments(Language language, const std::string& folder);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_FRONTEND_DEVICE_ARGUMENTS_H_
