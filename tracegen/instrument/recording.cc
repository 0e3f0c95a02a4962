// Where generated code writes down what a thread does. One record per IR block: its addresses in PTX order, and one
// byte for its decision. Counting happens on the side and is compared with what the writer derives from the decisions.
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "llvm/ADT/DepthFirstIterator.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "tracegen/instrument/kernel_pass.h"
#include "tracegen/program/link.h"
#include "tracegen/program/operand_marker.h"
#include "tracegen/program/ptx_source/device_operation.h"
#include "traces/base/status_macros.h"
#include "traces/format/program/kernel_name.h"
#include "traces/format/program/operands.h"

namespace heddle::tracegen {
namespace {

using llvm::dyn_cast;

// Targets of retreating edges: every cycle of the control flow passes through one of them.
llvm::DenseSet<llvm::BasicBlock*> LoopHeads(llvm::Function& function) {
  llvm::SmallVector<std::pair<const llvm::BasicBlock*, const llvm::BasicBlock*>, 8> edges;
  llvm::FindFunctionBackedges(function, edges);
  llvm::DenseSet<llvm::BasicBlock*> heads;
  for (auto [from, to] : edges) heads.insert(const_cast<llvm::BasicBlock*>(to));
  return heads;
}

// Operand that holds the address which PTX instruction `linked` accesses for IR instruction `access`.
llvm::Value* AddressOperand(llvm::Instruction& access, const trace::v1::Instruction& linked) {
  if (auto* load = dyn_cast<llvm::LoadInst>(&access)) return load->getPointerOperand();
  if (auto* store = dyn_cast<llvm::StoreInst>(&access)) return store->getPointerOperand();
  if (auto* update = dyn_cast<llvm::AtomicRMWInst>(&access)) return update->getPointerOperand();
  if (auto* exchange = dyn_cast<llvm::AtomicCmpXchgInst>(&access)) return exchange->getPointerOperand();
  if (auto* transfer = dyn_cast<llvm::MemTransferInst>(&access)) {
    return linked.op() == trace::v1::OP_LOAD ? transfer->getRawSource() : transfer->getRawDest();
  }
  if (auto* call = dyn_cast<llvm::CallBase>(&access)) {
    for (llvm::Use& argument : call->args()) {
      if (argument->getType()->isPointerTy()) return argument.get();
    }
  }
  return nullptr;
}

// Of a collective instruction: what its column `column` holds.
const trace::v1::Operand& OperandOfColumn(const trace::v1::Instruction& linked, size_t column) {
  int at = 0;
  while (linked.operand(at).constant() || column-- > 0) ++at;
  return linked.operand(at);
}

// The address as the trace shows it: local addresses lose the thread's offset, so that they are the same for every
// thread.
llvm::Value* RecordedAddress(const KernelPass& pass, llvm::IRBuilder<>& builder, llvm::Value* address) {
  unsigned space = address->getType()->getPointerAddressSpace();
  llvm::Value* number = builder.CreatePtrToInt(address, builder.getInt64Ty());
  if (!pass.result->uses_local || (space != 0 && space != 5)) return number;
  llvm::Value* masked = builder.CreateAnd(number, ~kLocalThreadMask);
  if (space == 5) return masked;
  constexpr unsigned kWindowBits = 36;
  static_assert(kLocalThreads * kLocalStride == uint64_t{1} << kWindowBits &&
                kLocalBase % (uint64_t{1} << kWindowBits) == 0);
  llvm::Value* window = builder.CreateLShr(number, kWindowBits);
  return builder.CreateSelect(builder.CreateICmpEQ(window, builder.getInt64(kLocalBase >> kWindowBits)), masked,
                              number);
}

// Looks once per block whether one of its addresses is no multiple of the access's size: at the last access, when all
// addresses are recorded.
class AlignmentCheck {
 public:
  explicit AlignmentCheck(KernelPass& pass) : pass_(pass) {}

