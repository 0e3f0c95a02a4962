#include "tracegen/ptx/syntax/print_parts.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace heddle::tracegen::ptx {
namespace {

using Kind = Operand::Kind;

absl::string_view View(std::string_view text) { return {text.data(), text.size()}; }

// "+8", "-8", or nothing.
std::string OffsetText(int64_t offset) {
  return offset == 0 ? "" : offset > 0 ? absl::StrCat("+", offset) : absl::StrCat(offset);
}

}  // namespace

std::string LinkageText(Linkage linkage) {
  switch (linkage) {
    case Linkage::kVisible:
      return ".visible ";
    case Linkage::kExtern:
      return ".extern ";
    case Linkage::kWeak:
      return ".weak ";
    case Linkage::kCommon:
      return ".common ";
    case Linkage::kInternal:
      break;
  }
  return "";
}

std::string TypeText(const Type& type) { return absl::StrCat(".", View(type.name), " "); }
std::string VectorText(uint8_t vector) { return vector > 1 ? absl::StrCat(".v", vector, " ") : ""; }

std::string PragmaText(const std::vector<std::string>& texts) {
  return absl::StrCat(".pragma \"", absl::StrJoin(texts, "\", \""), "\";");
}

std::string DirectiveText(const Directive& directive) {
  if (directive.name == "pragma") return PragmaText(directive.texts);
  const bool has_numbers = !directive.numbers.empty();
  return absl::StrCat(".", directive.name, has_numbers ? " " : "", absl::StrJoin(directive.numbers, ", "));
}

std::string CommentText(std::string_view text) {
  std::string out = "// ";
  for (const char c : text) {
    out += c;
    if (c == '\n') out += "// ";
  }
  return out + "\n";
}

const std::string& Parts::SymbolName(SymbolKind kind, uint32_t index) const {
  switch (kind) {
    case SymbolKind::kLocal:
      return function_.variables[index].name;
    case SymbolKind::kParameter:
      return function_.parameters[index].name;
    case SymbolKind::kReturn:
      return function_.returns[index].name;
    case SymbolKind::kFunction:
      return module_.functions[index].name;
    case SymbolKind::kGlobal:
      break;
  }
  return module_.variables[index].name;
}

std::string Parts::Elements(const Operand& operand, std::string_view open, std::string_view close, size_t from) const {
  std::string out(open);
  for (size_t i = from; i < operand.elements.size(); ++i) {
    absl::StrAppend(&out, i > from ? ", " : "", OperandText(operand.elements[i]));
  }
  out += close;
  return out;
}

std::string Parts::OperandText(const Operand& operand) const {
  std::string out = operand.negated ? "!" : operand.minus ? "-" : "";
  switch (operand.kind) {
    case Kind::kNone:
      break;
    case Kind::kRegister:
      out += function_.RegisterName(operand.index);
      break;
    case Kind::kSpecial:
      out += operand.text;
      break;
    case Kind::kInteger:
      absl::StrAppend(&out, static_cast<int64_t>(operand.bits));
      break;
    case Kind::kFloat32:
      absl::StrAppendFormat(&out, "0f%08X", operand.bits);
      break;
    case Kind::kFloat64:
      absl::StrAppendFormat(&out, "0d%016X", operand.bits);
      break;
    case Kind::kWarpSize:
      out += "WARP_SZ";
      break;
    case Kind::kSymbol:
      absl::StrAppend(&out, SymbolName(operand.symbol, operand.index), OffsetText(operand.offset));
      break;
    case Kind::kLabel:
      out += function_.labels[operand.index].name;
      break;
    case Kind::kTable:
      out += function_.tables[operand.index].name;
      break;
    case Kind::kAddress:
      absl::StrAppend(&out, "[", OperandText(operand.elements[0]), OffsetText(operand.offset));
      absl::StrAppend(&out, operand.elements.size() > 1 ? Elements(operand, ", ", "]", 1) : "]");
      break;
    case Kind::kVector:
      out += Elements(operand, "{", "}", 0);
      break;
    case Kind::kPair:
      absl::StrAppend(&out, OperandText(operand.elements[0]), "|", OperandText(operand.elements[1]));
      break;
    case Kind::kList:
      out += Elements(operand, "(", ")", 0);
      break;
    case Kind::kSink:
      out += '_';
      break;
    case Kind::kArgument:
      absl::StrAppend(&out, "$", operand.index);
      break;
  }
  if (!operand.selector.empty()) absl::StrAppend(&out, ".", View(operand.selector));
  return out;
}

std::string Parts::CallText(const Instruction& instruction) const {
  const std::vector<Operand>& operands = instruction.operands;
  std::string out;
  if (!operands[0].elements.empty()) absl::StrAppend(&out, OperandText(operands[0]), ", ");
  absl::StrAppend(&out, OperandText(operands[1]));
  const bool has_table = operands[3].kind == Kind::kTable;
  if (!operands[2].elements.empty() || has_table) absl::StrAppend(&out, ", ", OperandText(operands[2]));
  if (has_table) absl::StrAppend(&out, ", ", OperandText(operands[3]));
  return out;
}

