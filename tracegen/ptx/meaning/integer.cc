// Integer arithmetic and logic (PTX ISA: Integer Arithmetic Instructions, Extended-Precision Integer Arithmetic, Logic
// and Shift Instructions).
#include <utility>

#include "llvm/IR/Intrinsics.h"
#include "tracegen/ptx/meaning/emission.h"

namespace heddle::tracegen::ptx {
namespace {

using llvm::Value;

bool IsPacked(const Type& type) { return type.elements > 1; }

class Integers {
 public:
  explicit Integers(Emission& e) : e_(e), b_(e.b), type_(e.type()), bits_(type_.bits), is_signed_(IsSigned(type_)) {}

  Value* Run() {
    if (IsFloat(type_)) return nullptr;
    const std::string_view op = e_.at.opcode();
    if (IsPacked(type_)) return Packed();
    if (Value* value = Logic(op)) return value;
    if (Value* value = Bits(op)) return value;
    return Arithmetic(op);
  }

 private:
  Value* In(size_t i) { return e_.In(i, type_); }
  Value* In32(size_t i) { return e_.In32(i); }

  Value* Logic(std::string_view op) {
    if (op == "and") return b_.CreateAnd(In(1), In(2));
    if (op == "or") return b_.CreateOr(In(1), In(2));
    if (op == "xor") return b_.CreateXor(In(1), In(2));
    if (op == "not") return b_.CreateNot(In(1));
    if (op == "cnot") return b_.CreateZExt(b_.CreateIsNull(In(1)), e_.TypeOf(type_));
    if (op == "shl") return ShiftLeft(b_, In(1), In32(2));
    if (op == "shr") return ShiftRight(b_, In(1), In32(2), is_signed_);
    if (op == "lop3") return ThreeInputLogic();
    if (op == "shf") return FunnelShift();
    if (op == "prmt") return Permute();
    return nullptr;
  }

  Value* Bits(std::string_view op) {
    if (op == "popc") return Result32(b_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, In(1)));
    if (op == "brev") return b_.CreateUnaryIntrinsic(llvm::Intrinsic::bitreverse, In(1));
    if (op == "clz") return Result32(LeadingZeros(In(1)));
    if (op == "bfind") return FindHighest();
    if (op == "bfe") return ExtractField();
    if (op == "bfi") return InsertField();
    if (op == "bmsk") return Mask();
    if (op == "szext") return SignOrZeroExtend();
    if (op == "fns") return FindNthSet();
    return nullptr;
  }

  Value* Arithmetic(std::string_view op) {
    if (op == "neg") return b_.CreateNeg(In(1));
    if (op == "abs") return b_.CreateBinaryIntrinsic(llvm::Intrinsic::abs, In(1), b_.getFalse());
    if (op == "min" || op == "max") return Relu(Least(In(1), In(2), op == "min"));
    if (op == "add" || op == "sub" || op == "addc" || op == "subc") return Sum(op);
    if (op == "mul" || op == "mad" || op == "madc") return Product(op);
    if (op == "mul24" || op == "mad24") return Product24(op == "mad24");
    if (op == "div") return is_signed_ ? b_.CreateSDiv(In(1), In(2)) : b_.CreateUDiv(In(1), In(2));
    if (op == "rem") return is_signed_ ? b_.CreateSRem(In(1), In(2)) : b_.CreateURem(In(1), In(2));
    if (op == "sad") {
      Value* a = In(1);
      Value* c = In(2);
      return b_.CreateAdd(b_.CreateSub(Least(a, c, false), Least(a, c, true)), In(3));
    }
    if (op == "dp4a" || op == "dp2a") return DotProduct(op == "dp2a");
    return nullptr;
  }

