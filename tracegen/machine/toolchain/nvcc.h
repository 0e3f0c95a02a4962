// The nvcc of the user's toolkit, which makes PTX of CUDA source.
#ifndef HEDDLE_TRACEGEN_MACHINE_TOOLCHAIN_NVCC_H_
#define HEDDLE_TRACEGEN_MACHINE_TOOLCHAIN_NVCC_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tracegen/machine/encoding/architecture.h"
#include "tracegen/machine/toolchain/run_program.h"

namespace heddle::tracegen::machine {

struct NvccOptions {
  Architecture architecture = Architecture::kSm80;
  std::vector<std::string> defines;  // NAME or NAME=VALUE
  std::vector<std::string> include_dirs;
};

class Nvcc {
 public:
  // `wanted` is "nvcc", which is looked for in PATH, CUDA_HOME, CUDA_PATH and /usr/local/cuda; or a program; or the
  // folder of a toolkit. Heddle's own stand-in, which may go by that name, is passed over. Errors: there is none, with
  // what brings it.
  static absl::StatusOr<Nvcc> Find(const std::string& wanted, const ToolchainLimits& limits = {});

  // CUDA source to PTX with the source's lines. Errors: nvcc's own first message; no end within the limit.
  absl::StatusOr<std::string> Compile(const std::string& source, const NvccOptions& options) const;

  const std::string& program() const { return program_; }

 private:
  Nvcc(std::string program, const ToolchainLimits& limits) : program_(std::move(program)), limits_(limits) {}

  std::string program_;
  ToolchainLimits limits_;
};

}  // namespace heddle::tracegen::machine

#endif  // HEDDLE_TRACEGEN_MACHINE_TOOLCHAIN_NVCC_H_