  void Add(llvm::IRBuilder<>& builder, llvm::Value* address, uint64_t bytes) {
    if (bytes < 2 || !std::has_single_bit(bytes)) return;
    llvm::Value*& all = addresses_[static_cast<size_t>(std::countr_zero(bytes))];
    all = all == nullptr ? address : builder.CreateOr(all, address);
  }

  void Finish(llvm::Instruction* before, llvm::Value* base) {
    llvm::IRBuilder<> builder(before);
    llvm::Value* wrong = nullptr;
    for (size_t i = 0; i < addresses_.size(); ++i) {
      if (addresses_[i] == nullptr) continue;
      llvm::Value* low = builder.CreateAnd(addresses_[i], (uint64_t{1} << i) - 1);
      wrong = wrong == nullptr ? low : builder.CreateOr(wrong, low);
    }
    if (wrong == nullptr) return;
    if (auto* known = llvm::dyn_cast<llvm::Constant>(wrong); known != nullptr && known->isNullValue()) return;
    llvm::Instruction* slow =
        llvm::SplitBlockAndInsertIfThen(builder.CreateIsNotNull(wrong), before, /*Unreachable=*/true, pass_.unlikely());
    builder.SetInsertPoint(slow);
    pass_.CallRuntime(builder, kMisalignedFunction, builder.getVoidTy(), {KernelPass::Context(builder), base});
  }

 private:
  KernelPass& pass_;
  std::array<llvm::Value*, 16> addresses_ = {};  // by log2 of the access size: the addresses, or-ed
};

// The processor would fault on a wide access that is not aligned before the check of its block comes.
void LowerAlignment(llvm::Instruction& instruction) {
  const llvm::Align kLargest(8);
  if (auto* load = dyn_cast<llvm::LoadInst>(&instruction)) load->setAlignment(std::min(load->getAlign(), kLargest));
  if (auto* store = dyn_cast<llvm::StoreInst>(&instruction)) store->setAlignment(std::min(store->getAlign(), kLargest));
  if (auto* transfer = dyn_cast<llvm::MemTransferInst>(&instruction)) {
    transfer->setSourceAlignment(std::min(transfer->getSourceAlign().valueOrOne(), kLargest));
  }
  if (auto* write = dyn_cast<llvm::MemIntrinsic>(&instruction)) {
    write->setDestAlignment(std::min(write->getDestAlign().valueOrOne(), kLargest));
  }
}

// Whether other threads may see what the instruction does to memory.
bool IsCommon(const trace::v1::Instruction& access) {
  return access.space() == trace::v1::SPACE_SHARED || access.space() == trace::v1::SPACE_GLOBAL ||
         access.space() == trace::v1::SPACE_GENERIC;
}

// RecordedBlock::access_constants of an access of so many bytes.
uint32_t ConstantOf(KernelPass& pass, const llvm::Instruction& access, uint64_t bytes) {
  const auto* store = dyn_cast<llvm::StoreInst>(&access);
  if (store == nullptr) return 0;
  const auto* constant = dyn_cast<llvm::Constant>(store->getValueOperand());
  if (constant == nullptr || pass.module->getDataLayout().getTypeStoreSize(constant->getType()) != bytes) return 0;
  constexpr uint32_t kZero = 1;  // of any size
  if (constant->isNullValue()) return kZero;
  uint64_t bits = 0;
  if (const auto* integer = dyn_cast<llvm::ConstantInt>(constant); integer != nullptr && bytes <= 8) {
    bits = integer->getZExtValue();
  } else if (const auto* number = dyn_cast<llvm::ConstantFP>(constant); number != nullptr && bytes <= 8) {
    bits = number->getValueAPF().bitcastToAPInt().getZExtValue();
  } else {
    return 0;
  }
  const auto next = static_cast<uint32_t>(kZero + 1 + pass.constants.size());
  return pass.constants.try_emplace({bytes, bits}, next).first->second;
}

// Markers are for the recorder alone.
void EraseMarkers(llvm::Function& function) {
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    if (IsOperandMarker(instruction)) instruction.eraseFromParent();
  }
}

// What the address of an access has to be a multiple of. Rows of fragments are multiples of 16 bytes apart.
uint64_t AlignmentOf(const trace::v1::Instruction& access) {
  constexpr uint32_t kMostOfFragments = 16;
  return access.has_matrix() ? std::min(access.access_bytes(), kMostOfFragments) : access.access_bytes();
}

class Recorder {
 public:
  explicit Recorder(KernelPass& pass) : pass_(pass) {}

