// Transaction barriers of sm_90 (SYNCS), and copies that arrive at them.
//
// Its 64 bits are the instruction set's own. What the assembler makes of PTX shows of them what is needed here: an EXCH
// that makes a barrier writes 2^20 less the number of arrivals, at bit 1 and at bit 43; an arrival gives 2^20 less the
// arrivals that are to come, at bit 43, and the parity of the phase at bit 63. A wait gets such a word's upper half, or
// a parity at bit 31.
#include "tracegen/program/machine_source/collective_text.h"
#include "tracegen/program/machine_source/machine_step.h"
#include "tracegen/program/operand_marker.h"
#include "tracegen/program/ptx_source/device_operation.h"

namespace heddle::tracegen {
namespace {

namespace v1 = ::heddle::trace::v1;
using llvm::Value;

constexpr uint32_t kLeastOfCounts = 1u << 20;  // less a number of arrivals
constexpr unsigned kCountAt = 1;               // in the lower word that makes a barrier
constexpr unsigned kUpperCountAt = 11;         // in upper words
constexpr unsigned kUpperParityAt = 31;

class MachineTransaction {
 public:
  explicit MachineTransaction(MachineStepContext& step)
      : step_(step),
        e_(step.e),
        b_(step.b),
        barrier_(GenericMachinePointer(step, step.e.Find('m')->address, v1::SPACE_SHARED)) {}

  void Run(llvm::Instruction** access) {
    if (e_.at.opcode() == "ARRIVES") {
      Record(access, {});
      Transact(Transaction::kCopies, b_.getInt32(1));
    } else if (e_.Has("EXCH")) {
      Make(access);
    } else if (e_.Has("CCTL")) {
      Record(access, {});
      Together([&] { Transact(Transaction::kInvalidateOfWarp, e_.Zero()); });
    } else if (e_.Has("PHASECHK")) {
      Wait(access);
    } else {
      Arrive(access);
    }
  }

 private:
  void Record(llvm::Instruction** access, llvm::ArrayRef<Value*> numbers) {
    llvm::SmallVector<Value*, 2> recorded = {barrier_};
    recorded.append(numbers.begin(), numbers.end());
    *access = MarkOperands(b_, recorded);
  }

  Value* Transact(Transaction operation, Value* number) {
    return CallDeviceOperation(b_, kTransactionOperation, b_.getInt64Ty(),
                               {b_.getInt32(static_cast<uint32_t>(operation)), barrier_, number});
  }

  // The machine does it once for the threads of a warp that are together. Here each of them does, one after the other,
  // before any goes on.
  template <typename Do>
  void Together(const Do& once) {
    Value* together = e_.Intrinsic("llvm.nvvm.activemask", {});
    once();
    e_.Intrinsic("llvm.nvvm.bar.warp.sync", {together});
  }

  void Make(llvm::Instruction** access) {
    const machine::Operand* result = e_.Find('d');
    if (result != nullptr && !result->use.reg.is_constant) {
      e_.Fail("what was there before");
      return;
    }
    const machine::Register& first = e_.Find('s')->use.reg;
    Value* low = step_.state.Read(first);
    Value* high = step_.state.Read(MachineRegisterBehind(first, 1));
    // Whatever else is written there is no barrier: it expects no arrivals, and is refused as it runs.
    Value* is_barrier = b_.CreateICmpEQ(b_.CreateShl(low, kUpperCountAt - kCountAt), high);
    Value* count = b_.CreateSub(b_.getInt32(kLeastOfCounts), b_.CreateLShr(low, kCountAt));
    count = b_.CreateSelect(is_barrier, count, e_.Zero());
    Record(access, {count});
    Together([&] { Transact(Transaction::kInit, count); });
  }

  void Arrive(llvm::Instruction** access) {
    const bool counts = e_.Has("ART0");
    Value* number = counts ? e_.In(0) : b_.getInt32(1);
    Record(access, counts ? llvm::ArrayRef<Value*>(number) : llvm::ArrayRef<Value*>());
    Value* state = Transact(e_.Has("OPTOUT") ? Transaction::kArriveDrop : Transaction::kArrive, number);
    const auto part = [&](unsigned at, uint32_t mask) {
      return b_.CreateAnd(b_.CreateTrunc(b_.CreateLShr(state, at), b_.getInt32Ty()), mask);
    };
    Value* pending = part(kTransactionPendingBit, (1u << kTransactionCountBits) - 1);
    Value* count = b_.CreateShl(b_.CreateSub(b_.getInt32(kLeastOfCounts), pending), kUpperCountAt);
    count = b_.CreateAnd(count, (1u << kUpperParityAt) - 1);
    Value* high = b_.CreateOr(count, b_.CreateShl(part(kTransactionParityBit, 1), kUpperParityAt));
    e_.Out(b_.CreateShl(b_.CreateZExt(high, b_.getInt64Ty()), 32));
  }

  void Wait(llvm::Instruction** access) {
    Value* parity = b_.CreateZExt(b_.CreateLShr(e_.In(0), kUpperParityAt), b_.getInt64Ty());
    Value* phases =
        CallDeviceOperation(b_, kTransactionWaitOperation, b_.getInt64Ty(), {barrier_, parity, b_.getInt32(1)});
    Value* is_over = b_.CreateIsNotNull(phases);
    // How many phases had to be over.
    Record(access, {b_.CreateSelect(is_over, b_.CreateSub(phases, b_.getInt64(1)), phases)});
    e_.OutPredicate(0, is_over);
  }

  MachineStepContext& step_;
  machine::Emission& e_;
  llvm::IRBuilder<>& b_;
  Value* const barrier_;
};

}  // namespace

void LowerMachineTransaction(MachineStepContext& step, llvm::Instruction** access) {
  if (PtxOfTransaction(step.e.at).empty()) {
    step.e.Fail("what this does to a transaction barrier");
    return;
  }
  MachineTransaction(step).Run(access);
}

}  // namespace heddle::tracegen
