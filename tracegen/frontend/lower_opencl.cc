#include "tracegen/frontend/lower_opencl.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "tracegen/program/prepare.h"

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

// As C passes an argument without a prototype: float as double, but vectors as they are. Pointers, which are strings,
// in the generic space.
llvm::Value* Promoted(llvm::IRBuilder<>& builder, llvm::Value* value) {
  llvm::Type* type = value->getType();
  if (type->isPointerTy()) return Generic(builder, value);
  if (type->isFloatTy() || type->isHalfTy()) return builder.CreateFPExt(value, builder.getDoubleTy());
  return value;
}

// An argument lies at a multiple of its size, vectors at a multiple of 16 bytes at most; a vector of three has the room
// of four.
void LowerPrintf(llvm::CallInst* call) {
  llvm::Function* caller = call->getFunction();
  llvm::Module& module = *caller->getParent();
  const llvm::DataLayout& layout = module.getDataLayout();
  llvm::IRBuilder<> builder(call);
  std::vector<std::pair<llvm::Value*, uint64_t>> packed;  // with their offsets
  uint64_t bytes = 0;
  for (llvm::Value* argument : llvm::drop_begin(call->args())) {
    llvm::Value* value = Promoted(builder, argument);
    const uint64_t size = llvm::PowerOf2Ceil(layout.getTypeStoreSize(value->getType()).getFixedValue());
    bytes = llvm::alignTo(bytes, std::min<uint64_t>(size, 16));
    packed.emplace_back(value, bytes);
    bytes += size;
  }
  llvm::Value* buffer = llvm::ConstantPointerNull::get(builder.getPtrTy(0));
  if (!packed.empty()) {
    llvm::IRBuilder<> entry(&*caller->getEntryBlock().getFirstInsertionPt());
    llvm::AllocaInst* memory = entry.CreateAlloca(llvm::ArrayType::get(builder.getInt8Ty(), bytes));
    memory->setAlignment(llvm::Align(16));
    for (const auto& [value, offset] : packed) {
      const llvm::Align alignment = llvm::commonAlignment(llvm::Align(16), offset);
      builder.CreateAlignedStore(value, builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), memory, offset),
                                 alignment);
    }
    buffer = memory;
  }
  llvm::FunctionCallee vprintf =
      module.getOrInsertFunction("vprintf", builder.getInt32Ty(), builder.getPtrTy(0), builder.getPtrTy(0));
  llvm::Value* printed = builder.CreateCall(vprintf, {Generic(builder, call->getArgOperand(0)), buffer});
  call->replaceAllUsesWith(printed);
  call->eraseFromParent();
}

void LowerSampler(llvm::CallInst* call) {
  llvm::IRBuilder<> builder(call);
  llvm::Value* bits = builder.CreateZExt(call->getArgOperand(0), builder.getInt64Ty());
  call->replaceAllUsesWith(builder.CreateIntToPtr(bits, call->getType()));
  call->eraseFromParent();
}

// An element whose number is computed: the choice among all of them.
void LowerExtract(llvm::ExtractElementInst* extract) {
  llvm::IRBuilder<> builder(extract);
  llvm::Value* index = extract->getIndexOperand();
  const unsigned elements = extract->getVectorOperandType()->getElementCount().getFixedValue();
  llvm::Value* chosen = builder.CreateExtractElement(extract->getVectorOperand(), uint64_t{0});
  for (unsigned i = 1; i < elements; ++i) {
    llvm::Value* is_this = builder.CreateICmpEQ(index, llvm::ConstantInt::get(index->getType(), i));
    chosen = builder.CreateSelect(is_this, builder.CreateExtractElement(extract->getVectorOperand(), i), chosen);
  }
  extract->replaceAllUsesWith(chosen);
  extract->eraseFromParent();
}

void LowerInsert(llvm::InsertElementInst* insert) {
  llvm::IRBuilder<> builder(insert);
  llvm::Value* index = insert->getOperand(2);
  llvm::Value* result = insert->getOperand(0);
  const unsigned elements = insert->getType()->getElementCount().getFixedValue();
  for (unsigned i = 0; i < elements; ++i) {
    llvm::Value* is_this = builder.CreateICmpEQ(index, llvm::ConstantInt::get(index->getType(), i));
    llvm::Value* old = builder.CreateExtractElement(insert->getOperand(0), i);
    result = builder.CreateInsertElement(result, builder.CreateSelect(is_this, insert->getOperand(1), old), i);
  }
  insert->replaceAllUsesWith(result);
  insert->eraseFromParent();
}

void LowerComputedElements(llvm::Function& function) {
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    if (auto* extract = llvm::dyn_cast<llvm::ExtractElementInst>(&instruction)) {
      if (!llvm::isa<llvm::ConstantInt>(extract->getIndexOperand())) LowerExtract(extract);
    } else if (auto* insert = llvm::dyn_cast<llvm::InsertElementInst>(&instruction)) {
      if (!llvm::isa<llvm::ConstantInt>(insert->getOperand(2))) LowerInsert(insert);
    }
  }
}

// OpenCL C lets kernels call kernels as functions, PTX does not: such calls go to a copy.
void LowerKernelCalls(llvm::Module& module) {
  for (llvm::Function* kernel : KernelsOf(module)) {
    if (CallsOf(module, kernel->getName()).empty()) continue;
    llvm::ValueToValueMapTy map;
    llvm::Function* copy = llvm::CloneFunction(kernel, map);
    copy->setName(kernel->getName() + ".as_function");
    copy->setLinkage(llvm::GlobalValue::InternalLinkage);
    copy->setCallingConv(llvm::CallingConv::C);
    // A kernel that calls itself does so in its copy too.
    for (llvm::CallInst* call : CallsOf(module, kernel->getName())) {
      call->setCalledFunction(copy);
      call->setCallingConv(llvm::CallingConv::C);
    }
  }
}

}  // namespace

void LowerOpenCl(llvm::Module& module) {
  LowerKernelCalls(module);
  for (llvm::Function& function : module) LowerComputedElements(function);
  for (llvm::CallInst* call : CallsOf(module, "printf")) {
    if (call->getFunctionType()->isVarArg()) LowerPrintf(call);
  }
  for (llvm::CallInst* call : CallsOf(module, "__translate_sampler_initializer")) LowerSampler(call);
}

}  // namespace heddle::tracegen