  absl::Status Function(llvm::Function& function) {
    llvm::DenseSet<llvm::BasicBlock*> heads = LoopHeads(function);
    std::vector<llvm::BasicBlock*> blocks;
    for (llvm::BasicBlock& block : function) blocks.push_back(&block);
    uint64_t addresses = 0;
    uint64_t decisions = 0;
    for (llvm::BasicBlock* block : blocks) {
      bool looks = heads.contains(block) || block == &function.getEntryBlock();
      HEDDLE_RETURN_IF_ERROR(Block(*block, looks));
      addresses += pass_.links.blocks.lookup(block).accesses;
      decisions += 2;  // of a call through a pointer and of the block's end
    }
    pass_.result->step_addresses = std::max(pass_.result->step_addresses, addresses);
    pass_.result->step_decisions = std::max(pass_.result->step_decisions, decisions);
    return absl::OkStatus();
  }

  // Code that does not record yields all the same, or a thread that waits for another one would wait for ever. Loop
  // heads and entries stand for what runs between them, so the count stays below the recorded one.
  void FunctionWithoutRecord(llvm::Function& function) {
    llvm::DenseSet<llvm::BasicBlock*> looks = LoopHeads(function);
    looks.insert(&function.getEntryBlock());
    std::vector<llvm::BasicBlock*> blocks;
    std::vector<llvm::Instruction*> accesses;
    for (llvm::BasicBlock& block : function) {
      if (looks.contains(&block)) blocks.push_back(&block);
      for (llvm::Instruction& instruction : block) {
        if (pass_.links.accesses.contains(&instruction)) accesses.push_back(&instruction);
      }
    }
    for (llvm::Instruction* access : accesses) StopBefore(access, nullptr);
    for (llvm::BasicBlock* block : blocks) {
      RecordedBlock place;
      for (llvm::Instruction& instruction : *block) {
        if (place.site.line == 0) place.site = pass_.SiteOf(instruction);
      }
      pass_.result->blocks.push_back(std::move(place));
      llvm::Instruction* first = &*block->getFirstInsertionPt();
      llvm::Instruction* slow = LookAtLimits(first);
      llvm::IRBuilder<> builder(slow->getPrevNode());
      pass_.StoreField(builder, offsetof(ThreadContext, own.location),
                       builder.getInt32(static_cast<uint32_t>(pass_.result->blocks.size())));
      builder.SetInsertPoint(slow);
      pass_.StoreField(builder, offsetof(ThreadContext, own.location),
                       builder.getInt32(0));  // where a fault is, is unknown
      builder.SetInsertPoint(first);
      llvm::Value* count = pass_.LoadField(builder, offsetof(ThreadContext, instructions), pass_.i64());
      uint64_t instructions = std::max(uint32_t{1}, pass_.links.blocks.lookup(block).instructions);
      pass_.StoreField(builder, offsetof(ThreadContext, instructions),
                       builder.CreateAdd(count, builder.getInt64(instructions)));
    }
  }