std::string Parts::InstructionText(const Instruction& instruction) const {
  std::string out;
  if (instruction.guard) absl::StrAppend(&out, "@", OperandText(*instruction.guard), " ");
  absl::StrAppend(&out, instruction.Mnemonic());
  if (instruction.opcode() == "call") {
    absl::StrAppend(&out, " ", CallText(instruction));
  } else {
    for (size_t i = 0; i < instruction.operands.size(); ++i) {
      absl::StrAppend(&out, i == 0 ? " " : ", ", OperandText(instruction.operands[i]));
    }
  }
  return out + ";";
}

std::string Parts::ValueText(const Variable& variable, const InitialValue& value) const {
  if (value.kind == InitialValue::Kind::kInteger) return absl::StrCat(static_cast<int64_t>(value.bits));
  if (value.kind == InitialValue::Kind::kFloat) {
    return variable.type.bits == 32 ? absl::StrFormat("0f%08X", value.bits) : absl::StrFormat("0d%016X", value.bits);
  }
  std::string out = SymbolName(value.symbol, value.index);
  if (value.generic) out = absl::StrCat("generic(", out, ")");
  absl::StrAppend(&out, OffsetText(value.addend));
  return value.mask == 0 ? out : absl::StrFormat("0x%X(%s)", value.mask, out);
}

void Parts::Values(const Variable& variable, const std::vector<uint64_t>& strides, size_t level, uint64_t base,
                   size_t* next, std::string* out) const {
  const uint64_t end = base + strides[level];
  const uint64_t inner = strides[level + 1];
  const char* separator = "{";
  for (uint64_t at = base; *next < variable.initial.size() && variable.initial[*next].element < end; at += inner) {
    absl::StrAppend(out, separator);
    separator = ", ";
    if (level + 2 < strides.size()) {
      Values(variable, strides, level + 1, at, next, out);
    } else if (variable.initial[*next].element == at) {
      absl::StrAppend(out, ValueText(variable, variable.initial[(*next)++]));
    } else {
      absl::StrAppend(out, "0");
    }
  }
  absl::StrAppend(out, separator[0] == '{' ? "{0}" : "}");
}

std::string Parts::InitializerText(const Variable& variable) const {
  if (variable.type.kind == TypeKind::kOpaque) {
    const auto field = [](std::string* out, const auto& entry) {
      absl::StrAppend(out, entry.first, " = ", entry.second);
    };
    return absl::StrCat("{", absl::StrJoin(variable.fields, ", ", field), "}");
  }
  if (variable.dimensions.empty() && variable.vector == 1) {
    return variable.initial.empty() ? "0" : ValueText(variable, variable.initial[0]);
  }
  std::vector<uint64_t> strides = variable.dimensions;
  if (variable.vector > 1) strides.push_back(variable.vector);
  strides.push_back(1);
  for (size_t i = strides.size() - 1; i-- > 0;) strides[i] *= strides[i + 1];
  std::string out;
  size_t next = 0;
  Values(variable, strides, 0, 0, &next, &out);
  return out;
}

std::string Parts::VariableText(const Variable& variable) const {
  std::string out = absl::StrCat(".", View(NameOf(variable.space)));
  if (variable.bank != 0) absl::StrAppend(&out, "[", variable.bank, "]");
  out += ' ';
  if (variable.managed) out += ".attribute(.managed) ";
  if (variable.has_unified) {
    absl::StrAppend(&out, ".attribute(.unified(", variable.unified.first, ", ", variable.unified.second, ")) ");
  }
  if (variable.alignment != 0) absl::StrAppend(&out, ".align ", variable.alignment, " ");
  absl::StrAppend(&out, VectorText(variable.vector), TypeText(variable.type));
  if (variable.pointer) {
    out += ".ptr ";
    if (variable.pointer->space != StateSpace::kNone)
      absl::StrAppend(&out, ".", View(NameOf(variable.pointer->space)), " ");
    absl::StrAppend(&out, ".align ", variable.pointer->alignment, " ");
  }
  out += variable.name;
  for (const uint64_t size : variable.dimensions) {
    absl::StrAppend(&out, size == 0 ? "[]" : absl::StrCat("[", size, "]"));
  }
  if (variable.is_initialized) absl::StrAppend(&out, " = ", InitializerText(variable));
  return out;
}

std::string Parts::Parameters(const std::vector<Variable>& parameters) const {
  std::string out = "(";
  for (size_t i = 0; i < parameters.size(); ++i) {
    absl::StrAppend(&out, i > 0 ? ", " : "", VariableText(parameters[i]));
  }
  return out + ")";
}

std::string Parts::TableText(const Table& table) const {
  std::string out = absl::StrCat(table.name, ": ");
  switch (table.kind) {
    case Table::Kind::kBranchTargets:
      absl::StrAppend(&out, ".branchtargets ",
                      absl::StrJoin(table.labels, ", ", [&](std::string* text, uint32_t label) {
                        absl::StrAppend(text, function_.labels[label].name);
                      }));
      break;
    case Table::Kind::kCallTargets:
      absl::StrAppend(&out, ".calltargets ",
                      absl::StrJoin(table.functions, ", ", [&](std::string* text, uint32_t function) {
                        absl::StrAppend(text, module_.functions[function].name);
                      }));
      break;
    case Table::Kind::kPrototype:
      absl::StrAppend(&out, ".callprototype ", Parameters(table.returns), " _ ", Parameters(table.parameters));
      for (const Directive& directive : table.directives) absl::StrAppend(&out, " ", DirectiveText(directive));
      break;
  }
  return out + ";";
}

}  // namespace heddle::tracegen::ptx
