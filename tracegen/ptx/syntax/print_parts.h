// Parts of PTX text: operands, variables, directives.
#ifndef HEDDLE_TRACEGEN_PTX_SYNTAX_PRINT_PARTS_H_
#define HEDDLE_TRACEGEN_PTX_SYNTAX_PRINT_PARTS_H_

#include <string>
#include <string_view>
#include <vector>

#include "tracegen/ptx/syntax/module.h"

namespace heddle::tracegen::ptx {

// Each with a blank behind it, or empty.
std::string LinkageText(Linkage linkage);
std::string TypeText(const Type& type);
std::string VectorText(uint8_t vector);

std::string DirectiveText(const Directive& directive);
std::string PragmaText(const std::vector<std::string>& texts);
// On lines of their own.
std::string CommentText(std::string_view text);

class Parts {
 public:
  Parts(const Module& module, const Function& function) : module_(module), function_(function) {}

  std::string InstructionText(const Instruction& instruction) const;
  std::string OperandText(const Operand& operand) const;
  std::string VariableText(const Variable& variable) const;
  std::string Parameters(const std::vector<Variable>& parameters) const;
  std::string TableText(const Table& table) const;

 private:
  std::string CallText(const Instruction& instruction) const;
  std::string Elements(const Operand& operand, std::string_view open, std::string_view close, size_t from) const;
  const std::string& SymbolName(SymbolKind kind, uint32_t index) const;
  std::string ValueText(const Variable& variable, const InitialValue& value) const;
  std::string InitializerText(const Variable& variable) const;
  // The values between one pair of braces: of elements `base` up to `end`, from value `next` on, which it moves.
  void Values(const Variable& variable, const std::vector<uint64_t>& strides, size_t level, uint64_t base, size_t* next,
              std::string* out) const;

  const Module& module_;
  const Function& function_;
};

}  // namespace heddle::tracegen::ptx

#endif  // HEDDLE_TRACEGEN_PTX_SYNTAX_PRINT_PARTS_H_
