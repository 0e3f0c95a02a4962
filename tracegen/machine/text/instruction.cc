#include "tracegen/machine/text/instruction.h"

#include <algorithm>
#include <span>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tracegen/machine/forms/pattern.h"
#include "traces/base/printable.h"
#include "traces/base/status_macros.h"

namespace heddle::tracegen::machine {
namespace {

constexpr size_t kMostOperands = 16;
constexpr size_t kMostModifiers = 16;

std::string_view Stripped(std::string_view text) {
  const absl::string_view stripped = absl::StripAsciiWhitespace(absl::string_view(text.data(), text.size()));
  return {stripped.data(), stripped.size()};
}

std::string Shown(std::string_view text) { return CutText(Printable(text), 80); }

// At commas outside of brackets and braces.
std::vector<std::string_view> SplitOperands(std::string_view text) {
  std::vector<std::string_view> parts;
  if (Stripped(text).empty()) return parts;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '[' || text[i] == '{' || text[i] == '(') ++depth;
    if (text[i] == ']' || text[i] == '}' || text[i] == ')') --depth;
    if (text[i] == ',' && depth == 0) {
      parts.push_back(text.substr(begin, i - begin));
      begin = i + 1;
    }
  }
  parts.push_back(text.substr(begin));
  return parts;
}

bool IsPredicate(const Operand& operand) {
  return operand.is_register(RegisterFile::kPredicate) || operand.is_register(RegisterFile::kUniformPredicate);
}
bool IsValueRegister(const Operand& operand) {
  return operand.is_register(RegisterFile::kGeneral) || operand.is_register(RegisterFile::kUniform);
}
bool IsPlain(const RegisterUse& use) { return use.sign == 0 && !use.absolute && use.part.empty(); }

// Whether a row of registers that begins here stays within the file.
bool FitsFile(const Register& reg, uint8_t count) {
  if (reg.is_constant) return true;
  const uint32_t end = reg.number + uint32_t{count};
  return end <= (reg.file == RegisterFile::kUniform ? 63u : 255u);
}

bool Fits(const OperandPlace& place, const Operand& operand, uint8_t registers) {
  using enum Operand::Kind;
  const uint8_t count = place.by_modifiers ? registers : place.count;
  switch (place.kind) {
    case 'd':
      return IsValueRegister(operand) && IsPlain(operand.use) && FitsFile(operand.use.reg, count);
    case 's':
      if (operand.kind == kRegister) {
        return IsValueRegister(operand) && operand.use.sign != '!' && FitsFile(operand.use.reg, count);
      }
      return operand.kind == kImmediate || (operand.kind == kConstant && operand.use.part.empty()) ||
             operand.kind == kBindless || operand.kind == kSymbol;
    case 'p':
      return IsPredicate(operand) && IsPlain(operand.use);
    case 'q':
      if ((IsValueRegister(operand) || operand.kind == kConstant) && operand.use.part == "SIGN") return true;
      return IsPredicate(operand) && (operand.use.sign == 0 || operand.use.sign == '!') && operand.use.part.empty();
    case 'm':
      return operand.kind == kAddress;
    case 'c':
      return (operand.kind == kConstant && operand.use.part.empty()) || operand.kind == kBindless;
    case 'S':
      return operand.kind == kSpecial;
    case 'A':
    case 'a':
      return operand.kind == kAllPredicates;
    case 'B':
    case 'b':
      return operand.is_register(RegisterFile::kConvergence) && IsPlain(operand.use);
    case 'l':
      return operand.kind == kSymbol || (operand.kind == kImmediate && !operand.is_float);
    case 'i':
      return operand.kind == kImmediate && !operand.is_float;
    case 'w':
      return operand.kind == kWord;
    case 'k':
      return operand.kind == kScoreboard;
    default:
      return true;
  }
}

// Fills `places` if the operands are those of the form.
bool MatchOperands(const Form& form, Instruction* instruction) {
  const std::span<const OperandPlace> places = OperandPlaces(form);
  const uint8_t registers = RegistersOf(instruction->modifiers);
  std::vector<uint8_t> filled;
  size_t next = 0;
  for (size_t i = 0; i < places.size(); ++i) {
    if (places[i].kind == 'x') {
      filled.insert(filled.end(), instruction->operands.size() - next, static_cast<uint8_t>(i));
      next = instruction->operands.size();
      break;
    }
    if (next < instruction->operands.size() && Fits(places[i], instruction->operands[next], registers)) {
      filled.push_back(static_cast<uint8_t>(i));
      ++next;
    } else if (!places[i].optional) {
      return false;
    }
  }
  if (next != instruction->operands.size()) return false;
  instruction->places = std::move(filled);
  return true;
}