  // A count, which is written to a register of 32 bits whatever the operand is.
  Value* Result32(Value* value) { return b_.CreateZExtOrTrunc(value, b_.getInt32Ty()); }
  Value* LeadingZeros(Value* value) { return b_.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, value, b_.getFalse()); }
  Value* Least(Value* a, Value* c, bool least) {
    const llvm::Intrinsic::ID id = is_signed_ ? (least ? llvm::Intrinsic::smin : llvm::Intrinsic::smax)
                                              : (least ? llvm::Intrinsic::umin : llvm::Intrinsic::umax);
    return b_.CreateBinaryIntrinsic(id, a, c);
  }
  Value* Relu(Value* value) {
    if (!e_.Has("relu")) return value;
    return b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, value, llvm::Constant::getNullValue(value->getType()));
  }

  Value* CarryIn(bool takes, unsigned bits) {
    return takes ? b_.CreateZExt(e_.access.ReadCarry(), b_.getIntNTy(bits)) : e_.Number(bits, 0);
  }

  Value* Sum(std::string_view op) {
    const bool subtracts = op.starts_with("sub");
    const bool takes = op.ends_with('c');
    Value* a = In(1);
    Value* c = In(2);
    if (e_.Has("sat")) {
      const auto id = subtracts ? llvm::Intrinsic::ssub_sat : llvm::Intrinsic::sadd_sat;
      return b_.CreateBinaryIntrinsic(id, a, c);
    }
    if (!takes && !e_.Has("cc")) return subtracts ? b_.CreateSub(a, c) : b_.CreateAdd(a, c);
    const unsigned wide = 2 * bits_;
    Value* carry = CarryIn(takes, wide);
    a = e_.Extend(a, wide, false);
    c = e_.Extend(c, wide, false);
    Value* sum = subtracts ? b_.CreateSub(b_.CreateSub(a, c), carry) : b_.CreateAdd(b_.CreateAdd(a, c), carry);
    if (e_.Has("cc")) e_.access.WriteCarry(b_.CreateTrunc(b_.CreateLShr(sum, bits_), b_.getInt1Ty()));
    return b_.CreateTrunc(sum, b_.getIntNTy(bits_));
  }

  Value* Product(std::string_view op) {
    const bool adds = op != "mul";
    if (e_.Has("wide")) {
      Value* product = b_.CreateMul(e_.Extend(In(1), 2 * bits_, is_signed_), e_.Extend(In(2), 2 * bits_, is_signed_));
      return adds ? b_.CreateAdd(product, e_.Bits(3, 2 * bits_)) : product;
    }
    Value* half = nullptr;
    if (e_.Has("hi")) {
      Value* product = b_.CreateMul(e_.Extend(In(1), 2 * bits_, is_signed_), e_.Extend(In(2), 2 * bits_, is_signed_));
      half = b_.CreateTrunc(b_.CreateLShr(product, bits_), b_.getIntNTy(bits_));
    } else {
      half = b_.CreateMul(In(1), In(2));
    }
    if (!adds) return half;
    if (e_.Has("sat")) return b_.CreateBinaryIntrinsic(llvm::Intrinsic::sadd_sat, half, In(3));
    if (op == "mad" && !e_.Has("cc")) return b_.CreateAdd(half, In(3));
    const unsigned wide = 2 * bits_;
    Value* sum = b_.CreateAdd(b_.CreateAdd(e_.Extend(half, wide, false), e_.Extend(In(3), wide, false)),
                              CarryIn(op == "madc", wide));
    if (e_.Has("cc")) e_.access.WriteCarry(b_.CreateTrunc(b_.CreateLShr(sum, bits_), b_.getInt1Ty()));
    return b_.CreateTrunc(sum, b_.getIntNTy(bits_));
  }

  // Of the 48 bits of a product, the lower or the upper 32.
  Value* Product24(bool adds) {
    auto low = [&](Value* v) {
      Value* high = b_.CreateShl(v, 8);
      return e_.Extend(is_signed_ ? b_.CreateAShr(high, 8) : b_.CreateLShr(high, 8), 64, is_signed_);
    };
    Value* product = b_.CreateMul(low(In(1)), low(In(2)));
    if (e_.Has("hi")) product = b_.CreateLShr(product, 16);
    product = b_.CreateTrunc(product, b_.getInt32Ty());
    if (!adds) return product;
    if (e_.Has("sat")) return b_.CreateBinaryIntrinsic(llvm::Intrinsic::sadd_sat, product, In(3));
    return b_.CreateAdd(product, In(3));
  }

  Value* FindHighest() {
    Value* value = In(1);
    if (is_signed_) {
      Value* negative = b_.CreateICmpSLT(value, llvm::Constant::getNullValue(value->getType()));
      value = b_.CreateSelect(negative, b_.CreateNot(value), value);
    }
    Value* zeros = Result32(LeadingZeros(value));
    Value* none = e_.Number(32, ~uint64_t{0});
    Value* found = e_.Has("shiftamt") ? zeros : b_.CreateSub(e_.Number(32, bits_ - 1), zeros);
    return b_.CreateSelect(b_.CreateIsNull(value), none, found);
  }

  // fns.b32 d, mask, base, offset: the |offset|-th one of the mask from the base on, upwards or downwards; with offset
  // 0 the base itself, if it is a one.
  Value* FindNthSet() {
    Value* mask = In32(1);
    Value* base = In32(2);
    Value* offset = In32(3);
    Value* down = b_.CreateICmpSLT(offset, e_.Number(32, 0));
    mask = b_.CreateSelect(down, b_.CreateUnaryIntrinsic(llvm::Intrinsic::bitreverse, mask), mask);
    Value* first = b_.CreateSelect(down, b_.CreateSub(e_.Number(32, 31), base), base);
    Value* left = b_.CreateBinaryIntrinsic(llvm::Intrinsic::abs, offset, b_.getFalse());
    Value* at_base = b_.CreateIsNull(left);
    left = b_.CreateSelect(at_base, e_.Number(32, 1), left);
    Value* found = e_.Number(32, ~uint64_t{0});
    for (unsigned i = 0; i < 32; ++i) {
      Value* set = b_.CreateTrunc(b_.CreateLShr(mask, i), b_.getInt1Ty());
      set = b_.CreateAnd(set, b_.CreateICmpSGE(e_.Number(32, i), first));
      left = b_.CreateSub(left, b_.CreateZExt(set, b_.getInt32Ty()));
      Value* hit = b_.CreateAnd(set, b_.CreateIsNull(left));
      hit = b_.CreateAnd(hit, b_.CreateOr(b_.CreateNot(at_base), b_.CreateICmpEQ(first, e_.Number(32, i))));
      Value* place = b_.CreateSelect(down, e_.Number(32, 31 - i), e_.Number(32, i));
      found = b_.CreateSelect(hit, place, found);
    }
    return found;
  }

  Value* Ones(Value* count, unsigned bits) {
    return b_.CreateSub(ShiftLeft(b_, e_.Number(bits, 1), count), e_.Number(bits, 1));
  }

  Value* ExtractField() {
    Value* value = In(1);
    Value* position = b_.CreateAnd(In32(2), 255);
    Value* length = b_.CreateAnd(In32(3), 255);
    Value* mask = Ones(length, bits_);
    Value* field = b_.CreateAnd(ShiftRight(b_, value, position, is_signed_), mask);
    if (!is_signed_) return field;
    // The sign is the field's highest bit, or the value's where the field goes beyond it.
    Value* last = b_.CreateSub(b_.CreateAdd(position, length), e_.Number(32, 1));
    Value* at = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, last, e_.Number(32, bits_ - 1));
    Value* sign = b_.CreateTrunc(ShiftRight(b_, value, at, false), b_.getInt1Ty());
    Value* negative = b_.CreateAnd(sign, b_.CreateIsNotNull(length));
    return b_.CreateSelect(negative, b_.CreateOr(field, b_.CreateNot(mask)), field);
  }

  Value* InsertField() {
    Value* position = b_.CreateAnd(In32(3), 255);
    Value* length = b_.CreateAnd(In32(4), 255);
    Value* mask = ShiftLeft(b_, Ones(length, bits_), position);
    return b_.CreateOr(b_.CreateAnd(In(2), b_.CreateNot(mask)), b_.CreateAnd(ShiftLeft(b_, In(1), position), mask));
  }

  // bmsk.mode.b32 d, a, b: ones from bit a on, b of them.
  Value* Mask() {
    Value* from = In32(1);
    Value* length = In32(2);
    if (e_.Has("wrap")) {
      from = b_.CreateAnd(from, 31);
      length = b_.CreateAnd(length, 31);
    }
    return ShiftLeft(b_, Ones(length, 32), from);
  }

  // szext.mode.type d, a, b: the lower b bits of a, extended.
  Value* SignOrZeroExtend() {
    Value* value = In(1);
    Value* length = In32(2);
    if (e_.Has("wrap")) length = b_.CreateAnd(length, 31);
    Value* mask = Ones(length, 32);
    Value* field = b_.CreateAnd(value, mask);
    if (!is_signed_) return field;
    Value* last =
        b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, b_.CreateSub(length, e_.Number(32, 1)), e_.Number(32, 31));
    Value* sign = b_.CreateTrunc(ShiftRight(b_, value, last, false), b_.getInt1Ty());
    Value* negative = b_.CreateAnd(sign, b_.CreateIsNotNull(length));
    return b_.CreateSelect(negative, b_.CreateOr(field, b_.CreateNot(mask)), field);
  }

  Value* ThreeInputLogic() {
    auto* table = llvm::dyn_cast<llvm::ConstantInt>(In32(4));
    if (table == nullptr) return nullptr;
    Value* inputs[3] = {In32(1), In32(2), In32(3)};
    const uint64_t rows = table->getZExtValue();
    switch (rows & 0xff) {  // the usual ones as what they are
      case 0x96:
        return b_.CreateXor(b_.CreateXor(inputs[0], inputs[1]), inputs[2]);
      case 0xe8:
        return b_.CreateOr(b_.CreateAnd(inputs[0], b_.CreateOr(inputs[1], inputs[2])),
                           b_.CreateAnd(inputs[1], inputs[2]));
      case 0xca:
        return b_.CreateOr(b_.CreateAnd(inputs[0], inputs[1]), b_.CreateAnd(b_.CreateNot(inputs[0]), inputs[2]));
      case 0xfe:
        return b_.CreateOr(b_.CreateOr(inputs[0], inputs[1]), inputs[2]);
      case 0x80:
        return b_.CreateAnd(b_.CreateAnd(inputs[0], inputs[1]), inputs[2]);
      default:
        break;
    }
    Value* result = e_.Number(32, 0);
    for (unsigned row = 0; row < 8; ++row) {
      if ((rows >> row & 1) == 0) continue;
      Value* term = e_.Number(32, ~uint64_t{0});
      for (unsigned i = 0; i < 3; ++i) {
        const bool set = row >> (2 - i) & 1;  // the first input is the highest bit of the row
        term = b_.CreateAnd(term, set ? inputs[i] : b_.CreateNot(inputs[i]));
      }
      result = b_.CreateOr(result, term);
    }
    return result;
  }

  Value* FunnelShift() {
    Value* count = In32(3);
    Value* amount = e_.Has("wrap") ? b_.CreateAnd(count, 31)
                                   : b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, count, e_.Number(32, 32));
    Value* both = b_.CreateOr(b_.CreateShl(e_.Extend(In32(2), 64, false), 32), e_.Extend(In32(1), 64, false));
    amount = e_.Extend(amount, 64, false);
    if (e_.Has("l")) both = b_.CreateLShr(b_.CreateShl(both, amount), 32);
    if (e_.Has("r")) both = b_.CreateLShr(both, amount);
    return b_.CreateTrunc(both, b_.getInt32Ty());
  }

  Value* Permute() {
    // The selectors that a mode stands for, by the last two bits of the third operand.
    static constexpr std::pair<const char*, uint64_t> kModes[] = {
        {"f4e", 0x6543'5432'4321'3210}, {"b4e", 0x0123'7012'6701'5670}, {"rc8", 0x3333'2222'1111'0000},
        {"ecl", 0x3333'3222'3211'3210}, {"ecr", 0x3210'2210'1110'0000}, {"rc16", 0x3232'1010'3232'1010},
    };
    Value* selectors = In32(3);
    for (const auto& [mode, table] : kModes) {
      if (!e_.Has(mode)) continue;
      Value* shift = b_.CreateShl(e_.Extend(b_.CreateAnd(selectors, 3), 64, false), 4);
      selectors = b_.CreateTrunc(b_.CreateLShr(e_.Number(64, table), shift), b_.getInt32Ty());
    }
    return e_.Intrinsic("llvm.nvvm.prmt", {In32(1), In32(2), selectors});
  }

  Value* Lane(Value* word, unsigned i, unsigned bits, bool is_signed) {
    Value* high = b_.CreateShl(word, 32 - bits * (i + 1));
    return is_signed ? b_.CreateAShr(high, 32 - bits) : b_.CreateLShr(high, 32 - bits);
  }

  Value* DotProduct(bool halves) {
    const unsigned count = halves ? 2 : 4, first = e_.Has("hi") ? 2 : 0;
    Value* a = In32(1);
    Value* c = In32(2);
    Value* sum = In32(3);
    for (unsigned i = 0; i < count; ++i) {
      sum = b_.CreateAdd(sum, b_.CreateMul(Lane(a, i, 32 / count, IsSigned(e_.at.TypeAt(0))),
                                           Lane(c, first + i, 8, IsSigned(e_.at.TypeAt(1)))));
    }
    return sum;
  }

  // .u16x2 and .s16x2: add, min, max; lane by lane.
  Value* Packed() {
    const std::string_view op = e_.at.opcode();
    if (op != "add" && op != "min" && op != "max") return nullptr;
    const bool is_signed = type_.name.starts_with('s');
    Value* a = In32(1);
    Value* c = In32(2);
    Value* whole = e_.Number(32, 0);
    for (unsigned i = 0; i < 2; ++i) {
      Value* x = Lane(a, i, 16, is_signed);
      Value* y = Lane(c, i, 16, is_signed);
      const llvm::Intrinsic::ID id = op == "min" ? llvm::Intrinsic::smin : llvm::Intrinsic::smax;
      Value* lane = op == "add" ? b_.CreateAdd(x, y) : Relu(b_.CreateBinaryIntrinsic(id, x, y));
      whole = b_.CreateOr(whole, b_.CreateShl(b_.CreateAnd(lane, 0xffff), 16 * i));
    }
    return whole;
  }

  Emission& e_;
  llvm::IRBuilder<>& b_;
  const Type type_;
  const unsigned bits_;
  const bool is_signed_;
};

}  // namespace

Value* EmitInteger(Emission& e) { return Integers(e).Run(); }

}  // namespace heddle::tracegen::ptx
