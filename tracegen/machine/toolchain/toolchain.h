// The vendor's assembler and disassembler on this machine: found, run, and waited for.
#ifndef HEDDLE_TRACEGEN_MACHINE_TOOLCHAIN_TOOLCHAIN_H_
#define HEDDLE_TRACEGEN_MACHINE_TOOLCHAIN_TOOLCHAIN_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "tracegen/machine/encoding/architecture.h"
#include "tracegen/machine/toolchain/run_program.h"

namespace heddle::tracegen::machine {

class Toolchain {
 public:
  // Finds `ptxas` and `nvdisasm` on the PATH, or in the bin folder of CUDA_HOME, CUDA_PATH or /usr/local/cuda. Errors:
  // the one that is missing, with what brings it.
  static absl::StatusOr<Toolchain> Find(const ToolchainLimits& limits = {});
  // These programs, wherever they are.
  Toolchain(std::string ptxas, std::string nvdisasm, const ToolchainLimits& limits = {});

  // PTX to a cubin, with a line table where the PTX has lines. Errors: the assembler's own first message; a function
  // that is nowhere; no end within the limit; a program that cannot be run.
  absl::StatusOr<std::string> Assemble(std::string_view ptx, Architecture architecture) const;
  // A cubin to the disassembler's JSON. Errors: as above; a disassembler without JSON.
  absl::StatusOr<std::string> Disassemble(std::string_view cubin) const;
  // A cubin to the disassembler's listing.
  absl::StatusOr<std::string> List(std::string_view cubin) const;

  // Bitcode of the device's mathematical functions in the toolkit that the assembler belongs to. Errors: it has none,
  // with what brings it.
  absl::StatusOr<std::string> FindLibdevice() const;

  const std::string& ptxas() const { return ptxas_; }
  const std::string& nvdisasm() const { return nvdisasm_; }

 private:
  std::string ptxas_;
  std::string nvdisasm_;
  ToolchainLimits limits_;
};

}  // namespace heddle::tracegen::machine

#endif  // HEDDLE_TRACEGEN_MACHINE_TOOLCHAIN_TOOLCHAIN_H_
