// Machine instructions at which threads meet: barriers, shuffles, votes and their like.
//
// What the machine does for the threads of a warp that run together is done here for those that reach the instruction
// before the warp cannot move otherwise (WarpRequest::converged), as on a machine that reconverges as early as
// possible. The assembler puts a BSYNC or a WARPSYNC in front where more is needed.
#include "absl/strings/str_cat.h"
#include "llvm/IR/Constants.h"
#include "tracegen/program/machine_source/machine_step.h"

namespace heddle::tracegen {
namespace {

using llvm::Value;
using machine::Operand;

bool IsUsed(const Operand* operand) { return operand != nullptr && !operand->use.reg.is_constant; }

void Barrier(MachineStepContext& step) {
  llvm::IRBuilder<>& b = step.b;
  machine::Emission& e = step.e;
  const Operand* id = e.Find('s', 0);
  const Operand* threads = e.Find('s', 1);
  for (const Operand* number : {id, threads}) {
    if (number != nullptr && number->kind != Operand::Kind::kImmediate) {
      e.Fail("a barrier whose numbers are in registers");
      return;
    }
  }
  if (e.Has("RED")) {
    if (id->value != 0 || threads != nullptr) {
      e.Fail("a reduction at a barrier that is not the first one, of the whole block");
      return;
    }
    const char* operation = e.Has("POPC") ? "popc" : e.Has("AND") ? "and" : "or";
    Value* predicate = b.CreateZExt(e.InPredicate(0, true), b.getInt32Ty());
    step.state.Set(kBarrierResult, e.Intrinsic(absl::StrCat("llvm.nvvm.barrier0.", operation), {predicate}));
  } else if (threads != nullptr) {
    e.Intrinsic("llvm.nvvm.barrier.sync.cnt", {e.In(0), e.In(1)});
  } else if (id->value == 0) {
    e.Intrinsic("llvm.nvvm.barrier0", {});
  } else {
    e.Intrinsic("llvm.nvvm.barrier.sync", {e.In(0)});
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

}  // namespace

void LowerMachineMeeting(MachineStepContext& step) {
  const std::string_view op = step.e.at.opcode();
  if (op == "BAR") return Barrier(step);
  if (op == "B2R") return BarrierResult(step);
  if (op == "SHFL") return Shuffle(step);
  if (op == "VOTE" || op == "VOTEU") return Vote(step);
  if (op == "MATCH") return Match(step);
  if (op == "REDUX") return Reduce(step);
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
