// Instructions of inline PTX as IR (meaning: PTX ISA 7.0, chapter 9).
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "tracegen/program/inline_ptx.h"
#include "tracegen/program/inline_ptx_arithmetic.h"

namespace heddle::tracegen {
namespace {

using llvm::Value;
using Kind = InlineOperand::Kind;
using PointerTo = llvm::function_ref<Value*(llvm::IRBuilder<>&, const InlineAccess&)>;

class Emitter final : public InlinePtxArithmetic {
 public:
  Emitter(llvm::CallInst& call, PointerTo pointer_to) : InlinePtxArithmetic(call), pointer_to_(pointer_to) {}

  absl::StatusOr<Value*> Run(const std::vector<InlineInstruction>& instructions) {
    for (const InlineInstruction& instruction : instructions) {
      Take(instruction);
      if (!Emit() || failed()) return absl::UnimplementedError(instruction.text);
    }
    return Result();
  }

 private:
  bool Emit() {
    const std::string& base = at().base();
    if (base == "membar" || base == "fence" || base == "prefetch" || base == "prefetchu" || base == "nanosleep" ||
        base == "pmevent" || base == "brkpt") {
      return true;  // one thread runs at a time, and what it writes is seen at once
    }
    if (at().Meets()) return Meeting();
    if (at().IsMemory()) return Memory();
    if (base == "mov") return Move();
    if (base == "cvt") return Convert();
    if (base == "setp" || base == "set") return Compare();
    if (base == "selp") {
      Value* condition = Predicate(3);
      return Out(builder_.CreateSelect(condition, In(1), In(2)));
    }
    if (base == "isspacep") return Out(SpaceTest());
    if (base == "cvta") return Out(In(1));
    if (Value* value = Arithmetic()) return Out(value);
    return false;
  }

  bool Move() {
    if (at().operands.size() != 2) return false;
    const InlineOperand& to = at().operands[0];
    const InlineOperand& from = at().operands[1];
    const unsigned bits = Type().bits;
    if (from.kind == Kind::kVector) {
      const unsigned step = bits / static_cast<unsigned>(from.elements.size());
      Value* whole = Integer(bits, 0);
      for (size_t i = 0; i < from.elements.size(); ++i) {
        Value* part = builder_.CreateZExt(Read(from.elements[i], builder_.getIntNTy(step)), whole->getType());
        whole = builder_.CreateOr(whole, builder_.CreateShl(part, step * i));
      }
      return Out(whole);
    }
    if (to.kind == Kind::kVector) {
      Value* whole = Read(from, builder_.getIntNTy(bits));
      const unsigned step = bits / static_cast<unsigned>(to.elements.size());
      for (size_t i = 0; i < to.elements.size(); ++i) {
        Value* part = builder_.CreateTrunc(builder_.CreateLShr(whole, step * i), builder_.getIntNTy(step));
        if (!Write(to.elements[i], part)) return false;
      }
      return true;
    }
    return Out(In(1));
  }

  bool Convert() {
    if (types().size() != 2) return false;
    const PtxType to = types()[0], from = types()[1];
    Value* value = Read(1, from);
    llvm::Type* type = TypeOf(to);
    if (!to.is_float && !from.is_float) {
      if (Has("sat")) return false;
      return Out(from.is_signed ? builder_.CreateSExtOrTrunc(value, type) : builder_.CreateZExtOrTrunc(value, type));
    }
    auto rounded = [&](Value* v) -> Value* {
      const llvm::Intrinsic::ID id = Has("rni")   ? llvm::Intrinsic::roundeven
                                     : Has("rzi") ? llvm::Intrinsic::trunc
                                     : Has("rmi") ? llvm::Intrinsic::floor
                                     : Has("rpi") ? llvm::Intrinsic::ceil
                                                  : llvm::Intrinsic::not_intrinsic;
      return id == llvm::Intrinsic::not_intrinsic ? nullptr : builder_.CreateUnaryIntrinsic(id, v);
    };
    if (!to.is_float) {
      Value* whole = rounded(value);
      if (whole == nullptr) return false;
      const llvm::Intrinsic::ID id = to.is_signed ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat;
      return Out(builder_.CreateIntrinsic(id, {type, whole->getType()}, {whole}));
    }
    if (!from.is_float) {
      for (const char* mode : {"rz", "rm", "rp"}) {
        if (!Has(mode)) continue;
        return Out(Intrinsic(absl::StrCat("llvm.nvvm.", from.is_signed ? "" : "u", from.bits == 64 ? "ll" : "i", "2",
                                          to.bits == 64 ? "d." : "f.", mode),
                             {value}));
      }
      if (!Has("rn")) return false;
      return Out(from.is_signed ? builder_.CreateSIToFP(value, type) : builder_.CreateUIToFP(value, type));
    }
    if (Value* whole = rounded(value); whole != nullptr && to.bits == from.bits) return Out(Saturate(whole));
    if (to.bits > from.bits) return Out(builder_.CreateFPExt(value, type));
    if (to.bits < from.bits && Has("rn")) return Out(builder_.CreateFPTrunc(value, type));
    return to.bits == from.bits && Out(Saturate(value));
  }

