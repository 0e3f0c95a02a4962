// Local arrays live in a window of their own, at the same offsets in every thread, instead of on the host's stack.
#include <cstddef>

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "tracegen/instrument/kernel_pass.h"

namespace heddle::tracegen {
namespace {

using llvm::cast;
using llvm::dyn_cast;
using llvm::isa;

struct FrameSlot {
  llvm::Instruction* allocation = nullptr;  // an alloca, or null for a by-value argument
  llvm::Argument* argument = nullptr;
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

void LowerFunction(KernelPass& pass, llvm::Function& function) {
  const llvm::DataLayout& layout = pass.module->getDataLayout();
  std::vector<FrameSlot> slots;
  uint64_t frame = 0;
  auto place = [&](uint64_t bytes, uint64_t alignment) {
    frame = (frame + alignment - 1) / alignment * alignment;
    uint64_t offset = frame;
    frame += bytes;
    return offset;
  };
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    auto* allocation = dyn_cast<llvm::AllocaInst>(&instruction);
    if (allocation == nullptr) continue;
    uint64_t count = cast<llvm::ConstantInt>(allocation->getArraySize())->getZExtValue();
    uint64_t bytes = layout.getTypeAllocSize(allocation->getAllocatedType()) * count;
    slots.push_back({allocation, nullptr, place(bytes, allocation->getAlign().value()), bytes});
  }
  // A by-value structure is the callee's own copy. The kernel's lie in parameter memory and are not written.
  for (llvm::Argument& argument : function.args()) {
    if (!argument.hasByValAttr()) continue;
    if (&function != pass.kernel) {
      llvm::Type* type = argument.getParamByValType();
      uint64_t bytes = layout.getTypeAllocSize(type);
      uint64_t alignment = std::max<uint64_t>(layout.getABITypeAlign(type).value(), 8);
      slots.push_back({nullptr, &argument, place(bytes, alignment), bytes});
    }
    argument.removeAttr(llvm::Attribute::ByVal);
  }
  if (slots.empty()) return;
  frame = (frame + 15) / 16 * 16;

  llvm::IRBuilder<> builder(&*function.getEntryBlock().getFirstInsertionPt());
  llvm::Value* start = pass.LoadField(builder, offsetof(ThreadContext, own.local_pointer), pass.pointer());
  llvm::Value* next = builder.CreateConstGEP1_64(builder.getInt8Ty(), start, frame);
  llvm::Value* limit = pass.LoadField(builder, offsetof(ThreadContext, own.local_limit), pass.pointer());
  llvm::Value* overflow = builder.CreateICmpUGT(next, limit);
  llvm::Instruction* here = &*builder.GetInsertPoint();
  for (FrameSlot& slot : slots) {
    llvm::Value* address = builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), start, slot.offset);
    if (slot.allocation != nullptr) {
      slot.allocation->replaceAllUsesWith(address);
    } else {
      slot.argument->replaceAllUsesWith(address);
      builder.CreateMemCpy(address, llvm::MaybeAlign(1), slot.argument, llvm::MaybeAlign(1), slot.bytes);
    }
  }
  pass.StoreField(builder, offsetof(ThreadContext, own.local_pointer), next);
  llvm::Instruction* slow = llvm::SplitBlockAndInsertIfThen(overflow, cast<llvm::Instruction>(overflow)->getNextNode(),
                                                            /*Unreachable=*/false);
  (void)here;
  builder.SetInsertPoint(slow);
  pass.CallRuntime(builder, kLocalOverflowFunction, builder.getVoidTy(), {KernelPass::Context(builder)});
  for (llvm::BasicBlock& block : function) {
    if (!isa<llvm::ReturnInst>(block.getTerminator())) continue;
    builder.SetInsertPoint(block.getTerminator());
    pass.StoreField(builder, offsetof(ThreadContext, own.local_pointer), start);
  }
  for (FrameSlot& slot : slots) {
    if (slot.allocation != nullptr) slot.allocation->eraseFromParent();
  }
}

}  // namespace

absl::Status LowerLocalMemory(KernelPass& pass) {
  for (llvm::Function* function : pass.functions) {
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(*function))) {
      auto* call = dyn_cast<llvm::IntrinsicInst>(&instruction);
      if (call != nullptr && (call->isLifetimeStartOrEnd() || isa<llvm::DbgInfoIntrinsic>(call) ||
                              call->getIntrinsicID() == llvm::Intrinsic::assume ||
                              call->getIntrinsicID() == llvm::Intrinsic::experimental_noalias_scope_decl)) {
        call->eraseFromParent();
      }
    }
  }
  // Callers must not copy by-value structures on the host's stack: the callee copies.
  for (llvm::Function* function : pass.functions) {
    for (llvm::Instruction& instruction : llvm::instructions(*function)) {
      if (auto* call = dyn_cast<llvm::CallInst>(&instruction)) {
        for (unsigned i = 0; i < call->arg_size(); ++i) call->removeParamAttr(i, llvm::Attribute::ByVal);
      }
    }
    LowerFunction(pass, *function);
  }
  return absl::OkStatus();
}

}  // namespace heddle::tracegen
