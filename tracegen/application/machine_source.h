// Machine code as the code of a program: what the user's assembler makes of the PTX that a module has, or of the PTX
// that our compiler makes of its bitcode.
#ifndef HEDDLE_TRACEGEN_APPLICATION_MACHINE_SOURCE_H_
#define HEDDLE_TRACEGEN_APPLICATION_MACHINE_SOURCE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "tracegen/application/module_source.h"
#include "tracegen/machine/encoding/architecture.h"
#include "tracegen/machine/toolchain/toolchain.h"

namespace heddle::tracegen {

// Whose machine code a program runs as.
struct MachineTarget {
  machine::Toolchain toolchain;
  machine::Architecture architecture;

  // Errors: a name that is none of an architecture that can be read; a program of the toolkit that is missing, with
  // what brings it.
  static absl::StatusOr<MachineTarget> Find(const std::string& architecture);
};

// The machine code of `source`, which the host goes on to see as it was. `name` is the module's, for messages. Errors
// of its functions: those of the assembler and the disassembler; an instruction without a meaning, with its place and
// text; several texts of PTX that are to be linked.
std::unique_ptr<ModuleSource> MakeMachineSource(std::unique_ptr<ModuleSource> source, MachineTarget target,
                                                const std::string& name);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_APPLICATION_MACHINE_SOURCE_H_
