// Loops in which a thread waits for another one: spins on a flag, a lock, a counter. An iteration that leaves
// everything as it was which decides how the loop goes on, and changes no memory, will be followed by the same one
// until somebody else changes memory. Generated code notices such an iteration exactly, and tells the runtime.
#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "tracegen/instrument/kernel_pass.h"
#include "tracegen/program/link.h"
#include "tracegen/program/ptx_source/windows.h"

namespace heddle::tracegen {
namespace {

using llvm::dyn_cast;
using llvm::isa;

// Code generation sinks address computations into loops: a value counts as invariant if it is computed, without memory,
// from what comes from outside.
bool IsInvariant(const llvm::Value* value, const llvm::Loop& loop, int depth = 0) {
  const auto* instruction = dyn_cast<llvm::Instruction>(value);
  if (instruction == nullptr || !loop.contains(instruction)) return true;
  if (depth > 16) return false;
  if (!isa<llvm::GetElementPtrInst, llvm::CastInst, llvm::BinaryOperator, llvm::SelectInst>(instruction)) return false;
  return std::all_of(instruction->op_begin(), instruction->op_end(),
                     [&](const llvm::Use& operand) { return IsInvariant(operand.get(), loop, depth + 1); });
}

// A counter or a pointer that is different in every iteration: the loop ends, or waits no longer than it counts.
bool Advances(const llvm::PHINode& phi, const llvm::Value* next) {
  const auto nonzero = [](const llvm::Value* value) {
    const auto* constant = dyn_cast<llvm::ConstantInt>(value);
    return constant != nullptr && !constant->isZero();
  };
  const auto is_phi = [&phi](const llvm::Value* value) {
    const auto* narrow = dyn_cast<llvm::TruncInst>(value);  // of what was widened for an address
    const auto* wide = narrow != nullptr ? dyn_cast<llvm::CastInst>(narrow->getOperand(0)) : nullptr;
    return value == &phi || (wide != nullptr && wide->getOperand(0) == &phi && narrow->getType() == phi.getType());
  };
  if (const auto* sum = dyn_cast<llvm::BinaryOperator>(next)) {
    if (sum->getOpcode() != llvm::Instruction::Add && sum->getOpcode() != llvm::Instruction::Sub) return false;
    return (is_phi(sum->getOperand(0)) && nonzero(sum->getOperand(1))) ||
           (is_phi(sum->getOperand(1)) && nonzero(sum->getOperand(0)));
  }
  const auto* step = dyn_cast<llvm::GetElementPtrInst>(next);
  return step != nullptr && step->getPointerOperand() == &phi && step->getNumIndices() == 1 &&
         nonzero(step->getOperand(1));
}

// The access whose result decides how a loop goes on.
bool Polls(const KernelPass& pass, const llvm::Instruction& instruction, const llvm::Loop& loop) {
  if (!loop.contains(&instruction)) return false;
  const auto links = pass.links.accesses.find(&instruction);
  if (links == pass.links.accesses.end() || links->second.empty()) return false;
  if (const auto* load = dyn_cast<llvm::LoadInst>(&instruction)) return IsInvariant(load->getPointerOperand(), loop);
  return isa<llvm::AtomicRMWInst, llvm::AtomicCmpXchgInst>(instruction);
}

// Everything within the loop that what its branches do depends on, or those alone that leave it; phis of the head are
// its state.
struct Control {
  llvm::DenseSet<const llvm::Value*> slice;
  std::vector<llvm::PHINode*> phis;
};

Control ControlOf(const llvm::Loop& loop, bool exits_only) {
  Control control;
  std::vector<llvm::Value*> work;
  for (llvm::BasicBlock* block : loop.blocks()) {
    llvm::Instruction* terminator = block->getTerminator();
    if (exits_only && !loop.isLoopExiting(block)) continue;
    if (auto* branch = dyn_cast<llvm::BranchInst>(terminator); branch != nullptr && branch->isConditional()) {
      work.push_back(branch->getCondition());
    } else if (auto* choice = dyn_cast<llvm::SwitchInst>(terminator)) {
      work.push_back(choice->getCondition());
    }
  }
  while (!work.empty()) {
    auto* instruction = dyn_cast<llvm::Instruction>(work.back());
    work.pop_back();
    if (instruction == nullptr || !loop.contains(instruction) || !control.slice.insert(instruction).second) continue;
    auto* phi = dyn_cast<llvm::PHINode>(instruction);
    if (phi != nullptr && phi->getParent() == loop.getHeader()) control.phis.push_back(phi);
    for (llvm::Use& operand : instruction->operands()) work.push_back(operand.get());
  }
  return control;
}

// Whether the instruction tries to take a lock, the same one in every iteration: an atomic operation that puts the same
// value into the same place each time, so that once it has failed, somebody else must change that place. One that could
// leave nothing behind only looks.
bool TriesToLock(const llvm::Instruction& instruction, const llvm::Loop& loop) {
  const auto all_invariant = [&] {
    return std::all_of(instruction.op_begin(), instruction.op_end(),
                       [&](const llvm::Use& operand) { return IsInvariant(operand.get(), loop); });
  };
  if (const auto* exchange = dyn_cast<llvm::AtomicCmpXchgInst>(&instruction)) {
    return all_invariant() && exchange->getCompareOperand() != exchange->getNewValOperand();
  }
  if (const auto* update = dyn_cast<llvm::AtomicRMWInst>(&instruction)) {
    const auto* value = dyn_cast<llvm::ConstantInt>(update->getValOperand());
    return all_invariant() &&
           (update->getOperation() == llvm::AtomicRMWInst::Xchg ||
            (update->getOperation() == llvm::AtomicRMWInst::Or && value != nullptr && !value->isZero()));
  }
  return false;
}

// Attempts to take a lock, and loads, on which alone it depends whether the loop ends.
void FindAwaited(KernelPass& pass, const llvm::Loop& loop) {
  const Control control = ControlOf(loop, /*exits_only=*/true);
  llvm::SmallVector<llvm::BasicBlock*, 4> latches;
  loop.getLoopLatches(latches);
  for (const llvm::PHINode* phi : control.phis) {
    for (llvm::BasicBlock* latch : latches) {
      if (Advances(*phi, phi->getIncomingValueForBlock(latch))) return;  // it gives up some time
    }
  }
  std::vector<uint32_t>& awaited = pass.result->awaited;
  for (llvm::BasicBlock* block : loop.blocks()) {
    for (const llvm::Instruction& instruction : *block) {
      if (!control.slice.contains(&instruction) || !Polls(pass, instruction, loop)) continue;
      const uint32_t pc = pass.links.accesses.find(&instruction)->second.front().instruction;
      const bool loads = pass.unit.program.instruction(static_cast<int>(pc)).op() == trace::v1::OP_LOAD;
      if (!loads && !TriesToLock(instruction, loop)) continue;
      if (std::find(awaited.begin(), awaited.end(), pc) == awaited.end()) awaited.push_back(pc);
    }
  }
}

llvm::Instruction* FindPoll(const KernelPass& pass, const llvm::Loop& loop, const Control& control) {
  for (llvm::BasicBlock* block : loop.blocks()) {
    for (llvm::Instruction& instruction : *block) {
      if (control.slice.contains(&instruction) && Polls(pass, instruction, loop)) return &instruction;
    }
  }
  return nullptr;
}

// A load, wherever from, on which it depends how the loop goes on, and which the compiler must leave where it is: that
// is how programs read what others write. Other loops read memory at places that differ, too; none of them waits.
llvm::Instruction* FindVolatileLoad(const KernelPass& pass, const llvm::Loop& loop, const Control& control) {
  for (llvm::BasicBlock* block : loop.blocks()) {
    for (llvm::Instruction& instruction : *block) {
      auto* load = dyn_cast<llvm::LoadInst>(&instruction);
      if (load == nullptr || !(load->isVolatile() || load->isAtomic()) || !control.slice.contains(load)) continue;
      const auto links = pass.links.accesses.find(load);
      if (links != pass.links.accesses.end() && !links->second.empty()) return load;
    }
  }
  return nullptr;
}

// Whether a barrier of the whole block is passed in every iteration.
bool MeetsBlock(const llvm::Loop& loop, const std::vector<llvm::Instruction*>& latches,
                const llvm::DominatorTree& dominators) {
  const auto is_of_block = [](const llvm::Instruction& instruction) {
    const auto* call = dyn_cast<llvm::CallInst>(&instruction);
    return call != nullptr && call->getCalledFunction() != nullptr &&
           call->getCalledFunction()->getName().starts_with("llvm.nvvm.barrier0");
  };
  for (const llvm::BasicBlock* block : loop.blocks()) {
    for (const llvm::Instruction& instruction : *block) {
      if (is_of_block(instruction) && std::all_of(latches.begin(), latches.end(), [&](const llvm::Instruction* latch) {
            return dominators.dominates(&instruction, latch);
          })) {
        return true;
      }
    }
  }
  return false;
}

void FindInLoop(KernelPass& pass, const llvm::Loop& loop, const llvm::DominatorTree& dominators) {
  const Control control = ControlOf(loop, /*exits_only=*/false);
  PollingLoop found;
  found.head = loop.getHeader();
  found.poll = FindPoll(pass, loop, control);
  if (found.poll == nullptr) {
    found.poll = FindVolatileLoad(pass, loop, control);
    found.several_places = true;
  }
  if (found.poll == nullptr) return;
  llvm::SmallVector<llvm::BasicBlock*, 4> latches;
  loop.getLoopLatches(latches);
  found.poll_every_time = !found.several_places;
  for (llvm::BasicBlock* latch : latches) {
    llvm::Instruction* terminator = latch->getTerminator();
    if (!isa<llvm::BranchInst>(terminator)) return;
    found.latches.push_back(terminator);
    found.poll_every_time = found.poll_every_time && dominators.dominates(found.poll, terminator);
  }
  found.meets_block = MeetsBlock(loop, found.latches, dominators);
  llvm::SmallVector<llvm::Loop::Edge, 8> exits;
  loop.getExitEdges(exits);
  for (auto [from, to] : exits) {
    found.exits.emplace_back(const_cast<llvm::BasicBlock*>(from)->getTerminator(), const_cast<llvm::BasicBlock*>(to));
  }
  for (llvm::PHINode* phi : control.phis) {
    const llvm::Type* type = phi->getType();
    if (!type->isIntegerTy() && !type->isPointerTy() && !type->isFloatingPointTy()) return;
    bool changes = false;
    bool always_advances = true;
    for (llvm::BasicBlock* latch : latches) {
      const llvm::Value* next = phi->getIncomingValueForBlock(latch);
      always_advances = always_advances && Advances(*phi, next);
      changes = changes || next != phi;
    }
    if (always_advances) return;
    if (changes) found.state.push_back(phi);
  }
  found.first_access = ~uint32_t{0};
  for (llvm::BasicBlock* block : loop.blocks()) {
    for (const llvm::Instruction& instruction : *block) {
      const auto links = pass.links.accesses.find(&instruction);
      if (links == pass.links.accesses.end()) continue;
      for (const AccessLink& link : links->second) {
        found.first_access = std::min(found.first_access, link.instruction);
        found.last_access = std::max(found.last_access, link.instruction);
      }
    }
  }
  pass.polling_loops.push_back(std::move(found));
}

// What may change memory or read a clock, after which the next iteration may differ.
bool MayChange(const llvm::Instruction& instruction) {
  if (isa<llvm::StoreInst, llvm::AtomicRMWInst, llvm::AtomicCmpXchgInst>(instruction)) return true;
  const auto* call = dyn_cast<llvm::CallInst>(&instruction);
  if (call == nullptr) return false;
  const llvm::Function* callee = call->getCalledFunction();
  if (callee == nullptr || !callee->isDeclaration()) return false;
  const llvm::StringRef name = callee->getName();
  if (name.starts_with(kMatrixFunction)) return name.contains(".store.") || name.contains("stmatrix.");
  if (!callee->isIntrinsic()) return SystemCallMicroOps(name.str()).has_value();
  return isa<llvm::MemIntrinsic>(call) || name.contains(".clock") || name.contains("globaltimer") ||
         name.starts_with("llvm.nvvm.sust.");
}

class Waits {
 public:
  explicit Waits(KernelPass& pass) : pass_(pass), layout_(pass.module->getDataLayout()) {}

