// The machine level as one: PTX through the vendor's assembler and disassembler to a static program.
#ifndef HEDDLE_TRACEGEN_MACHINE_MACHINE_MODULE_H_
#define HEDDLE_TRACEGEN_MACHINE_MACHINE_MODULE_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "tracegen/machine/cubin/cubin.h"
#include "tracegen/machine/flow/program.h"
#include "tracegen/machine/toolchain/toolchain.h"

namespace heddle::tracegen::machine {

struct MachineModule {
  Cubin cubin;
  MachineProgram program;
};

// Assembles, disassembles, and reads both. Errors: those of Toolchain, ReadCubin, ReadDisassembly and BuildProgram.
absl::StatusOr<MachineModule> MachineModuleOf(const Toolchain& toolchain, std::string_view ptx,
                                              Architecture architecture);

// Of a cubin that is there already. Errors: as above; `expected` is another architecture than that of the cubin.
absl::StatusOr<MachineModule> MachineModuleOfCubin(const Toolchain& toolchain, std::string_view cubin,
                                                   Architecture expected);

}  // namespace heddle::tracegen::machine

#endif  // HEDDLE_TRACEGEN_MACHINE_MACHINE_MODULE_H_
