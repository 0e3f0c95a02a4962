// Instructions of inline PTX as IR (meaning: PTX ISA 7.0, chapter 9).
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "tracegen/ptx/inline_ptx.h"
#include "tracegen/ptx/inline_ptx_arithmetic.h"
#include "tracegen/ptx/inline_ptx_modifiers.h"

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
      if (!Emit() || failed()) return absl::UnimplementedError(absl::StrCat(instruction.text, reason_));
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
    if (!HasKnownModifiers(at())) return false;
    if (at().Synchronizes()) return Synchronization();
    if (at().IsMemory()) return Memory();
    if (base == "mov") return Move();
    if (base == "cvt") return Convert();
    if (base == "setp" || base == "set") return Compare();
    if (base == "selp") {
      Value* condition = Predicate(3);
      return Out(builder_.CreateSelect(condition, In(1), In(2)));
    }
    if (base == "slct") return Choose();
    if (base == "isspacep") return Out(SpaceTest());
    if (base == "cvta") return Out(GenericAddress());
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
    // A register that is wider than an integer holds it extended, as its type says.
    auto out = [&](Value* integer) { return Out(to.bits < 32 ? Extend(integer, 32, to.is_signed) : integer); };
    if (!to.is_float && !from.is_float) {
      if (Has("sat")) value = Clamp(Extend(value, 128, from.is_signed), to);
      return out(from.is_signed ? builder_.CreateSExtOrTrunc(value, type) : builder_.CreateZExtOrTrunc(value, type));
    }
    if (from.is_float) value = Flush(value);
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
      return out(builder_.CreateIntrinsic(id, {type, whole->getType()}, {whole}));
    }
    if (!from.is_float) {
      for (const char* mode : {"rz", "rm", "rp"}) {
        if (!Has(mode)) continue;
        Value* number = Intrinsic(absl::StrCat("llvm.nvvm.", from.is_signed ? "" : "u", from.bits == 64 ? "ll" : "i",
                                               "2", to.bits == 64 ? "d." : "f.", mode),
                                  {value});
        return number != nullptr && Out(Saturate(number));
      }
      if (!Has("rn")) return false;
      return Out(Saturate(from.is_signed ? builder_.CreateSIToFP(value, type) : builder_.CreateUIToFP(value, type)));
    }
    if (Value* whole = rounded(value); whole != nullptr) return to.bits == from.bits && Out(Saturate(whole));
    if (to.bits > from.bits) return Out(Saturate(builder_.CreateFPExt(value, type)));
    if (to.bits == from.bits) return Out(Saturate(value));
    for (const char* mode : {"rz", "rm", "rp"}) {
      if (!Has(mode)) continue;
      Value* number = to.bits == 32 ? Intrinsic(absl::StrCat("llvm.nvvm.d2f.", mode), {value}) : nullptr;
      return number != nullptr && Out(Saturate(Flush(number)));
    }
    return Has("rn") && Out(Saturate(Flush(builder_.CreateFPTrunc(value, type))));
  }

  // An integer of 128 bits within the range of a type.
  Value* Clamp(Value* value, const PtxType& type) {
    const llvm::APInt most = type.is_signed ? llvm::APInt::getSignedMaxValue(type.bits).zext(128)
                                            : llvm::APInt::getMaxValue(type.bits).zext(128);
    const llvm::APInt least =
        type.is_signed ? llvm::APInt::getSignedMinValue(type.bits).sext(128) : llvm::APInt::getZero(128);
    value = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, value, builder_.getInt(most));
    return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, value, builder_.getInt(least));
  }

  // slct.dtype.ctype d, a, b, c: a if c is not negative.
  bool Choose() {
    if (types().size() != 2) return false;
    Value* test = Flush(In(3));
    Value* first = Type().is_float ? builder_.CreateFCmpOGE(test, llvm::Constant::getNullValue(test->getType()))
                                   : builder_.CreateICmpSGE(test, llvm::Constant::getNullValue(test->getType()));
    return Out(builder_.CreateSelect(first, Read(1, types()[0]), Read(2, types()[0])));
  }

  // Addresses of a space are generic ones already, but for those of shared memory: of these the lower half counts.
  Value* GenericAddress() {
    Value* address = In(1);
    if (!Has("shared") || Type().bits != 64) return address;
    Value* offset = builder_.CreateAnd(address, Integer(64, 0xffff'ffff));
    return Has("to") ? offset : builder_.CreateOr(offset, Integer(64, kSharedWindow));
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
    Value* a = Flush(In(1));
    Value* b = Flush(In(2));
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
    auto combined = [&](Value* test) {
      if (Has("and")) return builder_.CreateAnd(test, Predicate(3));
      if (Has("or")) return builder_.CreateOr(test, Predicate(3));
      return Has("xor") ? builder_.CreateXor(test, Predicate(3)) : test;
    };
    if (at().base() == "setp" && at().operands[0].kind == Kind::kPair) {
      const InlineOperand& to = at().operands[0];
      Value* both[2] = {combined(result), combined(builder_.CreateNot(result))};
      return Write(to.elements[0], both[0]) && Write(to.elements[1], both[1]);
    }
    result = combined(result);
    if (at().base() == "setp") return Out(result);
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

  // Whether the code is compiled for a device of at least this compute capability.
  bool Needs(unsigned capability) {
    unsigned target = 0;
    const llvm::StringRef cpu = call().getFunction()->getFnAttribute("target-cpu").getValueAsString();
    if (!cpu.starts_with("sm_") || cpu.substr(3).getAsInteger(10, target) || target >= capability) return true;
    reason_ = absl::StrCat(", which needs compute capability ", capability / 10, ".", capability % 10);
    return false;
  }

  bool Synchronization() {
    const std::string& base = at().base();
    if ((base == "match" && !Needs(70)) || (base == "redux" && !Needs(80))) return false;
    auto mask_or_active = [&](size_t i) { return Has("sync") ? In32(i) : Intrinsic("llvm.nvvm.activemask", {}); };
    if (base == "activemask") return Out(Intrinsic("llvm.nvvm.activemask", {}));
    if (base == "bar" || base == "barrier") {
      if (Has("red")) return ReduceAtBarrier();
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
    if (base == "match") {
      const char* type = Type().bits == 64 ? "i64" : "i32";
      if (Has("any")) return Out(Intrinsic(absl::StrCat("llvm.nvvm.match.any.sync.", type), {In32(2), In(1)}));
      const InlineOperand& to = at().operands[0];
      Value* matched = Intrinsic(absl::StrCat("llvm.nvvm.match.all.sync.", type, "p"), {In32(2), In(1)});
      if (matched == nullptr) return false;
      Value* lanes = builder_.CreateExtractValue(matched, 0);
      if (to.kind != Kind::kPair) return Out(lanes);
      return Write(to.elements[0], lanes) && Write(to.elements[1], builder_.CreateExtractValue(matched, 1));
    }
    if (base == "redux") {
      const bool is_unsigned = !Type().is_signed;
      const char* operation = Has("add")   ? "add"
                              : Has("min") ? (is_unsigned ? "umin" : "min")
                              : Has("max") ? (is_unsigned ? "umax" : "max")
                              : Has("and") ? "and"
                              : Has("or")  ? "or"
                                           : "xor";
      return Out(Intrinsic(absl::StrCat("llvm.nvvm.redux.sync.", operation), {In32(1), In32(2)}));
    }
    return false;
  }

  // bar.red.OP d, 0, p, for the whole block.
  bool ReduceAtBarrier() {
    if (at().operands.size() != 3 || at().operands[1].kind != Kind::kNumber || at().operands[1].number != 0)
      return false;
    const char* operation = Has("popc") ? "popc" : Has("and") ? "and" : "or";
    Value* count = Intrinsic(absl::StrCat("llvm.nvvm.barrier0.", operation), {Extend(Predicate(2), 32, false)});
    if (count == nullptr) return false;
    return Out(Has("popc") ? count : builder_.CreateIsNotNull(count));
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
    if (base == "ld" || base == "ldu") {
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
  std::string reason_;  // why an instruction that is known cannot be had
};

}  // namespace

absl::StatusOr<Value*> EmitInlinePtx(llvm::CallInst& call, const std::vector<InlineInstruction>& instructions,
                                     llvm::function_ref<Value*(llvm::IRBuilder<>&, const InlineAccess&)> pointer_to) {
  return Emitter(call, pointer_to).Run(instructions);
}

}  // namespace heddle::tracegen
