// Machine code as what a recipe's capture runs: where its PTX comes from, and what the user's toolkit makes of it.
#ifndef HEDDLE_TRACEGEN_RECIPE_MACHINE_CODE_H_
#define HEDDLE_TRACEGEN_RECIPE_MACHINE_CODE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tracegen/program/static_program.h"
#include "tracegen/recipe/recipe_file.h"

namespace heddle::tracegen {

// What is assembled, and for what.
struct MachineLevel {
  std::string architecture = "sm_80";
  // Who makes PTX of CUDA source: "nvcc", the program or the folder of a toolkit, or "clang".
  std::string ptx_from = "nvcc";
};

struct MachineCode {
  CanonicalModule module;
  std::string ptx_producer;           // "NVVM 13.0", or "clang 19.1.7"; empty = the text does not say
  std::vector<std::string> warnings;  // what of the recipe has no meaning here
};

// Source to PTX, unless it is PTX, and on to machine code. Functions of the device's mathematical library get the code
// that the toolkit has for them. Errors: those of the compiler, the assembler and the disassembler; a program of the
// toolkit that is missing; an architecture that cannot be read or run; a source that machine code is not made of.
absl::StatusOr<MachineCode> CompileToMachineCode(const RecipeFile& recipe, const MachineLevel& level);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_RECIPE_MACHINE_CODE_H_
