// Video instructions: on parts of words, and on words lane by lane (PTX ISA: Video Instructions).
#include <algorithm>
#include <string>
#include <utility>

#include "llvm/IR/Intrinsics.h"
#include "tracegen/ptx/meaning/emission.h"

namespace heddle::tracegen::ptx {
namespace {

using llvm::Value;
using Predicate = llvm::CmpInst::Predicate;

constexpr std::pair<const char*, Predicate> kTests[] = {
    {"eq", llvm::CmpInst::ICMP_EQ},  {"ne", llvm::CmpInst::ICMP_NE},  {"lt", llvm::CmpInst::ICMP_SLT},
    {"le", llvm::CmpInst::ICMP_SLE}, {"gt", llvm::CmpInst::ICMP_SGT}, {"ge", llvm::CmpInst::ICMP_SGE}};

class Video {
 public:
  explicit Video(Emission& e) : e_(e), b_(e.b), op_(e.at.opcode()) {}

  Value* Run() {
    const char last = op_.back();
    if (last == '2' || last == '4') return Lanes(last == '2' ? 2 : 4);
    return Scalar();
  }

 private:
  Value* Wide(uint64_t value) { return b_.getInt64(value); }

  // min or max of numbers of 64 bits.
  Value* Extreme(Value* a, Value* c, bool least) {
    return b_.CreateBinaryIntrinsic(least ? llvm::Intrinsic::smin : llvm::Intrinsic::smax, a, c);
  }

  Value* Compare(Value* a, Value* c) {
    for (const auto& [name, test] : kTests) {
      if (e_.Has(name)) return b_.CreateZExt(b_.CreateICmp(test, a, c), b_.getInt64Ty());
    }
    return nullptr;
  }

  // What an operation makes of two numbers that are wide enough to hold any result.
  Value* Combine(const std::string& operation, Value* a, Value* c) {
    if (operation == "vadd") return b_.CreateAdd(a, c);
    if (operation == "vsub") return b_.CreateSub(a, c);
    if (operation == "vabsdiff") return b_.CreateSub(Extreme(a, c, false), Extreme(a, c, true));
    if (operation == "vmin") return Extreme(a, c, true);
    if (operation == "vmax") return Extreme(a, c, false);
    if (operation == "vset") return Compare(a, c);
    if (operation == "vavrg") {
      Value* sum = b_.CreateAdd(a, c);
      Value* up = b_.CreateZExt(b_.CreateICmpSGE(sum, Wide(0)), b_.getInt64Ty());
      return b_.CreateAShr(b_.CreateAdd(sum, up), 1);
    }
    return nullptr;
  }

  Value* Saturate(Value* value, unsigned bits, bool is_signed) {
    const uint64_t most = (uint64_t{1} << (is_signed ? bits - 1 : bits)) - 1;
    value = Extreme(value, Wide(most), true);
    return Extreme(value, Wide(is_signed ? ~most : 0), false);
  }

  // --- one number each: vadd.d.a.b d, a.b0, b.h1

  Value* Part(size_t i, const Type& type) {
    const Operand& operand = e_.at.operands[i];
    Value* word = e_.In32(i);
    const std::string_view selector = operand.selector;
    unsigned bits = 32, shift = 0;
    if (selector.size() == 2 && (selector[0] == 'b' || selector[0] == 'h')) {
      bits = selector[0] == 'b' ? 8 : 16;
      shift = static_cast<unsigned>(selector[1] - '0') * bits;
    }
    Value* part = b_.CreateTrunc(b_.CreateLShr(word, shift), b_.getIntNTy(bits));
    return e_.Extend(part, 64, IsSigned(type));
  }

  Value* Scalar() {
    const bool compares = op_ == "vset";
    const Type of_d = compares ? Type{"u32", TypeKind::kUnsigned, 32, 1} : e_.at.TypeAt(0);
    const Type of_a = e_.at.TypeAt(compares ? 0 : 1);
    const Type of_b = e_.at.TypeAt(compares ? 1 : 2);
    if (e_.count() < 3) return nullptr;
    Value* a = Part(1, of_a);
    Value* c = Part(2, of_b);
    Value* result = nullptr;
    if (op_ == "vmad") {
      result = b_.CreateMul(a, c);
      Value* third = e_.Extend(e_.In32(3), 64, IsSigned(of_d));
      result = b_.CreateAdd(result, third);
      if (e_.Has("po")) result = b_.CreateAdd(result, Wide(1));
      if (e_.Has("shr7") || e_.Has("shr15")) result = b_.CreateAShr(result, e_.Has("shr7") ? 7 : 15);
    } else if (op_ == "vshl" || op_ == "vshr") {
      Value* count = b_.CreateTrunc(c, b_.getInt32Ty());
      count = e_.Has("wrap") ? b_.CreateAnd(count, 31)
                             : b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, count, b_.getInt32(32));
      count = b_.CreateZExt(count, b_.getInt64Ty());
      result = op_ == "vshl" ? b_.CreateShl(a, count) : b_.CreateAShr(a, count);
    } else {
      result = Combine(std::string(op_), a, c);
    }
    if (result == nullptr) return nullptr;
    if (e_.Has("sat")) result = Saturate(result, 32, IsSigned(of_d));
    result = b_.CreateTrunc(result, b_.getInt32Ty());
    if (op_ == "vmad" || e_.count() < 4) return result;
    return Second(result, of_d);
  }

