#include "tracegen/ptx/syntax/check_operands.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tracegen/ptx/forms/form.h"
#include "tracegen/ptx/forms/pattern.h"
#include "tracegen/ptx/syntax/cursor.h"
#include "traces/base/status_macros.h"

namespace heddle::tracegen::ptx {
namespace {

using Kind = Operand::Kind;
using Width = OperandPlace::Width;

// How the places of a form were filled: the place of each operand.
using Filling = std::vector<const OperandPlace*>;

class OperandMatcher {
 public:
  OperandMatcher(const Function& function, const Instruction& instruction)
      : function_(function), instruction_(instruction), vector_size_(instruction.VectorSize()) {}

  bool Match(std::span<const OperandPlace> places, Filling* filling) const {
    filling->clear();
    return MatchFrom(places, 0, filling);
  }

 private:
  // Backtracks over places that may stay empty; no row has more than a handful of them.
  bool MatchFrom(std::span<const OperandPlace> places, size_t operand, Filling* filling) const {
    const std::vector<Operand>& operands = instruction_.operands;
    if (places.empty()) return operand == operands.size();
    const OperandPlace& place = places.front();
    if (operand < operands.size() && Fits(place, operands[operand])) {
      filling->push_back(&place);
      if (MatchFrom(place.repeat ? places : places.subspan(1), operand + 1, filling)) return true;
      filling->pop_back();
    }
    return (place.optional || place.repeat) && MatchFrom(places.subspan(1), operand, filling);
  }

  bool IsPredicate(const Operand& operand) const {
    return operand.kind == Kind::kArgument ||
           (operand.kind == Kind::kRegister && function_.RegisterOf(operand.index).type.kind == TypeKind::kPredicate);
  }
  bool IsValueRegister(const Operand& operand) const {
    if (operand.negated) return false;
    return operand.kind == Kind::kArgument || (operand.kind == Kind::kRegister && !IsPredicate(operand));
  }
  bool IsWholeVector(const Operand& operand) const {
    return operand.kind == Kind::kRegister && operand.selector.empty() &&
           function_.RegisterOf(operand.index).vector > 1;
  }
  static bool IsNumber(const Operand& operand) {
    return operand.kind == Kind::kInteger || operand.kind == Kind::kFloat32 || operand.kind == Kind::kFloat64 ||
           operand.kind == Kind::kWarpSize || operand.kind == Kind::kArgument;
  }
  bool IsTarget(const Operand& operand) const {
    return (IsValueRegister(operand) && !operand.minus) || operand.kind == Kind::kSink;
  }
  bool IsSource(const Operand& operand) const {
    return IsValueRegister(operand) || IsNumber(operand) || operand.kind == Kind::kSpecial ||
           operand.kind == Kind::kSymbol;
  }

  template <typename Is>
  static bool IsVectorOf(const Operand& operand, size_t size, Is is) {
    return operand.kind == Kind::kVector && (size == 0 || operand.elements.size() == size) &&
           std::all_of(operand.elements.begin(), operand.elements.end(), is);
  }

  // A value, or as many as .v2 and its like say.
  template <typename Is>
  bool FitsVector(const OperandPlace& place, const Operand& operand, Is is) const {
    if (vector_size_ == 1 || place.width == Width::kBits) return is(operand) && !IsWholeVector(operand);
    if (IsWholeVector(operand)) return function_.RegisterOf(operand.index).vector == vector_size_;
    if (operand.kind == Kind::kSpecial) return operand.selector.empty();
    return IsVectorOf(operand, vector_size_, is);
  }

  // Several values that mov makes one of, or one of which it makes several.
  template <typename Is>
  bool IsPacked(const Operand& operand, Is is) const {
    return vector_size_ == 1 && (IsWholeVector(operand) || IsVectorOf(operand, 0, is));
  }

  bool Fits(const OperandPlace& place, const Operand& operand) const {
    const auto is_target = [&](const Operand& part) { return IsTarget(part); };
    const auto is_source = [&](const Operand& part) { return IsSource(part); };
    const auto is_predicate_target = [&](const Operand& part) {
      return (IsPredicate(part) && !part.negated) || part.kind == Kind::kSink;
    };
    switch (place.kind) {
      case 'd':
        return FitsVector(place, operand, is_target);
      case 's':
        return FitsVector(place, operand, is_source);
      case 'D':
        return FitsVector(place, operand, is_target) || IsPacked(operand, is_target);
      case 'S':
        return FitsVector(place, operand, is_source) || IsPacked(operand, is_source);
      case 'p':
        return is_predicate_target(operand);
      case 'P':
        if (operand.kind != Kind::kPair) return is_predicate_target(operand);
        return std::all_of(operand.elements.begin(), operand.elements.end(), is_predicate_target);
      case 'q':
        return IsPredicate(operand) || operand.kind == Kind::kInteger ||
               (operand.kind == Kind::kSpecial && operand.text == "%is_explicit_cluster");
      case 'r':
        if (operand.kind != Kind::kPair) return IsTarget(operand);
        return IsTarget(operand.elements[0]) && is_predicate_target(operand.elements[1]);
      case 'm':
        return operand.kind == Kind::kAddress;
      case 'i':
        return IsNumber(operand);
      case 'V':
        return IsVectorOf(operand, 0, is_target) || IsTarget(operand);
      case 'v':
        return IsVectorOf(operand, 0, is_source) || IsSource(operand);
      case 'w':
        if (operand.kind == Kind::kPair) {
          return (IsTarget(operand.elements[0]) || IsVectorOf(operand.elements[0], 0, is_target)) &&
                 is_predicate_target(operand.elements[1]);
        }
        return IsTarget(operand) || IsVectorOf(operand, 0, is_target);
      case 'a':
        return operand.kind != Kind::kLabel && operand.kind != Kind::kTable && operand.kind != Kind::kPair;
      case 'l':
        return operand.kind == Kind::kLabel;
      case 't':
        return operand.kind == Kind::kTable;
      default:
        return false;
    }
  }

