#include "tracegen/program/operand_marker.h"

#include "llvm/IR/Module.h"

namespace heddle::tracegen {

llvm::CallInst* MarkOperands(llvm::IRBuilderBase& builder, llvm::ArrayRef<llvm::Value*> values) {
  llvm::Module& module = *builder.GetInsertBlock()->getModule();
  llvm::FunctionType* type = llvm::FunctionType::get(builder.getVoidTy(), /*isVarArg=*/true);
  llvm::CallInst* call = builder.CreateCall(module.getOrInsertFunction(kOperandsFunction, type), values);
  call->setDoesNotThrow();
  return call;
}

bool IsOperandMarker(const llvm::Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  return call != nullptr && call->getCalledFunction() != nullptr &&
         call->getCalledFunction()->getName() == kOperandsFunction;
}

}  // namespace heddle::tracegen