  // A second operation with a third operand, or the result merged into a part of it.
  Value* Second(Value* result, const Type& of_d) {
    Value* third = e_.In32(3);
    const bool is_signed = IsSigned(of_d);
    if (e_.Has("add")) return b_.CreateAdd(result, third);
    if (e_.Has("min") || e_.Has("max")) {
      const llvm::Intrinsic::ID id = is_signed ? (e_.Has("min") ? llvm::Intrinsic::smin : llvm::Intrinsic::smax)
                                               : (e_.Has("min") ? llvm::Intrinsic::umin : llvm::Intrinsic::umax);
      return b_.CreateBinaryIntrinsic(id, result, third);
    }
    const std::string_view selector = e_.at.operands[0].selector;
    if (selector.size() != 2) return nullptr;
    const unsigned bits = selector[0] == 'b' ? 8 : 16;
    const unsigned shift = static_cast<unsigned>(selector[1] - '0') * bits;
    const uint32_t mask = ((uint32_t{1} << bits) - 1) << shift;
    return b_.CreateOr(b_.CreateAnd(third, ~mask), b_.CreateAnd(b_.CreateShl(result, shift), mask));
  }

  // --- two or four numbers in a word: vadd4.d.a.b.sat d.mask, a.b3210, b.b7654, c

  // Lane i of an operand: one of the parts of {b, a}, lowest last in the selector.
  Value* Lane(const Operand& operand, Value* both, unsigned i, unsigned count, unsigned first, bool is_signed) {
    unsigned part = first + i;
    const std::string_view selector = operand.selector;
    if (selector.size() == count + 1) part = static_cast<unsigned>(selector[count - i] - '0');
    const unsigned bits = 32 / count;
    Value* value = b_.CreateTrunc(b_.CreateLShr(both, uint64_t{part} * bits), b_.getIntNTy(bits));
    return e_.Extend(value, 64, is_signed);
  }

  Value* Lanes(unsigned count) {
    const std::string operation(op_.substr(0, op_.size() - 1));
    const bool compares = operation == "vset";
    const Type of_d = compares ? Type{"u32", TypeKind::kUnsigned, 32, 1} : e_.at.TypeAt(0);
    const Type of_a = e_.at.TypeAt(compares ? 0 : 1);
    const Type of_b = e_.at.TypeAt(compares ? 1 : 2);
    if (e_.count() != 4) return nullptr;
    const unsigned bits = 32 / count;
    Value* both = b_.CreateOr(e_.Extend(e_.In32(1), 64, false), b_.CreateShl(e_.Extend(e_.In32(2), 64, false), 32));
    Value* third = e_.In32(3);
    Value* whole = e_.Has("add") ? third : e_.Number(32, 0);
    const std::string_view mask = e_.at.operands[0].selector;
    for (unsigned i = 0; i < count; ++i) {
      const bool written = mask.empty() || mask.find(static_cast<char>('0' + i)) != std::string_view::npos;
      if (!written) {
        if (e_.Has("add")) continue;
        const uint32_t lane_mask = static_cast<uint32_t>(((uint64_t{1} << bits) - 1) << (bits * i));
        whole = b_.CreateOr(whole, b_.CreateAnd(third, lane_mask));
        continue;
      }
      Value* a = Lane(e_.at.operands[1], both, i, count, 0, IsSigned(of_a));
      Value* c = Lane(e_.at.operands[2], both, i, count, count, IsSigned(of_b));
      Value* lane = Combine(operation, a, c);
      if (lane == nullptr) return nullptr;
      if (e_.Has("sat")) lane = Saturate(lane, bits, IsSigned(of_d));
      lane = b_.CreateTrunc(lane, b_.getInt32Ty());
      if (e_.Has("add")) {
        whole = b_.CreateAdd(whole, lane);
      } else {
        Value* cut = b_.CreateAnd(lane, e_.Number(32, (uint64_t{1} << bits) - 1));
        whole = b_.CreateOr(whole, b_.CreateShl(cut, uint64_t{bits} * i));
      }
    }
    return whole;
  }

  Emission& e_;
  llvm::IRBuilder<>& b_;
  const std::string_view op_;
};

}  // namespace

Value* EmitVideo(Emission& e) { return Video(e).Run(); }

}  // namespace heddle::tracegen::ptx