  const Function& function_;
  const Instruction& instruction_;
  uint32_t vector_size_;
};

// Bits of an operand of this place; 0 for any.
uint32_t WantedBits(const OperandPlace& place, const Instruction& instruction) {
  switch (place.width) {
    case Width::kLast:
      return instruction.LastType().bits;
    case Width::kFirst:
      return instruction.TypeAt(0).bits;
    case Width::kSecond:
      return (instruction.TypeAt(1).exists() ? instruction.TypeAt(1) : instruction.LastType()).bits;
    case Width::kTwice:
      return 2u * instruction.LastType().bits;
    case Width::kBits:
      return place.bits;
    case Width::kAny:
      break;
  }
  return 0;
}

// 0: as wide as it has to be, for all that the text says.
uint32_t BitsOf(const Function& function, const Operand& operand) {
  if (operand.kind != Kind::kRegister) return 0;
  // Selectors of video instructions take a part; the register itself counts.
  return function.RegisterOf(operand.index).type.bits;
}

// Of all parts of a vector together; 0 as above.
uint32_t PackedBits(const Function& function, const Operand& operand) {
  if (operand.kind == Kind::kRegister) {
    return BitsOf(function, operand) * (operand.selector.empty() ? function.RegisterOf(operand.index).vector : 1u);
  }
  uint32_t sum = 0;
  for (const Operand& element : operand.elements) {
    const uint32_t bits = BitsOf(function, element);
    if (bits == 0) return 0;
    sum += bits;
  }
  return sum;
}

absl::Status CheckWidth(const OperandPlace& place, const Function& function, const Operand& operand, uint32_t bits,
                        uint32_t line, std::string_view text) {
  const uint32_t has = BitsOf(function, operand);
  if (has == 0 || bits == 0 || has == bits || (place.wider && has > bits)) return absl::OkStatus();
  return SyntaxError(line,
                     absl::StrCat("register ", function.RegisterName(operand.index), " has ", has,
                                  " bits, the instruction takes ", place.wider ? "at least " : "", bits),
                     text);
}

absl::Status CheckWidths(const Function& function, const Instruction& instruction, const Filling& filling,
                         uint32_t line, std::string_view text) {
  for (size_t i = 0; i < filling.size(); ++i) {
    const OperandPlace& place = *filling[i];
    const Operand& operand = instruction.operands[i];
    const bool sized = std::string_view("dsDSrVv").find(place.kind) != std::string_view::npos;
    if (!sized) continue;
    const uint32_t bits = WantedBits(place, instruction);
    const bool packs = (place.kind == 'D' || place.kind == 'S') && instruction.VectorSize() == 1;
    if (packs) {
      const uint32_t has = PackedBits(function, operand);
      if (has != 0 && has != bits) {
        return SyntaxError(line, absl::StrCat("an operand of ", has, " bits where the instruction takes ", bits), text);
      }
    } else if (operand.kind == Kind::kVector) {
      for (const Operand& element : operand.elements) {
        HEDDLE_RETURN_IF_ERROR(CheckWidth(place, function, element, bits, line, text));
      }
    } else {
      const Operand& value = operand.kind == Kind::kPair ? operand.elements[0] : operand;
      HEDDLE_RETURN_IF_ERROR(CheckWidth(place, function, value, bits, line, text));
    }
  }
  return absl::OkStatus();
}

void MarkWritten(Operand& operand) {
  operand.written = operand.kind != Kind::kSink;
  for (Operand& element : operand.elements) MarkWritten(element);
}

}  // namespace

absl::Status FindForm(std::string_view opcode, const Function& function, uint32_t line, std::string_view text,
                      Instruction& instruction) {
  const std::span<const Form> rows = FormsOf(opcode);
  if (rows.empty()) return SyntaxError(line, "an instruction that is not known", text);
  for (Operand& operand : instruction.operands) {
    if (operand.kind != Kind::kVector || operand.elements.size() != 1) continue;
    Operand element = std::move(operand.elements[0]);
    operand = std::move(element);
  }
  std::vector<std::string_view> modifiers;
  for (const Modifier& modifier : instruction.modifiers) modifiers.push_back(modifier.text);
  const OperandMatcher matcher(function, instruction);
  const bool is_call = opcode == "call";
  bool modifiers_fit = false;
  Filling filling;
  for (const bool any_order : {false, true}) {
    for (const Form& row : rows) {
      if (!MatchesModifiers(row, modifiers, any_order)) continue;
      modifiers_fit = true;
      if (!is_call && !matcher.Match(OperandPlaces(row), &filling)) continue;
      instruction.form = &row;
      break;
    }
    if (modifiers_fit) break;
  }
  if (!modifiers_fit) return SyntaxError(line, "modifiers that this instruction does not have", text);
  if (instruction.form == nullptr) return SyntaxError(line, "operands that this instruction does not have", text);
  if (is_call) {
    MarkWritten(instruction.operands[0]);
    return absl::OkStatus();
  }
  HEDDLE_RETURN_IF_ERROR(CheckWidths(function, instruction, filling, line, text));
  for (size_t i = 0; i < filling.size(); ++i) {
    if (std::string_view("dDpPrVw").find(filling[i]->kind) != std::string_view::npos) {
      MarkWritten(instruction.operands[i]);
    }
  }
  return absl::OkStatus();
}

}  // namespace heddle::tracegen::ptx
