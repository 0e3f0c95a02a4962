#include "tracegen/machine/machine_module.h"

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tracegen/machine/text/disassembly.h"
#include "traces/base/status_macros.h"

namespace heddle::tracegen::machine {

absl::StatusOr<MachineModule> MachineModuleOfCubin(const Toolchain& toolchain, std::string_view cubin,
                                                   Architecture expected) {
  MachineModule module;
  HEDDLE_ASSIGN_OR_RETURN(module.cubin, ReadCubin(cubin));
  if (module.cubin.architecture != expected) {
    return absl::InvalidArgumentError(absl::StrCat("the cubin is of ", ArchitectureName(module.cubin.architecture),
                                                   ", and ", ArchitectureName(expected),
                                                   " was asked for: assemble its PTX for that one"));
  }
  HEDDLE_ASSIGN_OR_RETURN(const std::string json, toolchain.Disassemble(cubin));
  HEDDLE_ASSIGN_OR_RETURN(const Disassembly disassembly, ReadDisassembly(json));
  HEDDLE_ASSIGN_OR_RETURN(module.program, BuildProgram(module.cubin, disassembly));
  return module;
}

absl::StatusOr<MachineModule> MachineModuleOf(const Toolchain& toolchain, std::string_view ptx,
                                              Architecture architecture) {
  HEDDLE_ASSIGN_OR_RETURN(const std::string cubin, toolchain.Assemble(ptx, architecture));
  return MachineModuleOfCubin(toolchain, cubin, architecture);
}

}  // namespace heddle::tracegen::machine
