// Parameters, results and prototypes of PTX functions as types of LLVM IR.
#ifndef HEDDLE_TRACEGEN_PROGRAM_PTX_SOURCE_SIGNATURE_H_
#define HEDDLE_TRACEGEN_PROGRAM_PTX_SOURCE_SIGNATURE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "llvm/IR/DerivedTypes.h"
#include "tracegen/ptx/syntax/module.h"

namespace heddle::tracegen {

// What a parameter of a device function, or a result, is passed as: an integer of its width for a scalar, whatever its
// type (a caller's prototype may say .b32 where the function says .f32), an array of integers for a block of bytes.
// Errors: a size that is not known, or above that of all parameters together (32,764 bytes).
absl::StatusOr<llvm::Type*> PassedType(llvm::LLVMContext& context, const ptx::Variable& variable);

// Results are one value, or a structure of them.
absl::StatusOr<llvm::FunctionType*> FunctionTypeOf(llvm::LLVMContext& context,
                                                   const std::vector<ptx::Variable>& returns,
                                                   const std::vector<ptx::Variable>& parameters);

// A parameter of a kernel: an integer or floating-point number, or a pointer to one of the declared state space; with
// `in_memory`, or for a block of bytes, a pointer to the bytes themselves, passed by value (`bytes`).
struct KernelParameterType {
  llvm::Type* type = nullptr;
  llvm::Type* bytes = nullptr;  // by value: what it points to
};
absl::StatusOr<KernelParameterType> KernelTypeOf(llvm::LLVMContext& context, const ptx::Variable& variable,
                                                 bool in_memory);

// Whether a variable is more than one number.
bool IsBlock(const ptx::Variable& variable);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_PROGRAM_PTX_SOURCE_SIGNATURE_H_
