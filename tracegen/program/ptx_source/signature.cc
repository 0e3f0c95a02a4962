#include "tracegen/program/ptx_source/signature.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "traces/base/status_macros.h"

namespace heddle::tracegen {
namespace {

constexpr uint64_t kMostKernelBytes = 32764;  // of all parameters, from compute capability 7.0 on

absl::Status CheckSize(const ptx::Variable& variable) {
  const uint64_t bytes = variable.Bytes();
  if (bytes >= 1 && bytes <= kMostKernelBytes) return absl::OkStatus();
  return absl::UnimplementedError(absl::StrCat("PTX line ", variable.line, ": parameter '", variable.name, "' of ",
                                               bytes, " bytes; 1 to ", kMostKernelBytes, " are supported"));
}

}  // namespace

bool IsBlock(const ptx::Variable& variable) { return !variable.dimensions.empty() || variable.vector > 1; }

absl::StatusOr<llvm::Type*> PassedType(llvm::LLVMContext& context, const ptx::Variable& variable) {
  if (variable.type.kind == ptx::TypeKind::kPredicate) return llvm::Type::getInt1Ty(context);
  HEDDLE_RETURN_IF_ERROR(CheckSize(variable));
  const uint64_t bytes = variable.Bytes();
  if (!IsBlock(variable)) return llvm::Type::getIntNTy(context, static_cast<unsigned>(bytes * 8));
  const uint64_t step = bytes % 8 == 0 && variable.Alignment() >= 8 ? 8 : bytes % 4 == 0 ? 4 : 1;
  return llvm::ArrayType::get(llvm::Type::getIntNTy(context, static_cast<unsigned>(step * 8)), bytes / step);
}

absl::StatusOr<llvm::FunctionType*> FunctionTypeOf(llvm::LLVMContext& context,
                                                   const std::vector<ptx::Variable>& returns,
                                                   const std::vector<ptx::Variable>& parameters) {
  std::vector<llvm::Type*> results, arguments;
  for (const ptx::Variable& variable : returns) {
    HEDDLE_ASSIGN_OR_RETURN(llvm::Type * type, PassedType(context, variable));
    results.push_back(type);
  }
  for (const ptx::Variable& variable : parameters) {
    HEDDLE_ASSIGN_OR_RETURN(llvm::Type * type, PassedType(context, variable));
    arguments.push_back(type);
  }
  llvm::Type* result = results.empty()       ? llvm::Type::getVoidTy(context)
                       : results.size() == 1 ? results[0]
                                             : llvm::StructType::get(context, results);
  return llvm::FunctionType::get(result, arguments, false);
}

absl::StatusOr<KernelParameterType> KernelTypeOf(llvm::LLVMContext& context, const ptx::Variable& variable,
                                                 bool in_memory) {
  HEDDLE_RETURN_IF_ERROR(CheckSize(variable));
  const uint64_t bytes = variable.Bytes();
  if (IsBlock(variable) || in_memory) {
    llvm::Type* block = llvm::ArrayType::get(llvm::Type::getInt8Ty(context), bytes);
    return KernelParameterType{llvm::PointerType::get(context, 0), block};
  }
  if (variable.pointer && bytes == 8) {
    const unsigned space = variable.pointer->space == ptx::StateSpace::kGlobal   ? 1
                           : variable.pointer->space == ptx::StateSpace::kShared ? 3
                           : variable.pointer->space == ptx::StateSpace::kConst  ? 4
                                                                                 : 0;
    return KernelParameterType{llvm::PointerType::get(context, space), nullptr};
  }
  if (variable.type.name == "f32") return KernelParameterType{llvm::Type::getFloatTy(context), nullptr};
  if (variable.type.name == "f64") return KernelParameterType{llvm::Type::getDoubleTy(context), nullptr};
  return KernelParameterType{llvm::Type::getIntNTy(context, static_cast<unsigned>(bytes * 8)), nullptr};
}

}  // namespace heddle::tracegen
