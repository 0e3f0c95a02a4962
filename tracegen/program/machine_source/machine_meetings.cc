// Machine instructions at which threads meet: barriers, shuffles, votes and their like.
//
// What the machine does for the threads of a warp that run together is done here for those that are together by the
// code's convergence barriers (WarpRequest::converged).
#include "absl/strings/str_cat.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Intrinsics.h"
#include "tracegen/machine/forms/pattern.h"
#include "tracegen/program/machine_source/machine_step.h"
#include "tracegen/program/operand_marker.h"
#include "tracegen/program/ptx_source/device_operation.h"

namespace heddle::tracegen {
namespace {

using llvm::Value;
using machine::Operand;

bool IsUsed(const Operand* operand) { return operand != nullptr && !operand->use.reg.is_constant; }

// The number of a barrier and how many threads meet there (0: all of the block). One register in both places holds
// both.
struct BarrierNumbers {
  Value* id = nullptr;
  Value* threads = nullptr;
};

BarrierNumbers NumbersOf(MachineStepContext& step, const Operand& id, const Operand* threads) {
  constexpr uint64_t kIds = 0xf, kThreads = 0xfff;
  machine::Emission& e = step.e;
  if (threads == nullptr) return {e.In(0), e.Zero()};
  if (id.kind == Operand::Kind::kRegister && threads->kind == Operand::Kind::kRegister) {
    if (!(id.use.reg == threads->use.reg)) e.Fail("two registers with the numbers of a barrier");
    Value* both = e.In(0);
    return {step.b.CreateAnd(both, kIds), step.b.CreateAnd(step.b.CreateLShr(both, 16), kThreads)};
  }
  return {e.In(0), e.In(1)};
}

void Barrier(MachineStepContext& step, llvm::Instruction** access) {
  llvm::IRBuilder<>& b = step.b;
  machine::Emission& e = step.e;
  const Operand* id = e.Find('s', 0);
  const Operand* threads = e.Find('s', 1);
  const auto in_register = [](const Operand* number) {
    return number != nullptr && number->kind != Operand::Kind::kImmediate;
  };
  const bool is_constant = !in_register(id) && !in_register(threads);
  const BarrierNumbers numbers = NumbersOf(step, *id, threads);
  if (!is_constant) {
    llvm::SmallVector<Value*, 2> recorded;
    if (in_register(id)) recorded.push_back(numbers.id);
    if (in_register(threads)) recorded.push_back(numbers.threads);
    *access = MarkOperands(b, recorded);
  }
  if (e.Has("ARV")) {
    CallDeviceOperation(b, kArriveOperation, b.getVoidTy(), {numbers.id, numbers.threads});
    return;
  }
  const bool is_first = is_constant && id->value == 0 && threads == nullptr;
  Value* predicate = e.Has("RED") ? b.CreateZExt(e.InPredicate(0, true), b.getInt32Ty()) : e.Zero();
  if (e.Has("RED") && is_first) {
    const char* operation = e.Has("POPC") ? "popc" : e.Has("AND") ? "and" : "or";
    step.state.Set(kBarrierResult, e.Intrinsic(absl::StrCat("llvm.nvvm.barrier0.", operation), {predicate}));
  } else if (e.Has("RED") || !is_constant) {
    // As BarrierReduction numbers them.
    const uint32_t reduction = !e.Has("RED") ? 0 : e.Has("POPC") ? 1 : e.Has("AND") ? 2 : 3;
    Value* result = CallDeviceOperation(b, kBarrierOperation, b.getInt32Ty(),
                                        {numbers.id, numbers.threads, b.getInt32(reduction), predicate});
    if (e.Has("RED")) step.state.Set(kBarrierResult, result);
  } else if (threads != nullptr) {
    e.Intrinsic("llvm.nvvm.barrier.sync.cnt", {numbers.id, numbers.threads});
  } else if (is_first) {
    e.Intrinsic("llvm.nvvm.barrier0", {});
  } else {
    e.Intrinsic("llvm.nvvm.barrier.sync", {numbers.id});
  }
}

// What the last reduction at a barrier gave.
void BarrierResult(MachineStepContext& step) {
  Value* result = step.state.Read(kBarrierResult);
  step.e.Out(result);
  step.e.OutPredicate(0, step.b.CreateIsNotNull(result));
}

void Shuffle(MachineStepContext& step) {
  machine::Emission& e = step.e;
  const char* mode = e.Has("UP") ? "up" : e.Has("DOWN") ? "down" : e.Has("BFLY") ? "bfly" : "idx";
  Value* both = e.Intrinsic(absl::StrCat("llvm.nvvm.shfl.", mode, ".i32p"), {e.In(0), e.In(1), e.In(2)});
  Value* word = step.b.CreateExtractValue(both, 0);
  Value* in_range = step.b.CreateExtractValue(both, 1);
  e.Out(word);
  e.OutPredicate(0, in_range);
}

void Vote(MachineStepContext& step) {
  machine::Emission& e = step.e;
  Value* predicate = e.InPredicate(0, true);
  const char* mode = e.Has("ALL") ? "all" : e.Has("EQ") ? "uni" : "any";
  // Both results are worked out before any register is written: the predicate may be one of them.
  Value* ballot = IsUsed(e.Find('d')) ? e.Intrinsic("llvm.nvvm.vote.ballot", {predicate}) : nullptr;
  Value* vote = IsUsed(e.Find('p')) || ballot == nullptr
                    ? e.Intrinsic(absl::StrCat("llvm.nvvm.vote.", mode), {predicate})
                    : nullptr;
  if (ballot != nullptr) e.Out(ballot);
  if (vote != nullptr) e.OutPredicate(0, vote);
}

void Match(MachineStepContext& step) {
  machine::Emission& e = step.e;
  const bool is_wide = e.Has("U64");
  Value* value = is_wide ? e.InWide(0, false) : e.In(0);
  Value* mask = e.Intrinsic("llvm.nvvm.activemask", {});
  const char* type = is_wide ? "i64" : "i32";
  if (e.Has("ANY")) {
    if (IsUsed(e.Find('p'))) {
      e.Fail("the predicate of MATCH.ANY");
      return;
    }
    e.Out(e.Intrinsic(absl::StrCat("llvm.nvvm.match.any.sync.", type), {mask, value}));
    return;
  }
  Value* both = e.Intrinsic(absl::StrCat("llvm.nvvm.match.all.sync.", type, "p"), {mask, value});
  e.Out(step.b.CreateExtractValue(both, 0));
  e.OutPredicate(0, step.b.CreateExtractValue(both, 1));
}

void Reduce(MachineStepContext& step) {
  machine::Emission& e = step.e;
  const bool is_signed = e.Has("S32");
  const char* operation = e.Has("SUM")   ? "add"
                          : e.Has("MIN") ? (is_signed ? "min" : "umin")
                          : e.Has("MAX") ? (is_signed ? "max" : "umax")
                          : e.Has("OR")  ? "or"
                          : e.Has("XOR") ? "xor"
                                         : "and";  // what the assembler prints without a modifier
  Value* value = e.In(0);
  Value* mask = e.Intrinsic("llvm.nvvm.activemask", {});
  e.Out(e.Intrinsic(absl::StrCat("llvm.nvvm.redux.sync.", operation), {value, mask}));
}

// The lowest of the threads that are together is chosen.
void Elect(MachineStepContext& step) {
  machine::Emission& e = step.e;
  llvm::IRBuilder<>& b = step.b;
  const Operand* among = e.Find('q');
  if (among == nullptr || !among->use.reg.is_constant || among->use.sign == '!') {
    e.Fail("threads that are chosen among");
    return;
  }
  Value* together = e.Intrinsic("llvm.nvvm.activemask", {});
  Value* chosen = b.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, together, b.getFalse());
  Value* is_chosen = b.CreateICmpEQ(chosen, step.state.PtxSpecial("laneid"));
  e.Out(chosen);
  e.OutPredicate(0, is_chosen);
}

// The predicate says that a thread holds something else than the uniform register gets. Whose value that is on the
// hardware is not known, and makes no difference where the assembler puts it: in front of a BRA.DIV or BRA.CONV, which
// finds threads missing as soon as one of them differs.
void ToUniform(MachineStepContext& step) {
  machine::Emission& e = step.e;
  if (step.instruction.is_guarded) e.Fail("the predicate of R2UR under a guard");
  Value* value = e.In(0);
  Value* differs = CallDeviceOperation(step.b, kDiffersOperation, step.b.getInt32Ty(), {value});
  e.Out(value);
  e.OutPredicate(0, step.b.CreateIsNotNull(differs));
}

}  // namespace

