// Instructions at which threads meet: barriers, shuffles, votes and their like.
#include <string>

#include "absl/strings/str_cat.h"
#include "llvm/IR/Intrinsics.h"
#include "tracegen/program/ptx_source/step_context.h"

namespace heddle::tracegen {
namespace {

using llvm::Value;
using Kind = ptx::Operand::Kind;

class WarpRendezvousTest {
 public:
  explicit WarpRendezvousTest(StepContext& step) : step_(step), e_(step.e), b_(step.b), at_(step.at) {}

  bool Run() {
    const std::string_view op = at_.opcode();
    if (op == "activemask") return Out(e_.Intrinsic("llvm.nvvm.activemask", {}));
    if (op == "bar" || op == "barrier") return Barrier();
    if (op == "shfl") return Shuffle();
    if (op == "vote") return Vote();
    if (op == "match") return Match();
    if (op == "redux") return Reduce();
    if (op == "elect") return Elect();
    return false;
  }

 private:
  bool Out(Value* value) {
    if (value == nullptr) return false;
    step_.operands.Write(at_.operands[0], value, false);
    return true;
  }

  // A value and a predicate, of which the instruction may name the value alone.
  bool OutPair(Value* value, Value* predicate) {
    const ptx::Operand& to = at_.operands[0];
    if (to.kind != Kind::kPair) return Out(value);
    step_.operands.Write(to.elements[0], value, false);
    step_.operands.Write(to.elements[1], predicate, false);
    return true;
  }

  bool Barrier() {
    if (e_.Has("warp")) return e_.Intrinsic("llvm.nvvm.bar.warp.sync", {e_.In32(0)}) != nullptr;
    if (e_.Has("cluster") || e_.Has("arrive")) return false;
    if (e_.Has("red")) return ReduceAtBarrier();
    if (at_.operands.empty()) return false;
    const ptx::Operand& id = at_.operands[0];
    if (at_.operands.size() == 1) {
      if (id.kind == Kind::kInteger && id.bits == 0) return e_.Intrinsic("llvm.nvvm.barrier0", {}) != nullptr;
      return e_.Intrinsic("llvm.nvvm.barrier.sync", {e_.In32(0)}) != nullptr;
    }
    return e_.Intrinsic("llvm.nvvm.barrier.sync.cnt", {e_.In32(0), e_.In32(1)}) != nullptr;
  }

  // bar.red.OP d, 0, p, for the whole block.
  bool ReduceAtBarrier() {
    if (at_.operands.size() != 3 || at_.operands[1].kind != Kind::kInteger || at_.operands[1].bits != 0) return false;
    const char* operation = e_.Has("popc") ? "popc" : e_.Has("and") ? "and" : "or";
    Value* predicate = b_.CreateZExt(e_.Predicate(2), b_.getInt32Ty());
    Value* count = e_.Intrinsic(absl::StrCat("llvm.nvvm.barrier0.", operation), {predicate});
    if (count == nullptr) return false;
    return Out(e_.Has("popc") ? count : b_.CreateIsNotNull(count));
  }

  // The mask of those who take part; null if the instruction names none: then those who are there do. The code
  // generator of newer devices has no such instructions, and gets the mask of those threads.
  Value* Members(size_t operand) {
    if (e_.Has("sync")) return e_.In32(operand);
    if (step_.operands.module().purpose != LoweringPurpose::kCodeGenerator) return nullptr;
    return e_.Intrinsic("llvm.nvvm.activemask", {});
  }

  bool Shuffle() {
    const char* mode = e_.Has("up") ? "up" : e_.Has("down") ? "down" : e_.Has("bfly") ? "bfly" : "idx";
    Value* members = Members(4);
    const bool sync = members != nullptr;
    const bool pair = at_.operands[0].kind == Kind::kPair;
    llvm::SmallVector<Value*, 4> arguments;
    if (sync) arguments.push_back(members);
    for (const size_t i : {1u, 2u, 3u}) arguments.push_back(e_.In32(i));
    Value* shuffled =
        e_.Intrinsic(absl::StrCat("llvm.nvvm.shfl.", sync ? "sync." : "", mode, ".i32", pair ? "p" : ""), arguments);
    if (shuffled == nullptr) return false;
    if (!pair) return Out(shuffled);
    return OutPair(b_.CreateExtractValue(shuffled, 0), b_.CreateExtractValue(shuffled, 1));
  }

  bool Vote() {
    const char* mode = e_.Has("all") ? "all" : e_.Has("any") ? "any" : e_.Has("uni") ? "uni" : "ballot";
    Value* predicate = e_.Predicate(1);
    Value* members = Members(2);
    if (members == nullptr) return Out(e_.Intrinsic(absl::StrCat("llvm.nvvm.vote.", mode), {predicate}));
    return Out(e_.Intrinsic(absl::StrCat("llvm.nvvm.vote.", mode, ".sync"), {members, predicate}));
  }

  bool Match() {
    const std::string type = e_.type().bits == 64 ? "i64" : "i32";
    Value* value = e_.In(1);
    Value* mask = e_.In32(2);
    if (e_.Has("any")) return Out(e_.Intrinsic(absl::StrCat("llvm.nvvm.match.any.sync.", type), {mask, value}));
    Value* matched = e_.Intrinsic(absl::StrCat("llvm.nvvm.match.all.sync.", type, "p"), {mask, value});
    if (matched == nullptr) return false;
    return OutPair(b_.CreateExtractValue(matched, 0), b_.CreateExtractValue(matched, 1));
  }

  bool Reduce() {
    if (ptx::IsFloat(e_.type())) return false;
    const bool is_unsigned = !ptx::IsSigned(e_.type());
    const char* operation = e_.Has("add")   ? "add"
                            : e_.Has("min") ? (is_unsigned ? "umin" : "min")
                            : e_.Has("max") ? (is_unsigned ? "umax" : "max")
                            : e_.Has("and") ? "and"
                            : e_.Has("or")  ? "or"
                                            : "xor";
    return Out(e_.Intrinsic(absl::StrCat("llvm.nvvm.redux.sync.", operation), {e_.In32(1), e_.In32(2)}));
  }

  // elect.sync d|p, mask: the lowest thread of the mask, after all have met.
  bool Elect() {
    Value* mask = e_.In32(1);
    if (e_.Intrinsic("llvm.nvvm.bar.warp.sync", {mask}) == nullptr) return false;
    Value* lane = e_.Intrinsic("llvm.nvvm.read.ptx.sreg.laneid", {});
    if (lane == nullptr) return false;
    Value* leader = b_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, mask, b_.getFalse());
    return OutPair(leader, b_.CreateICmpEQ(leader, lane));
  }

  StepContext& step_;
  ptx::Emission& e_;
  llvm::IRBuilder<>& b_;
  const ptx::Instruction& at_;
};

}  // namespace

bool LowerMeeting(StepContext& step) { return WarpRendezvousTest(step).Run(); }

}  // namespace heddle::tracegen