 private:
  // Lockstep: lets the other threads of the warp come as far as the access. Returns the block's record, which may have
  // moved meanwhile (null if there is none).
  llvm::Value* StopBefore(llvm::Instruction* access, llvm::Value* base) {
    if (!pass_.lockstep || MemoryOperandOf(*access).is_image) return base;
    const auto& links = pass_.links.accesses.find(access)->second;
    const uint32_t pc = links.front().instruction;
    const auto& linked = pass_.unit.program.instruction(static_cast<int>(pc));
    // A marker of the last operands alone is not the access.
    const bool besides = IsOperandMarker(*access) && links.size() < trace::CountColumns(linked);
    if (!IsCommon(linked) || besides) return base;
    llvm::IRBuilder<> builder(access);
    if (base != nullptr) pass_.StoreField(builder, offsetof(ThreadContext, own.block_base), base);
    pass_.CallRuntime(builder, kLockstepFunction, builder.getVoidTy(),
                      {KernelPass::Context(builder), builder.getInt32(pc)});
    return base == nullptr ? nullptr
                           : pass_.LoadField(builder, offsetof(ThreadContext, own.block_base), pass_.pointer());
  }

  absl::Status Block(llvm::BasicBlock& block, bool looks_at_limits) {
    auto found = pass_.links.blocks.find(&block);
    llvm::Instruction* first = &*block.getFirstInsertionPt();
    if (found == pass_.links.blocks.end()) {
      return absl::InternalError(absl::StrCat("kernel '", trace::BriefKernelName(pass_.result->name),
                                              "': a block of function '", block.getParent()->getName().str(),
                                              "' has no link to PTX"));
    }
    const BlockLink link = found->second;
    std::vector<llvm::Instruction*> body;
    for (llvm::Instruction* i = first; i != nullptr; i = i->getNextNode()) body.push_back(i);
    llvm::Instruction* terminator = block.getTerminator();
    RecordedBlock recorded;
    recorded.access_instructions.resize(link.accesses);
    recorded.access_bytes.resize(link.accesses);
    recorded.access_sites.resize(link.accesses);
    recorded.access_constants.resize(link.accesses);
    for (llvm::Instruction* i : body) {
      if (recorded.site.line == 0) recorded.site = pass_.SiteOf(*i);
    }
    const auto number = static_cast<uint32_t>(pass_.result->blocks.size() + 1);
    llvm::IRBuilder<> builder(first);
    if (looks_at_limits) {
      builder.SetInsertPoint(LookAtLimits(first)->getPrevNode());
      pass_.StoreField(builder, offsetof(ThreadContext, own.location), builder.getInt32(number));
      builder.SetInsertPoint(first);
    }
    if (link.instructions > 0) {
      llvm::Value* count = pass_.LoadField(builder, offsetof(ThreadContext, instructions), pass_.i64());
      pass_.StoreField(builder, offsetof(ThreadContext, instructions),
                       builder.CreateAdd(count, builder.getInt64(link.instructions)));
    }
    llvm::Value* base = nullptr;
    if (link.accesses > 0) {
      base = pass_.LoadField(builder, offsetof(ThreadContext, address_cursor), pass_.pointer());
      pass_.StoreField(builder, offsetof(ThreadContext, address_cursor),
                       builder.CreateConstInBoundsGEP1_64(pass_.i64(), base, link.accesses));
    }
    // Only what may fail, or wait, tells where it is.
    if (llvm::any_of(body, [](llvm::Instruction* i) { return i->mayReadOrWriteMemory() || i->mayHaveSideEffects(); })) {
      pass_.StoreField(builder, offsetof(ThreadContext, own.location), builder.getInt32(number));
    }
    llvm::Value* const start = base;
    uint32_t stored = 0;
    const llvm::Instruction* last = nullptr;
    for (llvm::Instruction* i : body) {
      if (pass_.links.accesses.contains(i)) last = i;
    }
    AlignmentCheck check(pass_);
    for (llvm::Instruction* i : body) {
      if (auto accesses = pass_.links.accesses.find(i); accesses != pass_.links.accesses.end()) {
        base = StopBefore(i, base);
        builder.SetInsertPoint(i);
        if (const MemoryOperand operand = MemoryOperandOf(*i); operand.is_image) {
          // The texel's address is known behind the fetch.
          if (accesses->second.size() != 1 || accesses->second[0].position >= link.accesses) {
            return pass_.Unsupported(*i, "recording of a texture access");
          }
          const AccessLink& access = accesses->second[0];
          builder.SetInsertPoint(i->getNextNode());
          builder.CreateStore(pass_.LoadField(builder, offsetof(ThreadContext, texel_address), pass_.i64()),
                              builder.CreateConstInBoundsGEP1_64(pass_.i64(), base, access.position));
          recorded.access_instructions[access.position] = access.instruction;
          recorded.access_sites[access.position] = pass_.SiteOf(*i);
          ++stored;
          if (i == last) check.Finish(i, base);
          continue;
        }
        if (IsOperandMarker(*i)) {
          HEDDLE_RETURN_IF_ERROR(StoreOperands(*i, accesses->second, base, check, recorded));
          stored += static_cast<uint32_t>(accesses->second.size());
          if (i == last) check.Finish(i, base);
          continue;
        }
        for (const AccessLink& access : accesses->second) {
          const auto& linked = pass_.unit.program.instruction(static_cast<int>(access.instruction));
          llvm::Value* operand = AddressOperand(*i, linked);
          if (operand == nullptr || access.position >= link.accesses) {
            return pass_.Unsupported(*i, absl::StrCat("recording of '", linked.mnemonic(), "'"));
          }
          llvm::Value* address = RecordedAddress(pass_, builder, operand);
          if (access.offset != 0) address = builder.CreateAdd(address, builder.getInt64(access.offset));
          builder.CreateStore(address, builder.CreateConstInBoundsGEP1_64(pass_.i64(), base, access.position));
          check.Add(builder, address, AlignmentOf(linked));
          recorded.access_bytes[access.position] = linked.access_bytes();
          recorded.access_instructions[access.position] = access.instruction;
          recorded.access_sites[access.position] = pass_.SiteOf(*i);
          recorded.access_constants[access.position] = ConstantOf(pass_, *i, linked.access_bytes());
          ++stored;
        }
        if (i == last) check.Finish(i, base);
      }
      if (std::vector<llvm::Function*> callees = pass_.CalleesOf(*i); !callees.empty()) CallDecision(*i, callees);
      if (base != nullptr && Suspends(*i)) {
        // The runtime may move the record while the thread is suspended.
        builder.SetInsertPoint(i);
        pass_.StoreField(builder, offsetof(ThreadContext, own.block_base), base);
        builder.SetInsertPoint(i->getNextNode());
        base = pass_.LoadField(builder, offsetof(ThreadContext, own.block_base), pass_.pointer());
      }
    }
    if (stored != link.accesses) {
      return absl::InternalError(absl::StrCat("kernel '", trace::BriefKernelName(pass_.result->name),
                                              "': a block near ", recorded.site.ToString(), " records ", stored,
                                              " accesses, but PTX has ", link.accesses));
    }
    if (!recorded.OneSite()) {
      builder.SetInsertPoint(llvm::cast<llvm::Instruction>(start)->getNextNode());
      pass_.StoreField(builder, offsetof(ThreadContext, own.block_base), start);
    }
    pass_.result->blocks.push_back(std::move(recorded));
    return Decision(terminator);
  }

