// Reads operands of instructions.
#ifndef HEDDLE_TRACEGEN_PTX_SYNTAX_PARSE_OPERAND_H_
#define HEDDLE_TRACEGEN_PTX_SYNTAX_PARSE_OPERAND_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tracegen/ptx/syntax/cursor.h"
#include "tracegen/ptx/syntax/module.h"
#include "tracegen/ptx/syntax/names.h"

namespace heddle::tracegen::ptx {

// Variables and functions of a module by name. Views lead into the module's text or strings that outlive it.
using ModuleNames = absl::flat_hash_map<absl::string_view, Meant>;

// The text of a special register as the table has it, which lives as long as the program; empty if there is none.
std::string_view KnownSpecial(std::string_view name);

class OperandParser {
 public:
  // All of them outlive the parser. `function` is the one that is being read, `module` what its names are looked up in.
  OperandParser(Cursor& cursor, const ModuleNames& globals, const Module& module, const Function& function,
                const Scopes& scopes, Places& places)
      : cursor_(cursor), globals_(globals), module_(module), function_(function), scopes_(scopes), places_(places) {}

  // Any operand but a label, a table or a list.
  absl::StatusOr<Operand> Parse();
  // Whether the last operand was an element of an array: a[2].
  bool last_is_element() const { return last_is_element_; }
  absl::StatusOr<Operand> Label();
  absl::StatusOr<Operand> Table();
  // (a, b) of a call.
  absl::StatusOr<Operand> List();
  // A register, symbol or special register, without what may follow it.
  absl::StatusOr<Operand> Name();

 private:
  absl::StatusOr<Operand> Primary();
  absl::StatusOr<Operand> Prefixed();
  absl::StatusOr<Operand> Number();
  absl::StatusOr<Operand> Vector();
  absl::StatusOr<Operand> Address();
  absl::Status Suffix(Operand& operand);
  absl::Status Element(Operand& operand);
  absl::StatusOr<int64_t> Offset();
  absl::Status Elements(std::string_view end, Operand& operand);
  const Variable* VariableOf(const Operand& operand) const;
  Operand Make(Operand::Kind kind) const;

  Cursor& cursor_;
  const ModuleNames& globals_;
  const Module& module_;
  const Function& function_;
  const Scopes& scopes_;
  Places& places_;
  uint32_t depth_ = 0;
  bool last_is_element_ = false;
};

}  // namespace heddle::tracegen::ptx

#endif  // HEDDLE_TRACEGEN_PTX_SYNTAX_PARSE_OPERAND_H_