  bool Compare() {
    // setp.CMP[.BOOL][.ftz].type p, a, b[, c]; set writes a mask of ones or 1.0f.
    static const std::map<std::string, std::pair<llvm::CmpInst::Predicate, llvm::CmpInst::Predicate>, std::less<>>
        kIntegers = {{"eq", {llvm::CmpInst::ICMP_EQ, llvm::CmpInst::ICMP_EQ}},
                     {"ne", {llvm::CmpInst::ICMP_NE, llvm::CmpInst::ICMP_NE}},
                     {"lt", {llvm::CmpInst::ICMP_SLT, llvm::CmpInst::ICMP_ULT}},
                     {"le", {llvm::CmpInst::ICMP_SLE, llvm::CmpInst::ICMP_ULE}},
                     {"gt", {llvm::CmpInst::ICMP_SGT, llvm::CmpInst::ICMP_UGT}},
                     {"ge", {llvm::CmpInst::ICMP_SGE, llvm::CmpInst::ICMP_UGE}},
                     {"lo", {llvm::CmpInst::ICMP_ULT, llvm::CmpInst::ICMP_ULT}},
                     {"ls", {llvm::CmpInst::ICMP_ULE, llvm::CmpInst::ICMP_ULE}},
                     {"hi", {llvm::CmpInst::ICMP_UGT, llvm::CmpInst::ICMP_UGT}},
                     {"hs", {llvm::CmpInst::ICMP_UGE, llvm::CmpInst::ICMP_UGE}}};
    static const std::map<std::string, llvm::CmpInst::Predicate, std::less<>> kFloats = {
        {"eq", llvm::CmpInst::FCMP_OEQ},  {"ne", llvm::CmpInst::FCMP_ONE},  {"lt", llvm::CmpInst::FCMP_OLT},
        {"le", llvm::CmpInst::FCMP_OLE},  {"gt", llvm::CmpInst::FCMP_OGT},  {"ge", llvm::CmpInst::FCMP_OGE},
        {"equ", llvm::CmpInst::FCMP_UEQ}, {"neu", llvm::CmpInst::FCMP_UNE}, {"ltu", llvm::CmpInst::FCMP_ULT},
        {"leu", llvm::CmpInst::FCMP_ULE}, {"gtu", llvm::CmpInst::FCMP_UGT}, {"geu", llvm::CmpInst::FCMP_UGE},
        {"num", llvm::CmpInst::FCMP_ORD}, {"nan", llvm::CmpInst::FCMP_UNO}};
    if (at().parts.size() < 3) return false;
    Value* a = In(1);
    Value* b = In(2);
    Value* result = nullptr;
    if (Type().is_float) {
      auto found = kFloats.find(at().parts[1]);
      if (found != kFloats.end()) result = builder_.CreateFCmp(found->second, a, b);
    } else {
      auto found = kIntegers.find(at().parts[1]);
      if (found != kIntegers.end()) {
        result = builder_.CreateICmp(Type().is_signed ? found->second.first : found->second.second, a, b);
      }
    }
    if (result == nullptr) return false;
    if (Has("and")) result = builder_.CreateAnd(result, Predicate(3));
    if (Has("or")) result = builder_.CreateOr(result, Predicate(3));
    if (Has("xor")) result = builder_.CreateXor(result, Predicate(3));
    if (at().base() == "setp") {
      const InlineOperand& to = at().operands[0];
      if (to.kind != Kind::kPair) return Out(result);
      return Write(to.elements[0], result) && Write(to.elements[1], builder_.CreateNot(result));
    }
    if (types().size() != 2) return false;
    return Out(types()[0].is_float ? builder_.CreateUIToFP(result, TypeOf(types()[0]))
                                   : builder_.CreateSExt(result, TypeOf(types()[0])));
  }

  Value* SpaceTest() {
    for (const char* space : {"global", "shared", "const", "local"}) {
      if (!Has(space)) continue;
      Value* pointer = builder_.CreateIntToPtr(Read(1, PtxType{64, false, false}), builder_.getPtrTy());
      return Intrinsic(absl::StrCat("llvm.nvvm.isspacep.", space), {pointer});
    }
    return nullptr;
  }

