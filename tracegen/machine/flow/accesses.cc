#include "tracegen/machine/flow/accesses.h"

#include <algorithm>
#include <span>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tracegen/machine/forms/pattern.h"

namespace heddle::tracegen::machine {
namespace {

constexpr uint8_t kPredicates = 7;

void Add(const Register& first, uint8_t count, std::vector<Register>* registers) {
  if (first.is_constant) return;
  for (uint8_t i = 0; i < count; ++i) {
    const Register reg{first.file, static_cast<uint8_t>(first.number + i), false};
    if (std::find(registers->begin(), registers->end(), reg) == registers->end()) registers->push_back(reg);
  }
}

// Addresses of global and generic memory have 64 bits, and the disassembler of older cards does not say so.
bool HasWideAddresses(const Instruction& instruction) {
  for (const std::string_view opcode : {"LD", "LDG", "ST", "STG", "ATOM", "ATOMG", "RED", "REDG", "CCTL", "QSPC"}) {
    if (instruction.opcode() == opcode) return true;
  }
  return false;
}

// Copies from global to shared memory name their destination first.
bool IsSourceOfCopy(const Instruction& instruction, const Operand& operand) {
  return instruction.opcode() == "LDGSTS" && &operand != &instruction.operands.front();
}

void AddAddress(const Instruction& instruction, const Operand& operand, std::vector<Register>* read) {
  const bool wide = HasWideAddresses(instruction) || IsSourceOfCopy(instruction, operand);
  if (operand.descriptor) Add(operand.descriptor->reg, 2, read);
  const auto add = [&](const Address& address, bool is_wide) {
    if (address.base) {
      // [R4.U32+UR6]: only the uniform register has 64 bits.
      const bool is_pair = address.base->part == "64" || (is_wide && address.base->part.empty());
      Add(address.base->reg, is_pair ? 2 : 1, read);
    }
    if (address.uniform) Add(address.uniform->reg, is_wide ? 2 : 1, read);
  };
  // [R2][R4.64]: from global memory to shared memory.
  add(operand.address, wide);
  if (operand.second) add(*operand.second, true);
}

// The predicates of a mask: of P2R those that are read, of R2P those that are written.
void AddMasked(const Instruction& instruction, std::vector<Register>* registers) {
  const int64_t mask = instruction.operands.back().value;
  for (uint8_t i = 0; i < kPredicates; ++i) {
    if ((mask >> i & 1) != 0) Add({RegisterFile::kPredicate, i, false}, 1, registers);
  }
}

void AddRead(const Instruction& instruction, const Operand& operand, uint8_t count, std::vector<Register>* read) {
  switch (operand.kind) {
    case Operand::Kind::kRegister:
      Add(operand.use.reg, count, read);
      break;
    case Operand::Kind::kConstant:
    case Operand::Kind::kBindless:
    case Operand::Kind::kAddress:
      AddAddress(instruction, operand, read);
      break;
    default:
      break;
  }
}

}  // namespace

absl::StatusOr<Accesses> AccessesOf(const Instruction& instruction) {
  const Form& form = *instruction.form;
  if (form.meaning == Meaning::kNamed) {
    return absl::UnimplementedError(
        absl::StrCat("which registers ", instruction.Mnemonic(), " takes is not known yet"));
  }
  Accesses accesses;
  if (instruction.guard) Add(instruction.guard->reg, 1, &accesses.read);
  const std::span<const OperandPlace> places = OperandPlaces(form);
  const uint8_t by_modifiers = RegistersOf(instruction.modifiers);
  for (size_t i = 0; i < instruction.operands.size(); ++i) {
    const Operand& operand = instruction.operands[i];
    const OperandPlace& place = places[instruction.places[i]];
    const uint8_t count = place.by_modifiers ? by_modifiers : place.count;
    switch (place.kind) {
      case 'd':
      case 'p':
      case 'B':
        Add(operand.use.reg, count, &accesses.written);
        break;
      case 'A':
        AddMasked(instruction, &accesses.written);
        break;
      case 'a':
        AddMasked(instruction, &accesses.read);
        break;
      default:
        AddRead(instruction, operand, count, &accesses.read);
        break;
    }
  }
  return accesses;
}

}  // namespace heddle::tracegen::machine