  // What a marker hands over: its arguments are the operands of `links`, the last ones that the instruction has.
  absl::Status StoreOperands(llvm::Instruction& marker, llvm::ArrayRef<AccessLink> links, llvm::Value* base,
                             AlignmentCheck& check, RecordedBlock& recorded) {
    llvm::IRBuilder<> builder(&marker);
    auto& call = llvm::cast<llvm::CallInst>(marker);
    if (call.arg_size() != links.size()) return pass_.Unsupported(marker, "recording of these operands");
    for (unsigned k = 0; k < call.arg_size(); ++k) {
      const AccessLink& access = links[k];
      const auto& linked = pass_.unit.program.instruction(static_cast<int>(access.instruction));
      if (access.position >= recorded.access_bytes.size() || linked.operand_size() == 0 ||
          trace::CountColumns(linked) < links.size()) {
        return pass_.Unsupported(marker, absl::StrCat("recording of '", linked.mnemonic(), "'"));
      }
      llvm::Value* const value = call.getArgOperand(k);
      llvm::Value* const number = value->getType()->isPointerTy() ? RecordedAddress(pass_, builder, value)
                                                                  : builder.CreateZExt(value, pass_.i64());
      builder.CreateStore(number, builder.CreateConstInBoundsGEP1_64(pass_.i64(), base, access.position));
      const trace::v1::Operand& operand = OperandOfColumn(linked, trace::CountColumns(linked) - links.size() + k);
      check.Add(builder, number, operand.bytes());
      recorded.access_bytes[access.position] = operand.bytes();
      recorded.access_instructions[access.position] = access.instruction;
      recorded.access_sites[access.position] = pass_.SiteOf(marker);
    }
    return absl::OkStatus();
  }