bool AsksWhatOthersHold(const machine::Instruction& instruction) {
  const auto places = machine::OperandPlaces(*instruction.form);
  for (size_t i = 0; i < instruction.operands.size(); ++i) {
    if (instruction.opcode() == "R2UR" && places[instruction.places[i]].kind == 'p') {
      return !instruction.operands[i].use.reg.is_constant;
    }
  }
  return false;
}

void LowerMachineMeeting(MachineStepContext& step, llvm::Instruction** access) {
  const std::string_view op = step.e.at.opcode();
  if (op == "BAR") return Barrier(step, access);
  if (op == "B2R") return BarrierResult(step);
  if (op == "SHFL") return Shuffle(step);
  if (op == "VOTE" || op == "VOTEU") return Vote(step);
  if (op == "MATCH") return Match(step);
  if (op == "REDUX") return Reduce(step);
  if (op == "R2UR") return ToUniform(step);
  if (op == "ELECT") return Elect(step);
  if (op == "UCGABAR_ARV" || op == "UCGABAR_WAIT") {
    CallDeviceOperation(step.b, op == "UCGABAR_ARV" ? kClusterArriveOperation : kClusterWaitOperation,
                        step.b.getVoidTy(), {});
    return;
  }
  if (op == "WARPSYNC") {
    Value* mask = step.e.Find('s') != nullptr ? step.e.In(0) : step.b.getInt32(~0u);
    step.e.Intrinsic("llvm.nvvm.bar.warp.sync", {mask});
    return;
  }
  if (op == "NOP") {
    // The assembler leaves it of a bar.warp.sync where the threads of a warp are together. Here they run one by one.
    step.e.Intrinsic("llvm.nvvm.bar.warp.sync", {step.e.Intrinsic("llvm.nvvm.activemask", {})});
    return;
  }
  step.e.Fail("a meeting of threads that is not known");
}

}  // namespace heddle::tracegen
