// How functions of machine code hand registers to one another.
#ifndef HEDDLE_TRACEGEN_PROGRAM_MACHINE_SOURCE_FUNCTION_SHAPES_H_
#define HEDDLE_TRACEGEN_PROGRAM_MACHINE_SOURCE_FUNCTION_SHAPES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "llvm/IR/DerivedTypes.h"
#include "tracegen/program/machine_source/context.h"

namespace heddle::tracegen {

// Where a call through a pointer in that section of code can lead: its functions, without the kernel and without those
// that the assembler has added. A pointer is a place in the section.
std::vector<uint32_t> PointedFunctions(const machine::MachineProgram& program, const std::string& section);

// One per function, with what all functions that it calls touch and write. Those that a pointer can lead to are called
// in one way.
std::vector<FunctionShape> ShapesOf(const machine::MachineProgram& program);

// i1 of predicates, i32 of all other registers.
llvm::Type* TypeOf(llvm::LLVMContext& context, const machine::Register& reg);
// Results are a structure of the registers that the function writes, or nothing.
llvm::FunctionType* FunctionTypeOf(llvm::LLVMContext& context, const FunctionShape& shape);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_PROGRAM_MACHINE_SOURCE_FUNCTION_SHAPES_H_
