// Reads declarations of variables, parameters and registers.
#ifndef HEDDLE_TRACEGEN_PTX_SYNTAX_PARSE_VARIABLE_H_
#define HEDDLE_TRACEGEN_PTX_SYNTAX_PARSE_VARIABLE_H_

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "tracegen/ptx/syntax/cursor.h"
#include "tracegen/ptx/syntax/parse_operand.h"
#include "tracegen/ptx/syntax/variable.h"

namespace heddle::tracegen::ptx {

class VariableParser {
 public:
  VariableParser(Cursor& cursor, const ModuleNames& globals) : cursor_(cursor), globals_(globals) {}

  // What stands before the name: space, alignment, vector, type, pointer, attributes. The next token is the space.
  absl::StatusOr<Variable> Qualifiers();
  // Name, dimensions and initialiser of one declarator.
  absl::Status Declarator(Variable& variable);
  // .attribute(.managed), .attribute(.unified(1, 2)): false if the next token begins none.
  absl::StatusOr<bool> Attributes(bool* managed, bool* has_unified, std::pair<uint64_t, uint64_t>* unified);

 private:
  absl::Status PointerQualifiers(Variable& variable);
  absl::Status Dimensions(Variable& variable);
  absl::Status Initializer(Variable& variable);
  absl::Status Values(size_t level, const std::vector<uint64_t>& strides, uint64_t base, Variable& variable,
                      uint64_t* used);
  absl::Status Value(uint64_t element, Variable& variable);
  absl::Status SymbolValue(InitialValue& value);
  absl::Status Fields(Variable& variable);

  Cursor& cursor_;
  const ModuleNames& globals_;
};

}  // namespace heddle::tracegen::ptx

#endif  // HEDDLE_TRACEGEN_PTX_SYNTAX_PARSE_VARIABLE_H_
