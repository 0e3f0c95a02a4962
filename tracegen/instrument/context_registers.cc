// What every IR block reads and writes of the thread context, where the record ends and how many instructions there
// are, stays in registers. Whoever else looks at it is called with the context: it is written back before such a call
// and at the function's end, and read anew behind the call, as other threads may have run meanwhile.
#include <array>
#include <cstddef>
#include <vector>

#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"
#include "tracegen/instrument/kernel_pass.h"

namespace heddle::tracegen {
namespace {

using llvm::dyn_cast;

// Loads and stores of the field at `offset` of the context.
std::vector<llvm::Instruction*> UsesOfField(llvm::Function& function, size_t offset) {
  const llvm::DataLayout& layout = function.getParent()->getDataLayout();
  std::vector<llvm::Instruction*> uses;
  for (llvm::User* user : function.getArg(0)->users()) {
    auto* field = dyn_cast<llvm::GetElementPtrInst>(user);
    llvm::APInt at(64, 0);
    if (field == nullptr || !field->accumulateConstantOffset(layout, at) || at != offset) continue;
    for (llvm::User* use : field->users()) uses.push_back(llvm::cast<llvm::Instruction>(use));
  }
  return uses;
}

// Calls of whoever may look at the context, and returns.
std::vector<llvm::Instruction*> WhereOthersLook(llvm::Function& function) {
  std::vector<llvm::Instruction*> places;
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    auto* call = dyn_cast<llvm::CallInst>(&instruction);
    const bool shown = call != nullptr && llvm::is_contained(call->args(), function.getArg(0));
    if (shown || llvm::isa<llvm::ReturnInst>(instruction)) places.push_back(&instruction);
  }
  return places;
}

void KeepInRegister(const KernelPass& pass, llvm::Function& function, size_t offset, llvm::Type* type,
                    const std::vector<llvm::Instruction*>& places, std::vector<llvm::AllocaInst*>& registers) {
  const std::vector<llvm::Instruction*> uses = UsesOfField(function, offset);
  if (llvm::none_of(uses, [](llvm::Instruction* use) { return llvm::isa<llvm::StoreInst>(use); })) return;
  llvm::IRBuilder<> builder(&*function.getEntryBlock().getFirstInsertionPt());
  llvm::AllocaInst* kept = builder.CreateAlloca(type);
  builder.CreateStore(pass.LoadField(builder, offset, type), kept);
  for (llvm::Instruction* use : uses) {
    use->setOperand(llvm::isa<llvm::StoreInst>(use) ? llvm::StoreInst::getPointerOperandIndex()
                                                    : llvm::LoadInst::getPointerOperandIndex(),
                    kept);
  }
  for (llvm::Instruction* place : places) {
    builder.SetInsertPoint(place);
    pass.StoreField(builder, offset, builder.CreateLoad(type, kept));
    if (place->isTerminator()) continue;
    builder.SetInsertPoint(place->getNextNode());
    builder.CreateStore(pass.LoadField(builder, offset, type), kept);
  }
  registers.push_back(kept);
}

}  // namespace

void KeepContextInRegisters(KernelPass& pass) {
  for (llvm::Function* function : pass.functions) {
    const std::vector<llvm::Instruction*> places = WhereOthersLook(*function);
    std::vector<llvm::AllocaInst*> registers;
    KeepInRegister(pass, *function, offsetof(ThreadContext, address_cursor), pass.pointer(), places, registers);
    KeepInRegister(pass, *function, offsetof(ThreadContext, decision_cursor), pass.pointer(), places, registers);
    KeepInRegister(pass, *function, offsetof(ThreadContext, instructions), pass.i64(), places, registers);
    llvm::DominatorTree dominators(*function);
    llvm::PromoteMemToReg(registers, dominators);
  }
}

}  // namespace heddle::tracegen