  void Change(llvm::Instruction* instruction) {
    llvm::IRBuilder<> builder(instruction);
    const Access access = AccessOf(*instruction);
    if (access.address == nullptr || access.bytes == 0 || access.bytes > 16) {
      builder.SetInsertPoint(instruction->getNextNode());
      Count(builder, builder.getInt64(1), builder.getTrue(), access);
      return;
    }
    // One thread runs at a time, so what memory holds before and after tells whether the instruction has changed it.
    llvm::Type* type = builder.getIntNTy(static_cast<unsigned>(access.bytes * 8));
    llvm::Value* before = builder.CreateAlignedLoad(type, access.address, llvm::Align(1), /*isVolatile=*/true);
    builder.SetInsertPoint(instruction->getNextNode());
    llvm::Value* after = builder.CreateAlignedLoad(type, access.address, llvm::Align(1), /*isVolatile=*/true);
    llvm::Value* number = Number(builder, access.address);
    llvm::Value* delta = builder.CreateSub(Mixed(builder, number, after), Mixed(builder, number, before));
    Count(builder, delta, builder.CreateICmpNE(before, after), access);
  }

  void Loop(const PollingLoop& loop) {
    WaitSite site;
    site.site = pass_.SiteOf(*loop.poll);
    site.instruction = pass_.links.accesses.find(loop.poll)->second.front().instruction;
    site.first_access = loop.first_access;
    site.last_access = loop.last_access;
    site.meets_block = loop.meets_block;
    llvm::IRBuilder<> builder(&*loop.head->getFirstInsertionPt());
    llvm::Value* progress = pass_.LoadField(builder, offsetof(ThreadContext, progress), pass_.i64());
    for (llvm::Instruction* latch : loop.latches) Latch(loop, *latch, progress);
    pass_.result->waits.push_back(std::move(site));
  }

