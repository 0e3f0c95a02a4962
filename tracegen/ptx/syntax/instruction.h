// PTX instructions, and what else stands in the body of a function.
#ifndef HEDDLE_TRACEGEN_PTX_SYNTAX_INSTRUCTION_H_
#define HEDDLE_TRACEGEN_PTX_SYNTAX_INSTRUCTION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tracegen/ptx/forms/form.h"
#include "tracegen/ptx/forms/type.h"
#include "tracegen/ptx/syntax/operand.h"

namespace heddle::tracegen::ptx {

// One part of an opcode behind its first point, such as "sat", "u32", "shared::cta", "L2::128B".
struct Modifier {
  std::string_view text;  // without the point; lives as long as the program
  Type type;              // if it names one; does not exist otherwise

  bool operator==(const Modifier&) const = default;
};

// A call always has four operands: kList of what it returns, the callee (kSymbol of a function, or kRegister), kList of
// arguments, and kTable of an indirect call (kNone otherwise). Lists may be empty.
struct Instruction {
  const Form* form = nullptr;  // never null in what a parser returns
  std::vector<Modifier> modifiers;
  std::vector<Operand> operands;
  std::optional<Operand> guard;  // @p, @!p (negated): a predicate register, or an argument of inline PTX

  // The opcode up to its first point: "ld".
  std::string_view opcode() const { return form->opcode; }
  // The opcode with its modifiers in the order in which they were written: "ld.global.v2.f32".
  std::string Mnemonic() const;
  // Whether there is such a modifier: Has("sat"), Has("shared::cta").
  bool Has(std::string_view modifier) const;
  // The i-th modifier that names a type, from 0; one that does not exist if there are fewer.
  Type TypeAt(size_t i) const;
  // The last modifier that names a type: that of the operation for most opcodes; of the source for cvt, set and slct.
  Type LastType() const;
  // .shared, .shared::cta, .shared::cluster and .param::entry give kShared and kParam; kNone for generic addresses and
  // for instructions without a state space.
  StateSpace Space() const;
  // 2, 4 or 8 with .v2, .v4 or .v8; 1 otherwise.
  uint32_t VectorSize() const;

  bool operator==(const Instruction&) const = default;
};

// A place that a label names: Function::labels[index] leads to the next instruction.
struct LabelPlace {
  uint32_t index = 0;

  bool operator==(const LabelPlace&) const = default;
};
// { and }. Names are resolved, so a reader that does not print may pass over them.
struct ScopeBegin {
  bool operator==(const ScopeBegin&) const = default;
};
struct ScopeEnd {
  bool operator==(const ScopeEnd&) const = default;
};
// Where Function::registers[index], variables[index] or tables[index] is declared.
struct RegisterPlace {
  uint32_t index = 0;

  bool operator==(const RegisterPlace&) const = default;
};
struct VariablePlace {
  uint32_t index = 0;

  bool operator==(const VariablePlace&) const = default;
};
struct TablePlace {
  uint32_t index = 0;

  bool operator==(const TablePlace&) const = default;
};
// .loc FILE LINE COLUMN: the source of the instructions that follow, up to the next one. File as in Module::files.
struct Location {
  uint32_t file = 0;
  uint32_t source_line = 0;
  uint32_t column = 0;
  // function_name LABEL[+OFFSET], inlined_at FILE LINE COLUMN; the name is empty without one.
  std::string function_name;
  int64_t function_offset = 0;
  uint32_t inlined_file = 0;
  uint32_t inlined_line = 0;
  uint32_t inlined_column = 0;

  bool operator==(const Location&) const = default;
};
// .pragma "text": each string on its own.
struct Pragma {
  std::vector<std::string> texts;

  bool operator==(const Pragma&) const = default;
};
// A comment, without its marks and outer blanks; only if the parser was asked to keep them. It has the line on which it
// begins, and stands behind the statement within which it was written.
struct Comment {
  std::string text;

  bool operator==(const Comment&) const = default;
};

// Statements stand in the order of the text. A scope is flat: ScopeBegin, its statements, ScopeEnd.
struct Statement {
  uint32_t line = 0;  // on which it begins, from 1
  std::variant<Instruction, LabelPlace, ScopeBegin, ScopeEnd, RegisterPlace, VariablePlace, TablePlace, Location,
               Pragma, Comment>
      what;

  const Instruction* instruction() const { return std::get_if<Instruction>(&what); }

  bool operator==(const Statement&) const = default;
};

}  // namespace heddle::tracegen::ptx

#endif  // HEDDLE_TRACEGEN_PTX_SYNTAX_INSTRUCTION_H_
