#include "tracegen/ptx/syntax/parse_variable.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "tracegen/ptx/syntax/constant.h"
#include "traces/base/status_macros.h"

namespace heddle::tracegen::ptx {
namespace {

constexpr uint64_t kMostAlignment = uint64_t{1} << 30;
constexpr size_t kMostDimensions = 32;

absl::Status ExpectAlignment(Cursor& cursor, uint64_t* alignment) {
  HEDDLE_ASSIGN_OR_RETURN(*alignment, cursor.ExpectInteger("an alignment"));
  if (std::has_single_bit(*alignment) && *alignment <= kMostAlignment) return absl::OkStatus();
  return cursor.Error("an alignment that is no power of two, or too large, before");
}

}  // namespace

absl::StatusOr<bool> VariableParser::Attributes(bool* managed, bool* has_unified,
                                                std::pair<uint64_t, uint64_t>* unified) {
  if (!cursor_.AcceptDot("attribute")) return false;
  HEDDLE_RETURN_IF_ERROR(cursor_.Expect("("));
  do {
    if (cursor_.AcceptDot("managed")) {
      *managed = true;
    } else if (cursor_.AcceptDot("unified")) {
      *has_unified = true;
      HEDDLE_RETURN_IF_ERROR(cursor_.Expect("("));
      HEDDLE_ASSIGN_OR_RETURN(unified->first, cursor_.ExpectInteger("a number"));
      HEDDLE_RETURN_IF_ERROR(cursor_.Expect(","));
      HEDDLE_ASSIGN_OR_RETURN(unified->second, cursor_.ExpectInteger("a number"));
      HEDDLE_RETURN_IF_ERROR(cursor_.Expect(")"));
    } else {
      return cursor_.Error("an attribute that is not known");
    }
  } while (cursor_.Accept(","));
  HEDDLE_RETURN_IF_ERROR(cursor_.Expect(")"));
  return true;
}

absl::Status VariableParser::PointerQualifiers(Variable& variable) {
  variable.pointer.emplace();
  if (cursor_.Peek().kind == Token::Kind::kDot) {
    variable.pointer->space = FindStateSpace(cursor_.Peek().text);
    if (variable.pointer->space != StateSpace::kNone) cursor_.Next();
  }
  if (cursor_.AcceptDot("align")) return ExpectAlignment(cursor_, &variable.pointer->alignment);
  return absl::OkStatus();
}

absl::StatusOr<Variable> VariableParser::Qualifiers() {
  HEDDLE_RETURN_IF_ERROR(cursor_.Count());
  Variable variable;
  variable.line = cursor_.line();
  if (cursor_.Peek().kind == Token::Kind::kDot) variable.space = FindStateSpace(cursor_.Peek().text);
  if (variable.space == StateSpace::kNone) return cursor_.Error("a state space was expected");
  cursor_.Next();
  if (variable.space == StateSpace::kConst && cursor_.Accept("[")) {
    HEDDLE_ASSIGN_OR_RETURN(const uint64_t bank, cursor_.ExpectInteger("the number of a bank"));
    if (bank > 10) return cursor_.Error("a bank of constant memory that does not exist, before");
    variable.bank = static_cast<uint8_t>(bank);
    HEDDLE_RETURN_IF_ERROR(cursor_.Expect("]"));
  }
  while (cursor_.Peek().kind == Token::Kind::kDot) {
    HEDDLE_ASSIGN_OR_RETURN(const bool is_attribute,
                            Attributes(&variable.managed, &variable.has_unified, &variable.unified));
    if (is_attribute) continue;
    const std::string_view word = cursor_.Peek().text;
    if (const std::optional<Type> type = FindType(word)) {
      if (variable.type.exists() && !variable.pointer) return cursor_.Error("a second type");
      variable.type = *type;
      cursor_.Next();
    } else if (cursor_.AcceptDot("align")) {
      HEDDLE_RETURN_IF_ERROR(ExpectAlignment(cursor_, &variable.alignment));
    } else if (word == "v2" || word == "v4" || word == "v8") {
      variable.vector = static_cast<uint8_t>(word[1] - '0');
      cursor_.Next();
    } else if (cursor_.AcceptDot("ptr")) {
      HEDDLE_RETURN_IF_ERROR(PointerQualifiers(variable));
    } else {
      return cursor_.Error("a qualifier that variables do not have");
    }
  }
  if (!variable.type.exists()) return cursor_.Error("a type was expected");
  return variable;
}

absl::Status VariableParser::Declarator(Variable& variable) {
  variable.line = cursor_.line();
  HEDDLE_ASSIGN_OR_RETURN(const std::string_view name, cursor_.ExpectWord("the name of a variable"));
  variable.name = std::string(name);
  HEDDLE_RETURN_IF_ERROR(Dimensions(variable));
  if (!cursor_.Accept("=")) return absl::OkStatus();
  if (variable.space != StateSpace::kGlobal && variable.space != StateSpace::kConst) {
    return cursor_.Error("an initial value of a variable that is neither global nor constant");
  }
  return Initializer(variable);
}

absl::Status VariableParser::Dimensions(Variable& variable) {
  uint64_t bytes = variable.ElementBytes();
  while (cursor_.Accept("[")) {
    uint64_t size = 0;
    if (!cursor_.Peek().Is("]")) {
      HEDDLE_ASSIGN_OR_RETURN(const Constant value, ParseConstant(cursor_));
      if (value.kind != Constant::Kind::kInteger || (!value.is_unsigned && value.bits >> 63 != 0)) {
        return cursor_.Error("the size of an array is no count, before");
      }
      size = value.bits;
    } else if (!variable.dimensions.empty()) {
      return cursor_.Error("only the first size can be left out");
    }
    if (variable.dimensions.size() >= kMostDimensions) return cursor_.Error("an array of too many dimensions");
    variable.dimensions.push_back(size);
    HEDDLE_RETURN_IF_ERROR(cursor_.Expect("]"));
    if (size != 0 && bytes > cursor_.limits().variable_bytes / size) {
      return SyntaxError(variable.line,
                         absl::StrCat("a variable of more than ", cursor_.limits().variable_bytes, " bytes"),
                         variable.name);
    }
    bytes *= std::max<uint64_t>(size, 1);
  }
  return absl::OkStatus();
}

absl::Status VariableParser::Initializer(Variable& variable) {
  variable.is_initialized = true;
  if (variable.type.kind == TypeKind::kOpaque) return Fields(variable);
  if (!cursor_.Peek().Is("{")) return Value(0, variable);
  // Sizes of what stands between the braces of each level; a vector's components are the innermost level.
  std::vector<uint64_t> sizes = variable.dimensions;
  if (variable.vector > 1 || sizes.empty()) sizes.push_back(variable.vector);
  std::vector<uint64_t> strides(sizes.size() + 1, 1);
  for (size_t i = sizes.size(); i-- > 0;) strides[i] = strides[i + 1] * sizes[i];
  if (strides[1] == 0) return cursor_.Error("initial values of an array of size 0");
  if (sizes[0] == 0) {
    strides[0] = cursor_.limits().variable_bytes / variable.ElementBytes() / strides[1] * strides[1];
  }
  uint64_t used = 0;
  HEDDLE_RETURN_IF_ERROR(Values(0, strides, 0, variable, &used));
  if (!variable.dimensions.empty() && variable.dimensions[0] == 0) {
    variable.dimensions[0] = (used + strides[1] - 1) / strides[1];
  }
  return absl::OkStatus();
}

// What stands between one pair of braces: elements from `base`. At most as deep as there are dimensions.
absl::Status VariableParser::Values(size_t level, const std::vector<uint64_t>& strides, uint64_t base,
                                    Variable& variable, uint64_t* used) {
  HEDDLE_RETURN_IF_ERROR(cursor_.Expect("{"));
  const uint64_t inner = level + 1 < strides.size() ? strides[level + 1] : 1;
  uint64_t next = base;
  if (cursor_.Accept("}")) return absl::OkStatus();
  do {
    const bool nested = cursor_.Peek().Is("{");
    if (nested) {
      if (level + 2 >= strides.size()) return cursor_.Error("more braces than dimensions");
      next = base + (next - base + inner - 1) / inner * inner;
    }
    if (next - base >= strides[level]) return cursor_.Error("more initial values than elements");
    if (nested) {
      HEDDLE_RETURN_IF_ERROR(Values(level + 1, strides, next, variable, used));
      next += inner;
    } else {
      HEDDLE_RETURN_IF_ERROR(Value(next, variable));
      ++next;
    }
    *used = std::max(*used, next);
  } while (cursor_.Accept(","));
  return cursor_.Expect("}");
}

absl::Status VariableParser::Value(uint64_t element, Variable& variable) {
  HEDDLE_RETURN_IF_ERROR(cursor_.Count());
  InitialValue value;
  value.line = cursor_.line();
  value.element = element;
  if (!BeginsConstant(cursor_)) {
    HEDDLE_RETURN_IF_ERROR(SymbolValue(value));
    variable.initial.push_back(value);
    return absl::OkStatus();
  }
  HEDDLE_ASSIGN_OR_RETURN(const Constant constant, ParseConstant(cursor_));
  if (cursor_.Accept("(")) {
    if (constant.kind != Constant::Kind::kInteger || constant.bits == 0)
      return cursor_.Error("a mask without bits, before");
    value.mask = constant.bits;
    HEDDLE_RETURN_IF_ERROR(SymbolValue(value));
    HEDDLE_RETURN_IF_ERROR(cursor_.Expect(")"));
    variable.initial.push_back(value);
    return absl::OkStatus();
  }
  const uint32_t bits = variable.type.bits;
  const bool is_float = variable.type.kind == TypeKind::kFloat && (bits == 32 || bits == 64);
  if (is_float) {
    value.kind = InitialValue::Kind::kFloat;
    value.bits = bits == 32 ? ToFloat32(constant) : ToFloat64(constant);
  } else if (constant.kind != Constant::Kind::kInteger) {
    return cursor_.Error("a value that the variable's type does not have, before");
  } else {
    value.bits = bits >= 64 ? constant.bits : constant.bits & ((uint64_t{1} << bits) - 1);
  }
  // Elements that none names are zero anyway.
  if (value.bits != 0) variable.initial.push_back(value);
  return absl::OkStatus();
}

// symbol, symbol+8, generic(symbol)+8.
absl::Status VariableParser::SymbolValue(InitialValue& value) {
  value.kind = InitialValue::Kind::kAddress;
  value.generic = cursor_.Peek().IsWord("generic") && cursor_.Peek(1).Is("(");
  if (value.generic) {
    cursor_.Next();
    cursor_.Next();
  }
  if (cursor_.Peek().kind != Token::Kind::kWord) return cursor_.Error("a value was expected");
  const std::string_view name = cursor_.Peek().text;
  const auto found = globals_.find(absl::string_view(name.data(), name.size()));
  if (found == globals_.end()) return cursor_.Error("a name that is not declared");
  value.symbol = found->second.symbol;
  value.index = found->second.index;
  cursor_.Next();
  const auto addend = [&]() -> absl::Status {
    while (cursor_.Peek().Is("+") || cursor_.Peek().Is("-")) {
      const bool minus = cursor_.Next().Is("-");
      HEDDLE_ASSIGN_OR_RETURN(const Constant term, ParseConstantTerm(cursor_));
      if (term.kind != Constant::Kind::kInteger) return cursor_.Error("an offset that is no integer");
      value.addend = static_cast<int64_t>(static_cast<uint64_t>(value.addend) + (minus ? ~term.bits + 1 : term.bits));
    }
    return absl::OkStatus();
  };
  HEDDLE_RETURN_IF_ERROR(addend());
  if (!value.generic) return absl::OkStatus();
  HEDDLE_RETURN_IF_ERROR(cursor_.Expect(")"));
  return addend();
}

absl::Status VariableParser::Fields(Variable& variable) {
  HEDDLE_RETURN_IF_ERROR(cursor_.Expect("{"));
  do {
    HEDDLE_RETURN_IF_ERROR(cursor_.Count());
    HEDDLE_ASSIGN_OR_RETURN(const std::string_view name, cursor_.ExpectWord("the name of a field"));
    HEDDLE_RETURN_IF_ERROR(cursor_.Expect("="));
    const Token value = cursor_.Peek();
    if (value.kind != Token::Kind::kWord && value.kind != Token::Kind::kNumber) {
      return cursor_.Error("the value of a field was expected");
    }
    cursor_.Next();
    variable.fields.emplace_back(std::string(name), std::string(value.text));
  } while (cursor_.Accept(","));
  return cursor_.Expect("}");
}

}  // namespace heddle::tracegen::ptx
