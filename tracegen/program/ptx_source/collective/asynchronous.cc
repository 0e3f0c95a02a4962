// Asynchronous copies, transaction barriers, and barriers that LLVM has no intrinsic of (PTX ISA: Asynchronous Copy;
// mbarrier; barrier).
#include <iterator>

#include "llvm/IR/Constants.h"
#include "tracegen/program/operand_marker.h"
#include "tracegen/program/ptx_source/device_operation.h"
#include "tracegen/program/ptx_source/step_context.h"
#include "tracegen/ptx/inline_ptx.h"

namespace heddle::tracegen {
namespace {

using llvm::Value;
using ptx::StateSpace;
using Kind = ptx::Operand::Kind;

class Asynchronous {
 public:
  Asynchronous(StepContext& step, llvm::Instruction** marker)
      : step_(step), e_(step.e), b_(step.b), at_(step.at), marker_(marker) {}

  bool Copies() {
    if (e_.Has("mbarrier")) {
      Transact(e_.Has("noinc") ? Transaction::kCopies : Transaction::kCopiesCounted, 0, b_.getInt32(1));
      return true;
    }
    if (e_.Has("commit_group")) {
      Call(kCommitOperation, b_.getVoidTy(), {});
      return true;
    }
    if (e_.Has("wait_all") || e_.Has("wait_group")) {
      Value* pending = e_.Has("wait_all") ? b_.getInt32(kWaitForAll) : e_.In32(0);
      Call(kWaitGroupOperation, b_.getVoidTy(), {pending});
      return true;
    }
    Value* to = Pointer(0, StateSpace::kShared);
    Value* from = Pointer(1, StateSpace::kGlobal);
    if (to == nullptr || from == nullptr) return false;
    Value* bytes = e_.In32(2);
    Value* read = bytes;
    const size_t count = at_.operands.size() - (e_.Has("L2::cache_hint") ? 1 : 0);
    if (count > 3) read = IsPredicate(at_.operands[3]) ? IgnoredIf(e_.Predicate(3), bytes) : e_.In32(3);
    llvm::SmallVector<Value*, 3> recorded = {from, to};
    if (count > 3) {
      // Where nothing is read, the source is no address.
      Value* null = llvm::Constant::getNullValue(from->getType());
      recorded[0] = b_.CreateSelect(b_.CreateIsNull(read), null, from);
      if (!IsNumber(at_.operands[3])) recorded.push_back(read);
    }
    Mark(recorded);
    Call(kCopyOperation, b_.getVoidTy(), {to, from, bytes, read});
    return true;
  }

  // One of the block or the cluster.
  bool Barrier() {
    if (e_.Has("cluster")) {
      Call(e_.Has("arrive") ? kClusterArriveOperation : kClusterWaitOperation, b_.getVoidTy(), {});
      return true;
    }
    const bool reduces = e_.Has("red");
    const size_t first = reduces ? 1 : 0;
    const size_t end = at_.operands.size() - (reduces ? 1 : 0);  // behind the numbers comes a predicate
    Value* numbers[2] = {b_.getInt32(0), b_.getInt32(0)};
    llvm::SmallVector<Value*, 2> recorded;
    for (size_t i = first; i < end && i < first + std::size(numbers); ++i) {
      numbers[i - first] = e_.In32(i);
      if (!IsNumber(at_.operands[i])) recorded.push_back(numbers[i - first]);
    }
    if (!recorded.empty()) Mark(recorded);
    if (e_.Has("arrive")) {
      Call(kArriveOperation, b_.getVoidTy(), {numbers[0], numbers[1]});
      return true;
    }
    // As BarrierReduction numbers them.
    const uint32_t reduction = !reduces ? 0 : e_.Has("popc") ? 1 : e_.Has("and") ? 2 : 3;
    Value* predicate = reduces ? b_.CreateZExt(e_.Predicate(end), b_.getInt32Ty()) : b_.getInt32(0);
    Value* result =
        Call(kBarrierOperation, b_.getInt32Ty(), {numbers[0], numbers[1], b_.getInt32(reduction), predicate});
    if (reduces) step_.operands.Write(at_.operands[0], e_.Has("popc") ? result : b_.CreateIsNotNull(result), false);
    return true;
  }

  bool TransactionBarrier() {
    if (e_.Has("pending_count")) {
      // What an arrival gives is the state as the runtime has it: TransactionBarriers.
      Value* pending = b_.CreateAnd(b_.CreateLShr(e_.Bits(1, 64), 20), b_.getInt64((1u << 20) - 1));
      step_.operands.Write(at_.operands[0], b_.CreateTrunc(pending, b_.getInt32Ty()), false);
      return true;
    }
    if (e_.Has("complete_tx")) return false;
    if (e_.Has("test_wait") || e_.Has("try_wait")) return Wait();
    if (e_.Has("arrive") || e_.Has("arrive_drop")) return Arrive();
    if (e_.Has("inval")) {
      Transact(Transaction::kInvalidate, 0, b_.getInt32(0));
    } else {
      Transact(e_.Has("init") ? Transaction::kInit : Transaction::kExpect, 0, e_.In32(1), &at_.operands[1]);
    }
    return true;
  }