  // After all loops: behind an exit the thread waits no longer.
  void Exits(const PollingLoop& loop, uint32_t number) {
    for (const auto& [terminator, to] : loop.exits) {
      llvm::IRBuilder<> builder(&*EdgeBlock(*terminator, to)->getFirstInsertionPt());
      StopWaiting(builder, number, builder.getTrue());
      if (!loop.several_places) continue;
      pass_.CallRuntime(builder, kLeaveLoopFunction, builder.getVoidTy(),
                        {KernelPass::Context(builder), builder.getInt32(number)});
    }
  }

 private:
  struct Access {
    llvm::Value* address = nullptr;
    uint64_t bytes = 0;
  };

  Access AccessOf(llvm::Instruction& instruction) {
    const auto size = [this](llvm::Type* type) { return layout_.getTypeStoreSize(type).getFixedValue(); };
    if (auto* store = dyn_cast<llvm::StoreInst>(&instruction)) {
      return {store->getPointerOperand(), size(store->getValueOperand()->getType())};
    }
    if (auto* update = dyn_cast<llvm::AtomicRMWInst>(&instruction)) {
      return {update->getPointerOperand(), size(update->getType())};
    }
    if (auto* exchange = dyn_cast<llvm::AtomicCmpXchgInst>(&instruction)) {
      return {exchange->getPointerOperand(), size(exchange->getNewValOperand()->getType())};
    }
    return {};
  }

