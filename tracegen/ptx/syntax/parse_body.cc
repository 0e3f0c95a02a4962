#include "tracegen/ptx/syntax/parse_body.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tracegen/ptx/forms/pattern.h"
#include "tracegen/ptx/syntax/check_operands.h"
#include "tracegen/ptx/syntax/constant.h"
#include "traces/base/status_macros.h"

namespace heddle::tracegen::ptx {
namespace {

constexpr size_t kMostModifiers = 24;
constexpr size_t kMostOperands = 64;

absl::StatusOr<uint32_t> ExpectSmall(Cursor& cursor, std::string_view what) {
  HEDDLE_ASSIGN_OR_RETURN(const uint64_t number, cursor.ExpectInteger(what));
  if (number > UINT32_MAX) return cursor.Error("a number that is too large, before");
  return static_cast<uint32_t>(number);
}

Operand InBrackets(Operand base) {
  Operand address;
  address.kind = Operand::Kind::kAddress;
  address.line = base.line;
  address.offset = std::exchange(base.offset, 0);
  address.elements.push_back(std::move(base));
  return address;
}

}  // namespace

BodyParser::BodyParser(Cursor& cursor, const ModuleNames& globals, const Module& module, Function& function)
    : cursor_(cursor),
      globals_(globals),
      function_(function),
      operands_(cursor, globals, module, function, scopes_, places_),
      variables_(cursor, globals) {}

template <typename What>
void BodyParser::Add(uint32_t line, What what) {
  function_.body.push_back({line, std::move(what)});
}

void BodyParser::TakeComments() {
  for (const CommentText& comment : cursor_.TakeComments()) Add(comment.line, Comment{std::string(comment.text)});
}

absl::Status BodyParser::AddParameters(std::vector<Variable>& parameters, SymbolKind kind) {
  for (uint32_t i = 0; i < parameters.size(); ++i) {
    Variable& parameter = parameters[i];
    Meant meant{false, kind, i};
    if (parameter.space == StateSpace::kReg) {
      parameter.register_number = function_.register_count++;
      function_.registers.push_back(
          {parameter.name, parameter.line, parameter.type, parameter.vector, false, parameter.register_number, 1});
      meant = {true, SymbolKind::kGlobal, parameter.register_number};
    }
    if (parameter.name == "_") continue;
    if (!scopes_.Add(parameter.name, meant)) {
      return SyntaxError(parameter.line, "two parameters of one name", parameter.name);
    }
  }
  return absl::OkStatus();
}

absl::Status BodyParser::Parse() {
  HEDDLE_RETURN_IF_ERROR(AddParameters(function_.returns, SymbolKind::kReturn));
  HEDDLE_RETURN_IF_ERROR(AddParameters(function_.parameters, SymbolKind::kParameter));
  // The body hides names of parameters, as an inner scope does.
  scopes_.Open();
  HEDDLE_RETURN_IF_ERROR(Statements());
  return places_.Resolve(function_);
}

absl::Status BodyParser::Statements() {
  const size_t outermost = scopes_.depth();
  while (true) {
    TakeComments();
    const uint32_t line = cursor_.line();
    if (cursor_.Accept("{")) {
      HEDDLE_RETURN_IF_ERROR(cursor_.Count());
      if (scopes_.depth() >= cursor_.limits().nesting) return cursor_.Error("scopes that nest too deeply");
      scopes_.Open();
      places_.Open();
      Add(line, ScopeBegin{});
    } else if (cursor_.Peek().Is("}") && scopes_.depth() > outermost) {
      HEDDLE_RETURN_IF_ERROR(cursor_.Count());
      cursor_.Next();
      scopes_.Close();
      places_.Close();
      Add(line, ScopeEnd{});
    } else if (cursor_.is_inline() ? cursor_.Peek().kind == Token::Kind::kEnd && scopes_.depth() == outermost
                                   : cursor_.Accept("}")) {
      function_.end_line = line;
      return absl::OkStatus();
    } else if (!cursor_.Accept(";")) {
      HEDDLE_RETURN_IF_ERROR(One());
    }
  }
}

absl::Status BodyParser::One() {
  HEDDLE_RETURN_IF_ERROR(cursor_.Count());
  const Token& token = cursor_.Peek();
  if (token.kind == Token::Kind::kDot) return Directives();
  if (token.kind == Token::Kind::kWord && cursor_.Peek(1).Is(":")) return LabelOrTable();
  if (token.kind == Token::Kind::kWord || token.Is("@")) return GuardedInstruction();
  return cursor_.Error("a statement was expected");
}

absl::Status BodyParser::Directives() {
  const uint32_t line = cursor_.line();
  if (cursor_.Peek().text == "reg") return Registers();
  if (FindStateSpace(cursor_.Peek().text) != StateSpace::kNone) return Variables();
  if (cursor_.AcceptDot("loc")) return LocationLine();
  if (cursor_.AcceptDot("pragma")) {
    HEDDLE_ASSIGN_OR_RETURN(std::vector<std::string> texts, ParsePragma(cursor_));
    Add(line, Pragma{std::move(texts)});
    return absl::OkStatus();
  }
  return cursor_.Error("a directive that is not known within a function");
}

absl::Status BodyParser::Registers() {
  HEDDLE_ASSIGN_OR_RETURN(const Variable qualifiers, variables_.Qualifiers());
  if (qualifiers.type.kind == TypeKind::kOpaque) {
    return SyntaxError(qualifiers.line, "a register of a type that registers do not have");
  }
  do {
    HEDDLE_RETURN_IF_ERROR(OneRegister(qualifiers));
  } while (cursor_.Accept(","));
  return cursor_.Expect(";");
}

absl::Status BodyParser::OneRegister(const Variable& qualifiers) {
  HEDDLE_RETURN_IF_ERROR(cursor_.Count());
  RegisterDeclaration declaration;
  declaration.line = cursor_.line();
  declaration.type = qualifiers.type;
  declaration.vector = qualifiers.vector;
  declaration.first = function_.register_count;
  HEDDLE_ASSIGN_OR_RETURN(const std::string_view name, cursor_.ExpectWord("the name of a register"));
  declaration.name = std::string(name);
  uint64_t count = 1;
  if (cursor_.Accept("<")) {
    declaration.is_range = true;
    HEDDLE_ASSIGN_OR_RETURN(count, cursor_.ExpectInteger("a count of registers"));
    HEDDLE_RETURN_IF_ERROR(cursor_.Expect(">"));
  }
  const uint32_t most = cursor_.limits().registers_per_function;
  if (count > most || function_.register_count > most - count) {
    return SyntaxError(declaration.line, absl::StrCat("a function of more than ", most, " registers"), name);
  }
  declaration.count = static_cast<uint32_t>(count);
  const bool added = declaration.is_range ? scopes_.AddRange(name, declaration.first, declaration.count)
                                          : scopes_.Add(name, {true, SymbolKind::kGlobal, declaration.first});
  if (!added) return SyntaxError(declaration.line, "a name that this scope has already", name);
  function_.register_count += declaration.count;
  Add(declaration.line, RegisterPlace{static_cast<uint32_t>(function_.registers.size())});
  function_.registers.push_back(std::move(declaration));
  return absl::OkStatus();
}

absl::Status BodyParser::Variables() {
  HEDDLE_ASSIGN_OR_RETURN(const Variable qualifiers, variables_.Qualifiers());
  do {
    HEDDLE_RETURN_IF_ERROR(cursor_.Count());
    Variable variable = qualifiers;
    const std::string_view name = cursor_.Peek().text;
    HEDDLE_RETURN_IF_ERROR(variables_.Declarator(variable));
    const auto index = static_cast<uint32_t>(function_.variables.size());
    if (!scopes_.Add(name, {false, SymbolKind::kLocal, index})) {
      return SyntaxError(variable.line, "a name that this scope has already", name);
    }
    Add(variable.line, VariablePlace{index});
    function_.variables.push_back(std::move(variable));
  } while (cursor_.Accept(","));
  return cursor_.Expect(";");
}

absl::Status BodyParser::LabelOrTable() {
  const Token name = cursor_.Next();
  cursor_.Next();
  for (const std::string_view kind : {"branchtargets", "calltargets", "callprototype"}) {
    if (cursor_.Peek().IsDot(kind)) return TableLine(name.text);
  }
  const auto index = static_cast<uint32_t>(function_.labels.size());
  HEDDLE_RETURN_IF_ERROR(places_.Define(name.text, name.line, false, index));
  function_.labels.push_back({std::string(name.text), name.line, static_cast<uint32_t>(function_.body.size())});
  Add(name.line, LabelPlace{index});
  return absl::OkStatus();
}

absl::Status BodyParser::TableLine(std::string_view name) {
  Table table;
  table.line = cursor_.line();
  table.name = std::string(name);
  const std::string_view kind = cursor_.Next().text;
  if (kind == "callprototype") {
    HEDDLE_RETURN_IF_ERROR(PrototypeLine(table));
  } else {
    table.kind = kind == "branchtargets" ? Table::Kind::kBranchTargets : Table::Kind::kCallTargets;
    do {
      if (table.kind == Table::Kind::kBranchTargets) {
        HEDDLE_ASSIGN_OR_RETURN(const Operand label, operands_.Label());
        table.labels.push_back(label.index);
      } else {
        HEDDLE_RETURN_IF_ERROR(cursor_.Count());
        HEDDLE_ASSIGN_OR_RETURN(const Operand callee, operands_.Name());
        if (callee.kind != Operand::Kind::kSymbol || callee.symbol != SymbolKind::kFunction) {
          return SyntaxError(callee.line, "a target of calls that is no function");
        }
        table.functions.push_back(callee.index);
      }
    } while (cursor_.Accept(","));
  }
  HEDDLE_RETURN_IF_ERROR(cursor_.Expect(";"));
  const auto index = static_cast<uint32_t>(function_.tables.size());
  HEDDLE_RETURN_IF_ERROR(places_.Define(name, table.line, true, index));
  Add(table.line, TablePlace{index});
  function_.tables.push_back(std::move(table));
  return absl::OkStatus();
}

// .callprototype (.param .b32 _) _ (.param .b64 _) .noreturn
absl::Status BodyParser::PrototypeLine(Table& table) {
  if (cursor_.Peek().Is("(")) {
    HEDDLE_ASSIGN_OR_RETURN(table.returns, ParseParameters(cursor_, globals_));
  }
  HEDDLE_RETURN_IF_ERROR(cursor_.ExpectWord("the name of a prototype").status());
  if (cursor_.Peek().Is("(")) {
    HEDDLE_ASSIGN_OR_RETURN(table.parameters, ParseParameters(cursor_, globals_));
  }
  while (BeginsDirective(cursor_)) {
    HEDDLE_ASSIGN_OR_RETURN(Directive directive, ParseDirective(cursor_));
    table.directives.push_back(std::move(directive));
  }
  return absl::OkStatus();
}

absl::Status BodyParser::LocationLine() {
  Location location;
  const uint32_t line = cursor_.line();
  HEDDLE_ASSIGN_OR_RETURN(location.file, ExpectSmall(cursor_, "the number of a file"));
  HEDDLE_ASSIGN_OR_RETURN(location.source_line, ExpectSmall(cursor_, "a line"));
  HEDDLE_ASSIGN_OR_RETURN(location.column, ExpectSmall(cursor_, "a column"));
  while (cursor_.Accept(",")) {
    if (cursor_.Peek().IsWord("function_name")) {
      cursor_.Next();
      HEDDLE_ASSIGN_OR_RETURN(const std::string_view name, cursor_.ExpectWord("a label"));
      location.function_name = std::string(name);
      if (cursor_.Accept("+")) {
        HEDDLE_ASSIGN_OR_RETURN(const uint32_t offset, ExpectSmall(cursor_, "an offset"));
        location.function_offset = offset;
      }
    } else if (cursor_.Peek().IsWord("inlined_at")) {
      cursor_.Next();
      HEDDLE_ASSIGN_OR_RETURN(location.inlined_file, ExpectSmall(cursor_, "the number of a file"));
      HEDDLE_ASSIGN_OR_RETURN(location.inlined_line, ExpectSmall(cursor_, "a line"));
      HEDDLE_ASSIGN_OR_RETURN(location.inlined_column, ExpectSmall(cursor_, "a column"));
    } else {
      return cursor_.Error("a part of .loc that is not known");
    }
  }
  Add(line, std::move(location));
  return absl::OkStatus();
}

absl::Status BodyParser::GuardedInstruction() {
  Instruction instruction;
  const uint32_t line = cursor_.line();
  const char* begin = cursor_.Peek().begin;
  if (cursor_.Accept("@")) {
    const bool negated = cursor_.Accept("!");
    HEDDLE_ASSIGN_OR_RETURN(Operand guard, operands_.Name());
    const bool is_predicate =
        guard.kind == Operand::Kind::kArgument ||
        (guard.kind == Operand::Kind::kRegister && function_.RegisterOf(guard.index).type.kind == TypeKind::kPredicate);
    if (!is_predicate) return SyntaxError(guard.line, "a guard that is no predicate", cursor_.TextFrom(begin));
    guard.negated = negated;
    instruction.guard = std::move(guard);
  }
  HEDDLE_ASSIGN_OR_RETURN(const std::string_view opcode, Modifiers(instruction));
  HEDDLE_RETURN_IF_ERROR(Operands(opcode, instruction));
  HEDDLE_RETURN_IF_ERROR(FindForm(opcode, function_, line, cursor_.TextFrom(begin), instruction));
  HEDDLE_RETURN_IF_ERROR(cursor_.Expect(";"));
  Add(line, std::move(instruction));
  return absl::OkStatus();
}

// The opcode and its modifiers.
absl::StatusOr<std::string_view> BodyParser::Modifiers(Instruction& instruction) {
  if (cursor_.Peek().kind != Token::Kind::kWord) return cursor_.Error("an instruction was expected");
  if (FormsOf(cursor_.Peek().text).empty()) return cursor_.Error("an instruction that is not known");
  const std::string_view opcode = cursor_.Next().text;
  while (cursor_.Peek().kind == Token::Kind::kDot) {
    const std::string_view known = KnownModifier(cursor_.Peek().text);
    if (known.empty() || instruction.modifiers.size() >= kMostModifiers) {
      return cursor_.Error(
          absl::StrCat("a modifier that '", absl::string_view(opcode.data(), opcode.size()), "' does not have"));
    }
    cursor_.Next();
    instruction.modifiers.push_back({known, FindType(known).value_or(Type())});
  }
  return opcode;
}

absl::Status BodyParser::Operands(std::string_view opcode, Instruction& instruction) {
  if (opcode == "call") return CallOperands(instruction);
  const Token& token = cursor_.Peek();
  if (token.Is(";") || token.kind == Token::Kind::kEnd) return absl::OkStatus();
  do {
    const bool is_label = opcode == "bra";
    const bool is_table = opcode == "brx" && instruction.operands.size() == 1;
    HEDDLE_ASSIGN_OR_RETURN(Operand operand, is_label   ? operands_.Label()
                                             : is_table ? operands_.Table()
                                                        : operands_.Parse());
    // Memory instructions take an element of an array, a[2], as an address.
    if (operands_.last_is_element() && opcode != "mov") operand = InBrackets(std::move(operand));
    instruction.operands.push_back(std::move(operand));
    if (instruction.operands.size() > kMostOperands) return cursor_.Error("too many operands");
  } while (cursor_.Accept(","));
  return absl::OkStatus();
}

// call (returns), callee, (arguments), table: all but the callee may be missing.
absl::Status BodyParser::CallOperands(Instruction& instruction) {
  instruction.operands.resize(4);
  Operand& returns = instruction.operands[0];
  Operand& callee = instruction.operands[1];
  Operand& arguments = instruction.operands[2];
  returns.kind = arguments.kind = Operand::Kind::kList;
  returns.line = arguments.line = cursor_.line();
  if (cursor_.Peek().Is("(")) {
    HEDDLE_ASSIGN_OR_RETURN(returns, operands_.List());
    HEDDLE_RETURN_IF_ERROR(cursor_.Expect(","));
  }
  HEDDLE_RETURN_IF_ERROR(cursor_.Count());
  HEDDLE_ASSIGN_OR_RETURN(callee, operands_.Name());
  const bool is_function = callee.kind == Operand::Kind::kSymbol && callee.symbol == SymbolKind::kFunction;
  if (!is_function && callee.kind != Operand::Kind::kRegister && callee.kind != Operand::Kind::kArgument) {
    return SyntaxError(callee.line, "a call of what is neither a function nor a register");
  }
  if (!cursor_.Accept(",")) return absl::OkStatus();
  if (cursor_.Peek().Is("(")) {
    HEDDLE_ASSIGN_OR_RETURN(arguments, operands_.List());
    if (!cursor_.Accept(",")) return absl::OkStatus();
  }
  HEDDLE_ASSIGN_OR_RETURN(instruction.operands[3], operands_.Table());
  return absl::OkStatus();
}

}  // namespace heddle::tracegen::ptx