  bool Meeting() {
    const std::string& base = at().base();
    auto mask_or_active = [&](size_t i) { return Has("sync") ? In32(i) : Intrinsic("llvm.nvvm.activemask", {}); };
    if (base == "activemask") return Out(Intrinsic("llvm.nvvm.activemask", {}));
    if (base == "bar" || base == "barrier") {
      if (Has("warp")) return Intrinsic("llvm.nvvm.bar.warp.sync", {In32(0)}) != nullptr;
      if (!Has("sync") || at().operands.empty()) return false;
      if (at().operands.size() == 1) return Intrinsic("llvm.nvvm.barrier.sync", {In32(0)}) != nullptr;
      return Intrinsic("llvm.nvvm.barrier.sync.cnt", {In32(0), In32(1)}) != nullptr;
    }
    if (base == "shfl") {
      const char* mode = Has("up") ? "up" : Has("down") ? "down" : Has("bfly") ? "bfly" : "idx";
      const InlineOperand& to = at().operands[0];
      const bool pair = to.kind == Kind::kPair;
      Value* shuffled = Intrinsic(absl::StrCat("llvm.nvvm.shfl.sync.", mode, ".i32", pair ? "p" : ""),
                                  {mask_or_active(4), In32(1), In32(2), In32(3)});
      if (shuffled == nullptr) return false;
      if (!pair) return Out(shuffled);
      return Write(to.elements[0], builder_.CreateExtractValue(shuffled, 0)) &&
             Write(to.elements[1], builder_.CreateExtractValue(shuffled, 1));
    }
    if (base == "vote") {
      const char* mode = Has("all") ? "all" : Has("any") ? "any" : Has("uni") ? "uni" : "ballot";
      return Out(Intrinsic(absl::StrCat("llvm.nvvm.vote.", mode, ".sync"), {mask_or_active(2), Predicate(1)}));
    }
    if (base == "match" && Has("any")) {
      const char* type = Type().bits == 64 ? "i64" : "i32";
      return Out(Intrinsic(absl::StrCat("llvm.nvvm.match.any.sync.", type), {In32(2), In(1)}));
    }
    return false;
  }

  bool Memory() {
    const std::string& base = at().base();
    const InlineAccess access = InlineAccessOf(call());
    if (access.address == nullptr || types().empty()) return false;
    llvm::Type* element = TypeOf(Type());
    Value* pointer = pointer_to_(builder_, access);
    const unsigned count = Has("v4") ? 4 : Has("v2") ? 2 : 1;
    const unsigned step = Type().bits / 8;
    // Volatile, so that the host compiler keeps what the program asked for.
    if (base == "ld") {
      for (unsigned i = 0; i < count; ++i) {
        Value* place = builder_.CreateConstGEP1_64(builder_.getInt8Ty(), pointer, uint64_t{i} * step);
        Value* value = builder_.CreateAlignedLoad(element, place, llvm::Align(1), true);
        if (!Type().is_float && Type().bits < 32) value = Extend(value, 32, Type().is_signed);
        const InlineOperand& to = at().operands[0];
        if (!Write(count > 1 && i < to.elements.size() ? to.elements[i] : to, value)) return false;
      }
      return true;
    }
    if (base == "st") {
      const InlineOperand& from = at().operands[1];
      for (unsigned i = 0; i < count; ++i) {
        Value* place = builder_.CreateConstGEP1_64(builder_.getInt8Ty(), pointer, uint64_t{i} * step);
        Value* value = Read(count > 1 && i < from.elements.size() ? from.elements[i] : from, element);
        builder_.CreateAlignedStore(value, place, llvm::Align(1), true);
      }
      return true;
    }
    return Atomic(pointer);
  }

  bool Atomic(Value* pointer) {
    using Op = llvm::AtomicRMWInst;
    const bool returns = at().base() == "atom";
    const size_t first = returns ? 2 : 1;  // behind the result and the address
    const auto order = llvm::AtomicOrdering::Monotonic;
    const llvm::Align align(Type().bits / 8);
    Value* old = nullptr;
    if (Has("cas")) {
      Value* pair = builder_.CreateAtomicCmpXchg(pointer, In(first), In(first + 1), align, order, order);
      old = builder_.CreateExtractValue(pair, 0);
    } else {
      const bool is_signed = Type().is_signed;
      const std::optional<Op::BinOp> operation = Has("add")    ? std::optional(Type().is_float ? Op::FAdd : Op::Add)
                                                 : Has("exch") ? std::optional(Op::Xchg)
                                                 : Has("min")  ? std::optional(is_signed ? Op::Min : Op::UMin)
                                                 : Has("max")  ? std::optional(is_signed ? Op::Max : Op::UMax)
                                                 : Has("and")  ? std::optional(Op::And)
                                                 : Has("or")   ? std::optional(Op::Or)
                                                 : Has("xor")  ? std::optional(Op::Xor)
                                                 : Has("inc")  ? std::optional(Op::UIncWrap)
                                                 : Has("dec")  ? std::optional(Op::UDecWrap)
                                                               : std::nullopt;
      if (!operation || (Type().is_float && !Has("add"))) return false;
      old = builder_.CreateAtomicRMW(*operation, pointer, Read(first, Type()), align, order);
    }
    return !returns || Out(old);
  }

  PointerTo pointer_to_;
};

}  // namespace

absl::StatusOr<Value*> EmitInlinePtx(llvm::CallInst& call, const std::vector<InlineInstruction>& instructions,
                                     llvm::function_ref<Value*(llvm::IRBuilder<>&, const InlineAccess&)> pointer_to) {
  return Emitter(call, pointer_to).Run(instructions);
}

}  // namespace heddle::tracegen