absl::StatusOr<std::optional<RegisterUse>> ParseGuard(std::string_view text) {
  text = Stripped(text);
  if (text.empty()) return std::optional<RegisterUse>();
  const std::string_view whole = text;
  RegisterUse use;
  if (text[0] == '@') {
    text.remove_prefix(1);
    if (text.starts_with('!')) {
      use.sign = '!';
      text.remove_prefix(1);
    }
    const std::optional<Register> reg = ParseRegister(text);
    if (reg && (reg->file == RegisterFile::kPredicate || reg->file == RegisterFile::kUniformPredicate)) {
      use.reg = *reg;
      return use;
    }
  }
  return absl::InvalidArgumentError(absl::StrCat("guard '", Shown(whole), "' is no predicate"));
}

absl::Status FindForm(std::string_view opcode, std::string_view mnemonic, std::string_view operands,
                      Instruction* instruction) {
  const std::span<const Form> forms = FormsOf(opcode);
  if (forms.empty()) {
    return absl::UnimplementedError(absl::StrCat("opcode '", Shown(opcode), "' is not known"));
  }
  bool has_modifiers = false;
  for (const Form& form : forms) {
    if (!MatchesModifiers(form, instruction->modifiers)) continue;
    has_modifiers = true;
    if (!MatchOperands(form, instruction)) continue;
    instruction->form = &form;
    return absl::OkStatus();
  }
  if (!has_modifiers) {
    return absl::UnimplementedError(absl::StrCat("modifiers of '", Shown(mnemonic), "' are not known"));
  }
  return absl::UnimplementedError(
      absl::StrCat("operands '", Shown(operands), "' of ", Shown(mnemonic), " are of no known form"));
}

}  // namespace

std::string Instruction::Mnemonic() const {
  std::string text(form->opcode);
  for (const std::string& modifier : modifiers) absl::StrAppend(&text, ".", modifier);
  return text;
}

bool Instruction::Has(std::string_view modifier) const {
  return std::find(modifiers.begin(), modifiers.end(), modifier) != modifiers.end();
}

absl::StatusOr<Instruction> ParseInstruction(std::string_view guard, std::string_view mnemonic,
                                             std::string_view operands) {
  Instruction instruction;
  mnemonic = Stripped(mnemonic);
  // The predicates that P2R reads stand among its operands in a listing, and in place of a guard in JSON.
  if (guard == "PR" && mnemonic == "P2R" && operands.find(',') != std::string_view::npos) {
    const std::string with_predicates = std::string(operands).insert(operands.find(','), ",PR");
    return ParseInstruction("", mnemonic, with_predicates);
  }
  HEDDLE_ASSIGN_OR_RETURN(instruction.guard, ParseGuard(guard));
  std::vector<std::string> parts =
      absl::StrSplit(absl::string_view(mnemonic.data(), mnemonic.size()), absl::MaxSplits('.', kMostModifiers));
  if (parts.empty()) parts.emplace_back();
  const std::string opcode = parts[0];
  parts.erase(parts.begin());
  instruction.modifiers = std::move(parts);
  const std::vector<std::string_view> texts = SplitOperands(operands);
  if (texts.size() > kMostOperands) {
    return absl::UnimplementedError(absl::StrCat(Shown(mnemonic), " has ", texts.size(), " operands, more than any"));
  }
  // An opcode that nobody knows is the better message than one of its operands.
  if (FormsOf(opcode).empty()) return FindForm(opcode, mnemonic, operands, &instruction);
  for (const std::string_view text : texts) {
    absl::StatusOr<Operand> operand = ParseOperand(text);
    if (!operand.ok()) {
      return absl::Status(operand.status().code(), absl::StrCat(Shown(mnemonic), ": ", operand.status().message()));
    }
    instruction.operands.push_back(*std::move(operand));
  }
  HEDDLE_RETURN_IF_ERROR(FindForm(opcode, mnemonic, operands, &instruction));
  return instruction;
}

absl::StatusOr<Instruction> ParseInstruction(std::string_view line) {
  line = Stripped(line);
  if (line.ends_with(';')) line = Stripped(line.substr(0, line.size() - 1));
  std::string_view guard;
  if (line.starts_with('@')) {
    const size_t end = line.find(' ');
    guard = line.substr(0, end);
    line = end == std::string_view::npos ? std::string_view() : Stripped(line.substr(end));
  }
  const size_t end = line.find(' ');
  return ParseInstruction(guard, line.substr(0, end),
                          end == std::string_view::npos ? std::string_view() : line.substr(end + 1));
}

std::string InstructionText(const Instruction& instruction) {
  std::string text;
  if (instruction.guard) {
    absl::StrAppend(&text, "@", instruction.guard->sign == '!' ? "!" : "", RegisterText(instruction.guard->reg), " ");
  }
  absl::StrAppend(&text, instruction.Mnemonic());
  const char* separator = " ";
  for (const Operand& operand : instruction.operands) {
    absl::StrAppend(&text, separator, OperandText(operand));
    separator = ", ";
  }
  return text;
}

}  // namespace heddle::tracegen::machine