  llvm::Value* Number(llvm::IRBuilder<>& builder, llvm::Value* address) {
    return address == nullptr ? builder.getInt64(0) : builder.CreatePtrToInt(address, pass_.i64());
  }

  // A number or pointer as what can be compared bit by bit.
  llvm::Value* Bits(llvm::IRBuilder<>& builder, llvm::Value* value) {
    llvm::Type* type = value->getType();
    if (type->isPointerTy()) return builder.CreatePtrToInt(value, pass_.i64());
    return type->isFloatingPointTy() ? builder.CreateBitCast(value, builder.getIntNTy(type->getScalarSizeInBits()))
                                     : value;
  }

  // A number that stands for memory holding `value` at an address. The sum over all of memory stands for its contents:
  // it is what it was when everything has been put back, as after a lock that was taken and given back.
  llvm::Value* Mixed(llvm::IRBuilder<>& builder, llvm::Value* address, llvm::Value* value) {
    constexpr uint64_t kFactors[] = {0x9e3779b97f4a7c15, 0xd6e8feb86659fd93, 0xa0761d6478bd642f};
    llvm::Value* low = builder.CreateZExtOrTrunc(value, pass_.i64());
    if (value->getType()->getIntegerBitWidth() > 64) {
      llvm::Value* high = builder.CreateTrunc(builder.CreateLShr(value, 64), pass_.i64());
      low = builder.CreateXor(low, builder.CreateMul(high, builder.getInt64(kFactors[0])));
    }
    llvm::Value* mixed = builder.CreateXor(low, builder.CreateMul(address, builder.getInt64(kFactors[0])));
    for (uint64_t factor : {kFactors[1], kFactors[2]}) {
      mixed = builder.CreateMul(mixed, builder.getInt64(factor));
      mixed = builder.CreateXor(mixed, builder.CreateLShr(mixed, 29));
    }
    return mixed;
  }

