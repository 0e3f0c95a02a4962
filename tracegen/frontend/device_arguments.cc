#include "tracegen/frontend/device_arguments.h"

namespace heddle::tracegen {
namespace {

// An access through a pointer that the compiler knows to be null stays in the program, and fails as any other access to
// where nothing lies.
constexpr char kKeepNullAccesses[] = "-fno-delete-null-pointer-checks";

}  // namespace

std::vector<std::string> DeviceArguments(Language language, const std::string& target) {
  std::vector<std::string> arguments;
  if (language == Language::kCuda) {
    // Neither a vendor's headers nor its device library nor its path is looked for.
    arguments = {"-x",
                 "cuda",
                 "--cuda-device-only",
                 "--cuda-gpu-arch=" + target,
                 "-nocudainc",
                 "-nocudalib",
                 "--cuda-path=/nonexistent",
                 "-Wno-unknown-cuda-version",
                 "-Xclang",
                 "-target-sdk-version=11.0",
                 "-fuse-cuid=none"};
  } else {
    arguments = {"-x",
                 "cl",
                 "-target",
                 "nvptx64-nvidia-cuda",
                 "-march=" + target,
                 "-fno-vectorize",
                 "-fno-slp-vectorize",
                 "-Xclang",
                 "-cl-ext=+cl_khr_3d_image_writes,+cl_khr_int64_base_atomics,+cl_khr_int64_extended_atomics"};
  }
  for (const char* argument : {"-Xclang", "-target-feature", "-Xclang", "+ptx70", "-emit-llvm", "-c",
                               "-gline-tables-only", "-fno-color-diagnostics", kKeepNullAccesses}) {
    arguments.push_back(argument);
  }
  return arguments;
}

std::vector<std::string> KeepBranchesArguments() {
  std::vector<std::string> arguments;
  for (const char* option : {"-two-entry-phi-node-folding-threshold=0", "-phi-node-folding-threshold=0",
                             "-speculate-one-expensive-inst=false", "-spec-exec-max-speculation-cost=0"}) {
    arguments.insert(arguments.end(), {"-mllvm", option});
  }
  return arguments;
}

std::vector<std::string> DeviceHeaderArguments(Language language, const std::string& folder) {
  if (language == Language::kCuda) return {"-I" + folder, "-include", folder + "/heddle_cuda.h", "-D__NVCC__=1"};
  return {"-I" + folder, "-include", folder + "/heddle_opencl.h"};
}

}  // namespace heddle::tracegen