  // A call through a pointer: the decision is the callee's number, and comes before what the callee records.
  void CallDecision(llvm::Instruction& call, const std::vector<llvm::Function*>& callees) {
    llvm::IRBuilder<> builder(&call);
    llvm::Value* pointer =
        builder.CreatePtrToInt(llvm::cast<llvm::CallInst>(call).getCalledOperand(), builder.getInt64Ty());
    llvm::Value* decision = builder.getInt8(0);
    for (size_t i = 1; i < callees.size(); ++i) {
      llvm::Value* hit = builder.CreateICmpEQ(pointer, builder.getInt64(pass_.PointerTo(callees[i]->getName())));
      decision = builder.CreateSelect(hit, builder.getInt8(static_cast<uint8_t>(i)), decision);
    }
    StoreDecision(builder, decision);
  }

  void StoreDecision(llvm::IRBuilder<>& builder, llvm::Value* decision) {
    llvm::Value* cursor = pass_.LoadField(builder, offsetof(ThreadContext, decision_cursor), pass_.pointer());
    builder.CreateStore(decision, cursor);
    pass_.StoreField(builder, offsetof(ThreadContext, decision_cursor),
                     builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), cursor, 1));
  }

  absl::Status Decision(llvm::Instruction* terminator) {
    auto found = pass_.links.edges.find(terminator);
    if (found == pass_.links.edges.end()) return absl::OkStatus();
    const auto& edges = found->second;
    if (edges.empty()) return absl::OkStatus();
    unsigned successors = terminator->getNumSuccessors();
    if (edges.size() != successors) {
      return absl::InternalError(absl::StrCat("kernel '", trace::BriefKernelName(pass_.result->name),
                                              "': a branch near ", pass_.SiteOf(*terminator).ToString(), " has ",
                                              successors, " successors, but ", edges.size(), " links"));
    }
    for (const EdgeLink& edge : edges) {
      if (edge.accesses != 0) return pass_.Unsupported(*terminator, "a memory access on a branch edge");
    }
    llvm::IRBuilder<> builder(terminator);
    llvm::Value* decision = nullptr;
    llvm::Value* count = nullptr;
    if (auto* branch = dyn_cast<llvm::BranchInst>(terminator)) {
      if (branch->isConditional()) {
        decision = Choose(builder, branch->getCondition(), edges[0].decision, edges[1].decision, builder.getInt8Ty());
        count = Choose(builder, branch->getCondition(), edges[0].instructions, edges[1].instructions, pass_.i64());
      } else {
        decision = builder.getInt8(edges[0].decision);
        count = builder.getInt64(edges[0].instructions);
      }
    } else if (auto* choice = dyn_cast<llvm::SwitchInst>(terminator)) {
      decision = builder.getInt8(edges[0].decision);
      count = builder.getInt64(edges[0].instructions);
      for (auto& option : choice->cases()) {
        llvm::Value* hit = builder.CreateICmpEQ(choice->getCondition(), option.getCaseValue());
        const EdgeLink& edge = edges[option.getSuccessorIndex()];
        decision = builder.CreateSelect(hit, builder.getInt8(edge.decision), decision);
        count = builder.CreateSelect(hit, builder.getInt64(edge.instructions), count);
      }
    } else {
      return absl::OkStatus();
    }
    if (edges[0].decides) StoreDecision(builder, decision);
    auto* fixed = dyn_cast<llvm::ConstantInt>(count);
    if (fixed == nullptr || !fixed->isZero()) {
      llvm::Value* old = pass_.LoadField(builder, offsetof(ThreadContext, instructions), pass_.i64());
      pass_.StoreField(builder, offsetof(ThreadContext, instructions), builder.CreateAdd(old, count));
    }
    return absl::OkStatus();
  }

  llvm::Value* Choose(llvm::IRBuilder<>& builder, llvm::Value* condition, uint64_t yes, uint64_t no, llvm::Type* type) {
    llvm::Constant* first = llvm::ConstantInt::get(type, yes);
    if (yes == no) return first;
    if (type->isIntegerTy(8) && yes == 0 && no == 1) return builder.CreateZExt(builder.CreateNot(condition), type);
    if (type->isIntegerTy(8) && yes == 1 && no == 0) return builder.CreateZExt(condition, type);
    return builder.CreateSelect(condition, first, llvm::ConstantInt::get(type, no));
  }

  // Before the block records anything: the runtime cuts records right behind a decision. Returns the end of the block
  // that is entered when a limit is reached; the call stands before it.
  llvm::Instruction* LookAtLimits(llvm::Instruction* first) {
    llvm::IRBuilder<> builder(first);
    llvm::Value* count = pass_.LoadField(builder, offsetof(ThreadContext, instructions), pass_.i64());
    llvm::Value* limit = pass_.LoadField(builder, offsetof(ThreadContext, instruction_limit), pass_.i64());
    llvm::Value* cursor = pass_.LoadField(builder, offsetof(ThreadContext, address_cursor), pass_.pointer());
    llvm::Value* end = pass_.LoadField(builder, offsetof(ThreadContext, address_limit), pass_.pointer());
    llvm::Value* full = builder.CreateOr(builder.CreateICmpUGE(count, limit), builder.CreateICmpUGE(cursor, end));
    llvm::Instruction* slow = llvm::SplitBlockAndInsertIfThen(full, first, false, pass_.unlikely());
    builder.SetInsertPoint(slow);
    pass_.CallRuntime(builder, kYieldFunction, builder.getVoidTy(), {KernelPass::Context(builder)});
    return slow;
  }

  KernelPass& pass_;
};

}  // namespace

absl::Status InsertRecording(KernelPass& pass) {
  for (llvm::Function* function : pass.functions) {
    for (llvm::Instruction& instruction : llvm::instructions(*function)) {
      LowerAlignment(instruction);
      if (!Suspends(instruction)) continue;
      llvm::StringRef name = llvm::cast<llvm::CallInst>(instruction).getCalledFunction()->getName();
      if (!name.consume_front("llvm.nvvm.")) name.consume_front(kDeviceOperation);
      bool barrier = name.starts_with("barrier") || name.starts_with("bar.sync") || name.starts_with("cluster");
      (barrier ? pass.result->has_barriers : pass.result->meets_warp) = true;
      pass.result->follows_code = pass.unit.program.level() == trace::v1::LEVEL_MACHINE;
    }
    Recorder recorder(pass);
    if (!pass.record) {
      recorder.FunctionWithoutRecord(*function);
    } else {
      HEDDLE_RETURN_IF_ERROR(recorder.Function(*function));
    }
    EraseMarkers(*function);
  }
  return absl::OkStatus();
}

}  // namespace heddle::tracegen
