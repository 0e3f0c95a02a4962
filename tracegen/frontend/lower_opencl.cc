#include "tracegen/frontend/lower_opencl.h"

#include <vector>

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

namespace heddle::tracegen {
namespace {

// Calls of the function with this name, which may not exist.
std::vector<llvm::CallInst*> CallsOf(llvm::Module& module, llvm::StringRef name) {
  std::vector<llvm::CallInst*> calls;
  llvm::Function* function = module.getFunction(name);
  if (function == nullptr) return calls;
  for (llvm::User* user : function->users()) {
    auto* call = llvm::dyn_cast<llvm::CallInst>(user);
    if (call != nullptr && call->getCalledFunction() == function) calls.push_back(call);
  }
  return calls;
}

llvm::Value* Generic(llvm::IRBuilder<>& builder, llvm::Value* pointer) {
  return builder.CreateAddrSpaceCast(pointer, builder.getPtrTy(0));
}

// As C passes an argument without a prototype: float as double. Pointers, which are strings, in the generic space.
llvm::Value* Promoted(llvm::IRBuilder<>& builder, llvm::Value* value) {
  llvm::Type* type = value->getType();
  if (type->isPointerTy()) return Generic(builder, value);
  llvm::Type* scalar = type->getScalarType();
  if (scalar->isFloatTy() || scalar->isHalfTy()) {
    llvm::Type* wide = builder.getDoubleTy();
    if (auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type)) {
      wide = llvm::FixedVectorType::get(wide, vector->getNumElements());
    }
    return builder.CreateFPExt(value, wide);
  }
  return value;
}

void LowerPrintf(llvm::CallInst* call) {
  llvm::Function* caller = call->getFunction();
  llvm::Module& module = *caller->getParent();
  llvm::IRBuilder<> builder(call);
  std::vector<llvm::Value*> values;
  std::vector<llvm::Type*> types;
  for (llvm::Value* argument : llvm::drop_begin(call->args())) {
    values.push_back(Promoted(builder, argument));
    types.push_back(values.back()->getType());
  }
  llvm::Value* packed = llvm::ConstantPointerNull::get(builder.getPtrTy(0));
  if (!values.empty()) {
    auto* structure = llvm::StructType::get(module.getContext(), types);
    llvm::IRBuilder<> entry(&*caller->getEntryBlock().getFirstInsertionPt());
    packed = entry.CreateAlloca(structure);
    for (size_t i = 0; i < values.size(); ++i) {
      builder.CreateStore(values[i], builder.CreateStructGEP(structure, packed, static_cast<unsigned>(i)));
    }
  }
  llvm::FunctionCallee vprintf = module.getOrInsertFunction("vprintf", builder.getInt32Ty(), builder.getPtrTy(0),
                                                            builder.getPtrTy(0));
  llvm::Value* printed = builder.CreateCall(vprintf, {Generic(builder, call->getArgOperand(0)), packed});
  call->replaceAllUsesWith(printed);
  call->eraseFromParent();
}

void LowerSampler(llvm::CallInst* call) {
  llvm::IRBuilder<> builder(call);
  llvm::Value* bits = builder.CreateZExt(call->getArgOperand(0), builder.getInt64Ty());
  call->replaceAllUsesWith(builder.CreateIntToPtr(bits, call->getType()));
  call->eraseFromParent();
}

}  // namespace

void LowerOpenCl(llvm::Module& module) {
  for (llvm::CallInst* call : CallsOf(module, "printf")) {
    if (call->getFunctionType()->isVarArg()) LowerPrintf(call);
  }
  for (llvm::CallInst* call : CallsOf(module, "__translate_sampler_initializer")) LowerSampler(call);
}

}  // namespace heddle::tracegen
