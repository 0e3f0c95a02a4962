// Reads the body of a function.
#ifndef HEDDLE_TRACEGEN_PTX_SYNTAX_PARSE_BODY_H_
#define HEDDLE_TRACEGEN_PTX_SYNTAX_PARSE_BODY_H_

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tracegen/ptx/syntax/cursor.h"
#include "tracegen/ptx/syntax/module.h"
#include "tracegen/ptx/syntax/names.h"
#include "tracegen/ptx/syntax/parse_operand.h"
#include "tracegen/ptx/syntax/parse_variable.h"

namespace heddle::tracegen::ptx {

// Numbers and strings of a performance directive, with its name; the next token is the directive.
absl::StatusOr<Directive> ParseDirective(Cursor& cursor);
// Whether the next token begins one.
bool BeginsDirective(const Cursor& cursor);
// The strings of a .pragma, whose name has been taken.
absl::StatusOr<std::vector<std::string>> ParsePragma(Cursor& cursor);
// (parameters) of a function or prototype. `named`: `_` is no name.
absl::StatusOr<std::vector<Variable>> ParseParameters(Cursor& cursor, const ModuleNames& globals);

class BodyParser {
 public:
  // `function` has its parameters already, and has no body.
  BodyParser(Cursor& cursor, const ModuleNames& globals, const Module& module, Function& function);

  // Up to the closing brace, which it takes; up to the end of the text for an asm statement.
  absl::Status Parse();

 private:
  absl::Status AddParameters(std::vector<Variable>& parameters, SymbolKind kind);
  absl::Status Statements();
  absl::Status One();
  absl::Status Directives();
  absl::Status Registers();
  absl::Status OneRegister(const Variable& qualifiers);
  absl::Status Variables();
  absl::Status LabelOrTable();
  absl::Status TableLine(std::string_view name);
  absl::Status PrototypeLine(Table& table);
  absl::Status LocationLine();
  absl::Status GuardedInstruction();
  absl::StatusOr<std::string_view> Modifiers(Instruction& instruction);
  absl::Status Operands(std::string_view opcode, Instruction& instruction);
  absl::Status CallOperands(Instruction& instruction);
  void TakeComments();
  template <typename What>
  void Add(uint32_t line, What what);

  Cursor& cursor_;
  const ModuleNames& globals_;
  Function& function_;
  Scopes scopes_;
  Places places_;
  OperandParser operands_;
  VariableParser variables_;
};

}  // namespace heddle::tracegen::ptx

#endif  // HEDDLE_TRACEGEN_PTX_SYNTAX_PARSE_BODY_H_
