// Loads and stores of machine code.
#include <string>

#include "absl/strings/str_cat.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DerivedTypes.h"
#include "tracegen/machine/forms/pattern.h"
#include "tracegen/program/machine_source/machine_step.h"
#include "tracegen/program/ptx_source/windows.h"

namespace heddle::tracegen {
namespace {

namespace v1 = ::heddle::trace::v1;
using llvm::Value;
using machine::Operand;
using machine::Register;

constexpr unsigned kSharedPlaceBits = 24;
constexpr uint64_t kSharedPlaces = (uint64_t{1} << kSharedPlaceBits) - 1;

unsigned AddressSpaceOf(v1::MemorySpace space) {
  switch (space) {
    case v1::SPACE_GLOBAL:
      return 1;
    case v1::SPACE_SHARED:
      return 3;
    case v1::SPACE_CONSTANT:
      return 4;
    case v1::SPACE_LOCAL:
      return 5;
    default:
      return 0;
  }
}

bool IsWide(v1::MemorySpace space) { return space == v1::SPACE_GLOBAL || space == v1::SPACE_GENERIC; }

// 64 bits of a register, or of a pair.
Value* Number(MachineStepContext& step, const Register& reg, bool is_pair) {
  llvm::Type* type = step.b.getInt64Ty();
  Value* low = step.b.CreateZExt(step.state.Read(reg), type);
  if (!is_pair) return low;
  return step.b.CreateOr(low,
                         step.b.CreateShl(step.b.CreateZExt(step.state.Read(MachineRegisterBehind(reg, 1)), type), 32));
}

// The sum of what stands in brackets. [R4.X8]: eight times the register.
Value* Sum(MachineStepContext& step, const machine::Address& address, bool is_wide) {
  llvm::IRBuilder<>& b = step.b;
  Value* sum = b.getInt64(static_cast<uint64_t>(address.offset.value_or(0)));
  if (address.base) {
    const std::string& part = address.base->part;
    const bool is_pair = part == "64" || (is_wide && part.empty());
    Value* base = Number(step, address.base->reg, is_pair);
    if (part == "X4" || part == "X8" || part == "X16") {
      base = b.CreateMul(base, b.getInt64(std::stoul(part.substr(1))));
    } else if (!part.empty() && part != "64" && part != "U32") {
      step.e.Fail("the part of a register");
    }
    sum = b.CreateAdd(base, sum);
  }
  if (address.uniform) {
    if (!address.uniform->part.empty()) step.e.Fail("the part of a register");
    sum = b.CreateAdd(Number(step, address.uniform->reg, is_wide), sum);
  }
  return sum;
}

struct Element {
  unsigned bits = 32;  // in memory
  unsigned words = 1;  // registers
  bool is_signed = false;
};

Element ElementOf(const machine::Instruction& at) {
  Element element;
  if (at.Has("U8") || at.Has("S8")) element.bits = 8;
  if (at.Has("U16") || at.Has("S16")) element.bits = 16;
  element.is_signed = at.Has("S8") || at.Has("S16");
  element.words = machine::RegistersOf(at.modifiers);
  return element;
}

// Into the registers of the result.
void Spread(MachineStepContext& step, const Element& element, Value* value) {
  llvm::IRBuilder<>& b = step.b;
  const Register& first = step.e.Find('d')->use.reg;
  for (unsigned i = 0; i < element.words; ++i) {
    Value* word = element.words == 1 ? value : b.CreateExtractElement(value, i);
    if (element.bits < 32) {
      word = element.is_signed ? b.CreateSExt(word, b.getInt32Ty()) : b.CreateZExt(word, b.getInt32Ty());
    }
    step.state.Write(MachineRegisterBehind(first, i), word);
  }
}

llvm::Type* TypeOf(MachineStepContext& step, const Element& element) {
  if (element.words == 1) return step.b.getIntNTy(element.bits);
  return llvm::FixedVectorType::get(step.b.getInt32Ty(), element.words);
}

llvm::Align AlignmentOf(const Element& element) { return llvm::Align(uint64_t{element.bits} / 8 * element.words); }

// A fixed place of a constant bank, as of an operand.
void LoadFixedConstant(MachineStepContext& step, const Operand& operand) {
  llvm::IRBuilder<>& b = step.b;
  const Element element = ElementOf(step.e.at);
  const Register& first = step.e.Find('d')->use.reg;
  const int64_t at = operand.address.offset.value_or(0);
  if (element.bits < 32) {
    Value* word = step.state.banks().Word(operand.bank, at & ~int64_t{3});
    if (word == nullptr) {
      step.e.Fail("this place of a constant bank");
      return;
    }
    Value* part = b.CreateTrunc(b.CreateLShr(word, static_cast<uint64_t>(at & 3) * 8), b.getIntNTy(element.bits));
    Spread(step, element, part);
    return;
  }
  for (unsigned i = 0; i < element.words; ++i)
    step.state.Write(MachineRegisterBehind(first, i), step.e.Bits(operand, i));
}

void LoadConstant(MachineStepContext& step, llvm::Instruction** access) {
  const Operand& operand = *step.e.Find('c');
  if (operand.kind != Operand::Kind::kConstant) {
    step.e.Fail("a constant bank that a register names");
    return;
  }
  if (!ReadsMovingConstant(step.e.at)) {
    LoadFixedConstant(step, operand);
    return;
  }
  machine::Address index = operand.address;
  const int64_t at = index.offset.value_or(0);
  index.offset.reset();
  Value* place = step.b.CreateTrunc(Sum(step, index, false), step.b.getInt32Ty());
  Value* pointer = step.state.banks().Pointer(operand.bank, place, at);
  if (pointer == nullptr) {
    step.e.Fail("this place of a constant bank");
    return;
  }
  const Element element = ElementOf(step.e.at);
  llvm::LoadInst* load = step.b.CreateAlignedLoad(TypeOf(step, element), pointer, AlignmentOf(element));
  *access = load;
  Spread(step, element, load);
}

// A generic address of the machine as one of ours. On architectures with clusters those of shared memory name the
// block: its rank stands above the 24 bits of the place.
Value* GenericNumber(MachineStepContext& step, Value* number) {
  if (!step.state.has_cluster_addresses()) return number;
  llvm::IRBuilder<>& b = step.b;
  Value* is_shared = b.CreateICmpEQ(b.CreateLShr(number, 32), b.getInt64(kPtxSharedWindow >> 32));
  Value* rank = b.CreateTrunc(b.CreateLShr(number, kSharedPlaceBits), b.getInt32Ty());
  rank = b.CreateAnd(rank, 0xff);
  Value* own = b.CreateOr(b.CreateAnd(number, kSharedPlaces), b.getInt64(kPtxSharedWindow));
  Value* other = step.e.Intrinsic("llvm.nvvm.mapa", {b.CreateIntToPtr(own, b.getPtrTy()), rank});
  Value* is_own = b.CreateICmpEQ(rank, step.state.PtxSpecial("cluster_ctarank"));
  Value* place = b.CreateSelect(is_own, own, b.CreatePtrToInt(other, b.getInt64Ty()));
  return b.CreateSelect(is_shared, place, number);
}

// Which memory an address is of. Nothing is accessed.
void QuerySpace(MachineStepContext& step) {
  llvm::IRBuilder<>& b = step.b;
  const Operand* number = step.e.Find('d');
  if (number != nullptr && !number->use.reg.is_constant) {
    step.e.Fail("the number that this gives");
    return;
  }
  const char* space = step.e.Has("S")   ? "shared"
                      : step.e.Has("D") ? "shared.cluster"
                      : step.e.Has("L") ? "local"
                                        : "global";
  Value* place = GenericNumber(step, Sum(step, step.e.Find('m')->address, true));
  Value* pointer = b.CreateIntToPtr(place, b.getPtrTy());
  step.e.OutPredicate(0, step.e.Intrinsic(absl::StrCat("llvm.nvvm.isspacep.", space), {pointer}));
}

}  // namespace

Register MachineRegisterBehind(const Register& first, uint32_t offset) {
  if (first.is_constant) return first;
  return {first.file, static_cast<uint8_t>(first.number + offset), false};
}

Value* MachinePointer(MachineStepContext& step) {
  return MachinePointer(step, step.e.Find('m')->address, step.instruction.space);
}

Value* MachinePointer(MachineStepContext& step, const machine::Address& address, v1::MemorySpace space) {
  llvm::IRBuilder<>& b = step.b;
  Value* number = Sum(step, address, IsWide(space));
  if (!IsWide(space)) {
    // Addresses of these spaces have 32 bits. Those of shared memory are of the block itself, whatever rank they name.
    const bool is_shared = space == v1::SPACE_SHARED;
    Value* window = is_shared ? b.getInt64(kPtxSharedWindow) : step.state.banks().local_window();
    number = b.CreateZExt(b.CreateTrunc(number, b.getInt32Ty()), b.getInt64Ty());
    if (is_shared && step.state.has_cluster_addresses()) number = b.CreateAnd(number, kSharedPlaces);
    number = b.CreateOr(number, window);
  } else if (space == v1::SPACE_GENERIC) {
    number = GenericNumber(step, number);
  }
  return b.CreateIntToPtr(number, llvm::PointerType::get(b.getContext(), AddressSpaceOf(space)));
}

// Asynchronous instructions get generic pointers, so that all who execute them get the same kind.
Value* GenericMachinePointer(MachineStepContext& step, const machine::Address& address, v1::MemorySpace space) {
  return step.b.CreateAddrSpaceCast(MachinePointer(step, address, space), step.b.getPtrTy());
}

void LowerMachineAccess(MachineStepContext& step, llvm::Instruction** access) {
  const std::string_view op = step.e.at.opcode();
  if (op == "LDC" || op == "ULDC") {
    LoadConstant(step, access);
    return;
  }
  if (op == "QSPC") {
    QuerySpace(step);
    return;
  }
  llvm::IRBuilder<>& b = step.b;
  const Operand* condition = step.e.Find('q');
  const Operand* done = step.e.Find('p');
  if ((condition != nullptr && (!condition->use.reg.is_constant || condition->use.sign == '!')) ||
      (done != nullptr && !done->use.reg.is_constant)) {
    step.e.Fail("an access with a predicate of its own");
    return;
  }
  const Element element = ElementOf(step.e.at);
  const bool is_volatile = step.e.Has("STRONG") && step.e.Has("SYS");
  Value* pointer = MachinePointer(step);
  if (step.e.Find('d') != nullptr) {
    llvm::LoadInst* load = b.CreateAlignedLoad(TypeOf(step, element), pointer, AlignmentOf(element), is_volatile);
    *access = load;
    Spread(step, element, load);
    return;
  }
  const Operand& stored = *step.e.Find('s');
  Value* value = nullptr;
  if (element.words == 1) {
    value = b.CreateTrunc(step.e.Bits(stored), b.getIntNTy(element.bits));
  } else {
    value = llvm::PoisonValue::get(TypeOf(step, element));
    for (unsigned i = 0; i < element.words; ++i) value = b.CreateInsertElement(value, step.e.Bits(stored, i), i);
  }
  *access = b.CreateAlignedStore(value, pointer, AlignmentOf(element), is_volatile);
}

}  // namespace heddle::tracegen
