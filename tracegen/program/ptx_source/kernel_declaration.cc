#include "tracegen/program/ptx_source/kernel_declaration.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "llvm/ADT/bit.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/Metadata.h"
#include "tracegen/program/ptx_source/function_lowering.h"
#include "tracegen/program/ptx_source/signature.h"
#include "tracegen/program/static_program.h"
#include "traces/base/status_macros.h"

namespace heddle::tracegen {
namespace {

void Annotate(llvm::Function* function, const std::string& key, uint64_t value) {
  llvm::LLVMContext& context = function->getContext();
  llvm::Metadata* operands[] = {
      llvm::ValueAsMetadata::get(function), llvm::MDString::get(context, key),
      llvm::ConstantAsMetadata::get(llvm::ConstantInt::get(llvm::Type::getInt32Ty(context), value))};
  function->getParent()->getOrInsertNamedMetadata("nvvm.annotations")->addOperand(llvm::MDNode::get(context, operands));
}

}  // namespace

absl::StatusOr<llvm::Function*> DeclareKernel(const ptx::Function& source, llvm::Module& module) {
  llvm::LLVMContext& context = module.getContext();
  std::vector<llvm::Type*> types;
  std::vector<KernelParameterType> parameters;
  const SymbolSet in_memory = SymbolsInMemory(source);
  for (uint32_t i = 0; i < source.parameters.size(); ++i) {
    HEDDLE_ASSIGN_OR_RETURN(
        KernelParameterType parameter,
        KernelTypeOf(context, source.parameters[i], in_memory.contains({ptx::SymbolKind::kParameter, i})));
    types.push_back(parameter.type);
    parameters.push_back(parameter);
  }
  auto* function = llvm::Function::Create(llvm::FunctionType::get(llvm::Type::getVoidTy(context), types, false),
                                          llvm::GlobalValue::ExternalLinkage, source.name, module);
  for (unsigned i = 0; i < parameters.size(); ++i) {
    const ptx::Variable& variable = source.parameters[i];
    function->getArg(i)->setName(variable.name);
    if (parameters[i].bytes != nullptr) {
      function->addParamAttr(i, llvm::Attribute::getWithByValType(context, parameters[i].bytes));
      function->addParamAttr(
          i, llvm::Attribute::getWithAlignment(context, llvm::Align(llvm::bit_ceil(variable.Alignment()))));
    }
    // The text may not say whether it is an address, an integer or a floating-point number.
    if (!IsBlock(variable) && variable.Bytes() <= 8 && !variable.pointer &&
        (variable.Bytes() == 8 || variable.type.kind == ptx::TypeKind::kBits)) {
      function->addParamAttr(i, llvm::Attribute::get(context, kAnyArgumentAttribute));
    }
  }
  Annotate(function, "kernel", 1);
  for (const char* directive : {"maxntid", "reqntid"}) {
    const ptx::Directive* found = source.Find(directive);
    if (found == nullptr) continue;
    for (size_t i = 0; i < 3; ++i) {
      const uint64_t number = i < found->numbers.size() ? found->numbers[i] : 1;
      Annotate(function, absl::StrCat(directive, std::string(1, static_cast<char>('x' + i))), number);
    }
  }
  if (const ptx::Directive* cluster = source.Find("reqnctapercluster"); cluster != nullptr) {
    for (size_t i = 0; i < 3 && !cluster->numbers.empty(); ++i) {
      Annotate(function, absl::StrCat("cluster_dim_", std::string(1, static_cast<char>('x' + i))),
               i < cluster->numbers.size() ? cluster->numbers[i] : 1);
    }
  }
  for (const auto& [directive, key] : {std::pair("maxnreg", "maxnreg"), std::pair("minnctapersm", "minctasm"),
                                       std::pair("maxclusterrank", "maxclusterrank")}) {
    const ptx::Directive* found = source.Find(directive);
    if (found != nullptr && !found->numbers.empty()) Annotate(function, key, found->numbers[0]);
  }
  return function;
}

}  // namespace heddle::tracegen