  void Count(llvm::IRBuilder<>& builder, llvm::Value* delta, llvm::Value* changed, const Access& access) {
    llvm::Value* progress = pass_.LoadField(builder, offsetof(ThreadContext, progress), pass_.i64());
    pass_.StoreField(builder, offsetof(ThreadContext, progress), builder.CreateAdd(progress, delta));
    if (access.address == nullptr) return;
    llvm::Value* watches = pass_.LoadField(builder, offsetof(ThreadContext, watches), pass_.i64());
    llvm::Value* told = builder.CreateAnd(changed, builder.CreateIsNotNull(watches));
    llvm::Instruction* next = &*builder.GetInsertPoint();
    builder.SetInsertPoint(llvm::SplitBlockAndInsertIfThen(told, next, /*Unreachable=*/false, pass_.unlikely()));
    pass_.CallRuntime(builder, kWroteFunction, builder.getVoidTy(),
                      {KernelPass::Context(builder), Number(builder, access.address), builder.getInt64(access.bytes)});
  }

  // On the edges from the latch to the head: has the iteration left everything as it was?
  void Latch(const PollingLoop& loop, llvm::Instruction& latch, llvm::Value* progress_at_head) {
    llvm::SmallVector<llvm::Value*, 4> next;
    for (llvm::PHINode* phi : loop.state) next.push_back(phi->getIncomingValueForBlock(latch.getParent()));
    llvm::BasicBlock* edge = EdgeBlock(latch, loop.head);
    llvm::IRBuilder<> builder(edge->getTerminator());
    llvm::Value* progress = pass_.LoadField(builder, offsetof(ThreadContext, progress), pass_.i64());
    const auto number = static_cast<uint32_t>(pass_.result->waits.size());
    if (loop.several_places) {
      llvm::Value* state = progress;
      for (llvm::Value* value : next) state = Mixed(builder, state, Bits(builder, value));
      pass_.CallRuntime(builder, kIterateFunction, builder.getVoidTy(),
                        {KernelPass::Context(builder), builder.getInt32(number), state});
      return;
    }
    llvm::Value* same = builder.CreateICmpEQ(progress, progress_at_head);
    for (size_t i = 0; i < loop.state.size(); ++i) {
      same = builder.CreateAnd(same, builder.CreateICmpEQ(Bits(builder, loop.state[i]), Bits(builder, next[i])));
    }
    StopWaiting(builder, number, builder.CreateNot(same));
    builder.SetInsertPoint(
        llvm::SplitBlockAndInsertIfThen(same, edge->getTerminator(), /*Unreachable=*/false, pass_.unlikely()));
    const Access polled = loop.poll_every_time ? PolledAt(*loop.poll) : Access{};
    pass_.CallRuntime(builder, kSpinFunction, builder.getVoidTy(),
                      {KernelPass::Context(builder), builder.getInt32(number), Number(builder, polled.address)});
  }

