// The options of nvrtcCompileProgram, as clang takes them.
#ifndef HEDDLE_TRACEGEN_FRONTEND_RUNTIME_COMPILATION_OPTIONS_H_
#define HEDDLE_TRACEGEN_FRONTEND_RUNTIME_COMPILATION_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace heddle::tracegen {

// What the options of one compilation ask for.
struct RuntimeCompilationOptions {
  std::vector<std::string> arguments;  // of clang: -I, -D, -U, -include, warnings, how numbers are computed
  std::string standard = "c++17";
  std::string target = "sm_70";
  bool makes_image = false;  // -arch=sm_NN; with compute_NN there is PTX alone
  std::string optimization = "-O2";
  uint32_t max_registers = 0;
  bool relocatable = false;
  bool default_device = false;         // functions without an execution space are also the device's
  bool source_folder_included = true;  // the folder of the program's name is looked into by #include "..."
};

// Reads the options of the documentation of NVRTC 12 and 13: NAME=VALUE, "NAME VALUE" in one text or in two, long and
// short names. Folders are relative to `working_directory` (empty: as they are). What is taken and has no effect is
// told in a line of `log`, unless it has none on the code anyway. Errors: InvalidArgument, with the option's name, for
// what is unknown, has no value, or asks for what cannot be made.
absl::StatusOr<RuntimeCompilationOptions> ReadRuntimeCompilationOptions(const std::vector<std::string>& options,
                                                                        const std::string& working_directory,
                                                                        std::string* log);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_FRONTEND_RUNTIME_COMPILATION_OPTIONS_H_
