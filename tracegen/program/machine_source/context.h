// What the lowering of machine code works with.
#ifndef HEDDLE_TRACEGEN_PROGRAM_MACHINE_SOURCE_CONTEXT_H_
#define HEDDLE_TRACEGEN_PROGRAM_MACHINE_SOURCE_CONTEXT_H_

#include <cstdint>
#include <vector>

#include "llvm/IR/Function.h"
#include "llvm/IR/Module.h"
#include "tracegen/machine/machine_module.h"

namespace heddle::tracegen {

// How a function of machine code is called: registers are handed over and back as values. All that it or its callees
// touch are parameters, behind one of 64 bits that says where local memory lies, and words of the kernel's parameters
// that they read; those that they write are its results. Kernels are not called: of theirs only the last two count.
struct FunctionShape {
  std::vector<int64_t> words;  // places in bank 0
  std::vector<machine::Register> passed;
  std::vector<machine::Register> returned;
  // Whether a kernel that runs it asks which threads of a warp are together: then threads wait at convergence barriers.
  bool meets = false;
  // Of a kernel: functions call themselves, or through pointers, so that nobody knows how large its stack becomes.
  bool calls_without_end = false;
};

struct MachineContext {
  const machine::MachineModule& source;
  llvm::Module& module;
  std::vector<FunctionShape> shapes;       // by MachineProgram::functions
  std::vector<llvm::Function*> functions;  // likewise

  const machine::MachineProgram& program() const { return source.program; }
  const machine::ProgramFunction& function(uint32_t index) const { return source.program.functions[index]; }
  // The section of code of a function. Never null for functions of the program.
  const machine::CodeSection& SectionOf(uint32_t index) const {
    return *source.cubin.Find(source.program.functions[index].section);
  }
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_PROGRAM_MACHINE_SOURCE_CONTEXT_H_