  // A block of its own on the edges from a terminator to a block, always the same.
  llvm::BasicBlock* EdgeBlock(llvm::Instruction& terminator, llvm::BasicBlock* to) {
    llvm::BasicBlock*& edge = edges_[{&terminator, to}];
    if (edge != nullptr) return edge;
    llvm::BasicBlock* from = terminator.getParent();
    edge = llvm::BasicBlock::Create(pass_.context(), "", from->getParent(), to);
    llvm::BranchInst::Create(to, edge);
    unsigned edges = 0;
    for (unsigned i = 0; i < terminator.getNumSuccessors(); ++i) {
      if (terminator.getSuccessor(i) != to) continue;
      terminator.setSuccessor(i, edge);
      ++edges;
    }
    for (llvm::PHINode& phi : to->phis()) {
      for (unsigned extra = edges; extra > 1; --extra) phi.removeIncomingValue(from, /*DeletePHIIfEmpty=*/false);
      phi.replaceIncomingBlockWith(from, edge);
    }
    return edge;
  }

  void StopWaiting(llvm::IRBuilder<>& builder, uint32_t number, llvm::Value* condition) {
    llvm::Value* waiting = pass_.LoadField(builder, offsetof(ThreadContext, waiting), pass_.i32());
    llvm::Value* here = builder.CreateAnd(condition, builder.CreateICmpEQ(waiting, builder.getInt32(number + 1)));
    pass_.StoreField(builder, offsetof(ThreadContext, waiting),
                     builder.CreateSelect(here, builder.getInt32(0), waiting));
  }

  Access PolledAt(llvm::Instruction& poll) {
    if (auto* load = dyn_cast<llvm::LoadInst>(&poll)) return {load->getPointerOperand(), 0};
    return AccessOf(poll);
  }

  KernelPass& pass_;
  const llvm::DataLayout& layout_;
  std::map<std::pair<llvm::Instruction*, llvm::BasicBlock*>, llvm::BasicBlock*> edges_;
};

}  // namespace

void FindWaits(KernelPass& pass) {
  for (llvm::Function* function : pass.functions) {
    const llvm::DominatorTree dominators(*function);
    const llvm::LoopInfo loops(dominators);
    for (const llvm::Loop* loop : loops.getLoopsInPreorder()) {
      FindInLoop(pass, *loop, dominators);
      FindAwaited(pass, *loop);
    }
  }
  if (pass.polling_loops.empty()) return;
  for (llvm::Function* function : pass.functions) {
    for (llvm::Instruction& instruction : llvm::instructions(*function)) {
      if (MayChange(instruction)) pass.changes.push_back(&instruction);
    }
  }
}

void InsertWaits(KernelPass& pass) {
  Waits waits(pass);
  for (llvm::Instruction* change : pass.changes) waits.Change(change);
  for (const PollingLoop& loop : pass.polling_loops) waits.Loop(loop);
  for (uint32_t i = 0; i < pass.polling_loops.size(); ++i) waits.Exits(pass.polling_loops[i], i);
}

}  // namespace heddle::tracegen
