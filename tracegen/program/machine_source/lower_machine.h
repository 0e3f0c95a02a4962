// Machine code as the source: what the vendor's assembler makes of PTX becomes canonical device code, and is itself the
// static program.
//
// * What the host sees is the PTX's: kernels with their parameters, variables in global and constant memory. The code
//   is the cubin's.
// * Registers become values. No pass moves, merges or removes a block or an access to memory, so links from IR to the
//   program are made while lowering, as for PTX (ptx_source/lower_module.h says more, and what becomes of guards).
// * What each instruction does stands in one table: machine/meaning.
#ifndef HEDDLE_TRACEGEN_PROGRAM_MACHINE_SOURCE_LOWER_MACHINE_H_
#define HEDDLE_TRACEGEN_PROGRAM_MACHINE_SOURCE_LOWER_MACHINE_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "tracegen/machine/machine_module.h"
#include "tracegen/program/static_program.h"
#include "tracegen/ptx/syntax/module.h"

namespace heddle::tracegen {

// `module` is what was assembled of `ptx`; `name` stands for it in messages. Errors: an instruction that has no meaning
// yet, with its place and text; variables or parameters that are not supported.
absl::StatusOr<CanonicalModule> LowerMachine(const ptx::Module& ptx, const machine::MachineModule& module,
                                             const std::string& name);

// Parses, assembles and lowers a text. Errors: also those of the assembler; a text without kernels.
absl::StatusOr<CanonicalModule> ReadPtxAsMachine(const machine::Toolchain& toolchain,
                                                 machine::Architecture architecture, std::string_view text,
                                                 const std::string& name);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_PROGRAM_MACHINE_SOURCE_LOWER_MACHINE_H_