 private:
  bool Arrive() {
    const bool drops = e_.Has("arrive_drop");
    const bool expects = e_.Has("expect_tx");
    Transaction operation = drops ? Transaction::kArriveDrop : Transaction::kArrive;
    if (expects) operation = drops ? Transaction::kArriveDropExpect : Transaction::kArriveExpect;
    Value* number = at_.operands.size() > 2 ? e_.In32(2) : b_.getInt32(1);
    Value* state = Transact(operation, 1, number, at_.operands.size() > 2 ? &at_.operands[2] : nullptr);
    if (state == nullptr) return false;
    step_.operands.Write(at_.operands[0], state, false);
    return true;
  }

  bool Wait() {
    Value* barrier = Pointer(1, at_.Space());
    if (barrier == nullptr) return false;
    const bool by_parity = e_.Has("parity");
    Value* phase = by_parity ? b_.CreateZExt(e_.In32(2), b_.getInt64Ty()) : e_.Bits(2, 64);
    Value* phases = Call(kTransactionWaitOperation, b_.getInt64Ty(), {barrier, phase, b_.getInt32(by_parity ? 1 : 0)});
    Value* is_over = b_.CreateIsNotNull(phases);
    // How many phases had to be over.
    Mark({barrier, b_.CreateSelect(is_over, b_.CreateSub(phases, b_.getInt64(1)), phases)});
    step_.operands.Write(at_.operands[0], is_over, false);
    return true;
  }

  // `given`: the operand that the number is; null: the text has none.
  Value* Transact(Transaction operation, size_t address, Value* number, const ptx::Operand* given = nullptr) {
    Value* barrier = Pointer(address, at_.Space());
    if (barrier == nullptr) {
      step_.operands.failure = "the address of a transaction barrier that is none";
      return nullptr;
    }
    llvm::SmallVector<Value*, 2> recorded = {barrier};
    if (given != nullptr && !IsNumber(*given)) recorded.push_back(number);
    Mark(recorded);
    return Call(kTransactionOperation, b_.getInt64Ty(),
                {b_.getInt32(static_cast<uint32_t>(operation)), barrier, number});
  }

  bool IsPredicate(const ptx::Operand& operand) const {
    return operand.kind == Kind::kRegister &&
           step_.operands.source().RegisterOf(operand.index).type.kind == ptx::TypeKind::kPredicate;
  }

  Value* IgnoredIf(Value* predicate, Value* bytes) { return b_.CreateSelect(predicate, b_.getInt32(0), bytes); }

  // Generic, so that all who execute it get the same kind.
  Value* Pointer(size_t operand, StateSpace space) {
    Value* pointer = step_.operands.Pointer(at_.operands[operand], space);
    if (pointer == nullptr || pointer->getType()->getPointerAddressSpace() == 0) return pointer;
    return b_.CreateAddrSpaceCast(pointer, b_.getPtrTy());
  }

  static bool IsNumber(const ptx::Operand& operand) {
    return operand.kind == Kind::kInteger || operand.kind == Kind::kWarpSize;
  }

  void Mark(llvm::ArrayRef<Value*> values) { *marker_ = MarkOperands(b_, values); }
  llvm::CallInst* Call(const char* name, llvm::Type* result, llvm::ArrayRef<Value*> arguments) {
    return CallDeviceOperation(b_, name, result, arguments);
  }

  StepContext& step_;
  ptx::Emission& e_;
  llvm::IRBuilder<>& b_;
  const ptx::Instruction& at_;
  llvm::Instruction** const marker_;  // of the values that threads record
};

}  // namespace

bool LowerAsynchronous(StepContext& step, llvm::Instruction** access) {
  const bool copies = step.at.opcode() == "cp" && step.at.Has("async") && !step.at.Has("bulk");
  const bool transacts = step.at.opcode() == "mbarrier";
  if (!copies && !transacts && !IsTextOnlyBarrier(step.at)) return false;
  // Whoever generates code has to have the text.
  if (step.operands.module().purpose == LoweringPurpose::kCodeGenerator) return false;
  Asynchronous lowering(step, access);
  return copies ? lowering.Copies() : transacts ? lowering.TransactionBarrier() : lowering.Barrier();
}

}  // namespace heddle::tracegen
