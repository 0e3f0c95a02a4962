// Calls through pointers, and calls of what a device's system provides (printf, malloc, free), as host code.
#include <vector>

#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/ReplaceConstant.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "tracegen/instrument/kernel_pass.h"

namespace heddle::tracegen {
namespace {

// A pointer to a device function is a number (the host's code of a function differs between kernels, and between
// recorded and native code): the call compares it with those of all functions that it can lead to.
void LowerIndirectCall(KernelPass& pass, llvm::CallInst& call, const std::vector<llvm::Function*>& callees) {
  llvm::Function* caller = call.getFunction();
  llvm::BasicBlock* before = call.getParent();
  llvm::BasicBlock* after = before->splitBasicBlock(&call);
  before->getTerminator()->eraseFromParent();
  llvm::IRBuilder<> builder(before);
  builder.SetCurrentDebugLocation(call.getDebugLoc());
  llvm::Value* pointer = builder.CreatePtrToInt(call.getCalledOperand(), pass.i64());
  llvm::BasicBlock* bad = llvm::BasicBlock::Create(pass.context(), "", caller, after);
  llvm::SwitchInst* choice = builder.CreateSwitch(pointer, bad, static_cast<unsigned>(callees.size()));
  builder.SetInsertPoint(bad);
  pass.CallRuntime(builder, kBadCallFunction, builder.getVoidTy(),
                   {caller->getArg(0), builder.getInt32(pass.AddSite(call)), pointer});
  builder.CreateUnreachable();
  llvm::PHINode* result = nullptr;
  if (!call.getType()->isVoidTy()) {
    result = llvm::PHINode::Create(call.getType(), static_cast<unsigned>(callees.size()), "", after->begin());
  }
  for (llvm::Function* callee : callees) {
    llvm::BasicBlock* block = llvm::BasicBlock::Create(pass.context(), "", caller, after);
    choice->addCase(builder.getInt64(pass.PointerTo(callee->getName())), block);
    builder.SetInsertPoint(block);
    std::vector<llvm::Value*> arguments = {caller->getArg(0)};
    arguments.insert(arguments.end(), call.arg_begin(), call.arg_end());
    llvm::CallInst* direct = builder.CreateCall(callee, arguments);
    builder.CreateBr(after);
    if (result != nullptr) result->addIncoming(direct, block);
  }
  if (result != nullptr) call.replaceAllUsesWith(result);
  call.eraseFromParent();
}

// True if the call was one.
bool LowerSystemCall(KernelPass& pass, llvm::CallInst& call) {
  const llvm::Function* callee = call.getCalledFunction();
  if (callee == nullptr || !callee->isDeclaration()) return false;
  const llvm::StringRef name = callee->getName();
  llvm::IRBuilder<> builder(&call);
  llvm::Value* result = nullptr;
  if (name == "vprintf") {
    result = pass.CallRuntime(builder, kPrintFunction, pass.i32(),
                              {KernelPass::Context(builder), call.getArgOperand(0), call.getArgOperand(1)});
  } else if (name == "malloc") {
    pass.result->uses_heap = true;
    result = pass.CallRuntime(builder, kAllocateFunction, pass.pointer(),
                              {KernelPass::Context(builder), builder.CreateZExt(call.getArgOperand(0), pass.i64())});
  } else if (name == "free") {
    pass.result->uses_heap = true;
    pass.CallRuntime(builder, kFreeFunction, builder.getVoidTy(),
                     {KernelPass::Context(builder), builder.getInt32(pass.AddSite(call)), call.getArgOperand(0)});
  } else if (name == "__heddle_resident_grid") {
    pass.CallRuntime(builder, kResidentGridFunction, builder.getVoidTy(),
                     {KernelPass::Context(builder), builder.getInt32(pass.AddSite(call))});
  } else {
    return false;
  }
  if (!call.getType()->isVoidTy()) call.replaceAllUsesWith(result);
  call.eraseFromParent();
  return true;
}

}  // namespace

void PlaceFunctions(KernelPass& pass) {
  std::vector<llvm::Constant*> constants;
  constants.reserve(pass.canonical.index.address_taken.size());
  for (const llvm::Function* function : pass.canonical.index.address_taken) {
    constants.push_back(pass.module->getFunction(function->getName()));
  }
  llvm::convertUsersOfConstantsToInstructions(constants);
  for (llvm::Constant* constant : constants) {
    auto* function = llvm::cast<llvm::Function>(constant);
    llvm::Constant* number = llvm::ConstantInt::get(pass.i64(), pass.PointerTo(function->getName()));
    function->replaceUsesWithIf(llvm::ConstantExpr::getIntToPtr(number, function->getType()), [](llvm::Use& use) {
      auto* call = llvm::dyn_cast<llvm::CallBase>(use.getUser());
      return llvm::isa<llvm::Instruction>(use.getUser()) && (call == nullptr || !call->isCallee(&use));
    });
  }
  // What is left are tables in variables (virtual functions). The variables have their places by now.
  for (llvm::GlobalVariable& variable : pass.module->globals()) {
    if (!variable.hasInitializer()) continue;
    variable.setInitializer(nullptr);
    variable.setLinkage(llvm::GlobalValue::ExternalLinkage);
    variable.setComdat(nullptr);
  }
  for (llvm::Constant* constant : constants) constant->removeDeadConstantUsers();
}

void LowerCalls(KernelPass& pass) {
  for (llvm::Function* function : pass.functions) {
    std::vector<llvm::CallInst*> calls;
    for (llvm::Instruction& instruction : llvm::instructions(*function)) {
      if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction)) calls.push_back(call);
    }
    for (llvm::CallInst* call : calls) {
      if (LowerSystemCall(pass, *call)) continue;
      const std::vector<llvm::Function*> callees = pass.CalleesOf(*call);
      if (!callees.empty()) LowerIndirectCall(pass, *call, callees);
    }
  }
}

}  // namespace heddle::tracegen
