// Functions and kernels of PTX.
#ifndef HEDDLE_TRACEGEN_PTX_SYNTAX_FUNCTION_H_
#define HEDDLE_TRACEGEN_PTX_SYNTAX_FUNCTION_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tracegen/ptx/syntax/instruction.h"
#include "tracegen/ptx/syntax/variable.h"

namespace heddle::tracegen::ptx {

// `.reg .b32 %r<10>` declares ten registers %r0 to %r9, `.reg .b32 sum` one. Registers of all scopes of a function are
// numbered through, from 0, in the order of their declarations.
struct RegisterDeclaration {
  std::string name;  // "%r" or "sum"
  uint32_t line = 0;
  Type type;
  uint8_t vector = 1;  // .v2, .v4
  bool is_range = false;
  uint32_t first = 0;  // number of the first one
  uint32_t count = 1;  // may be far more than the function uses: allocate by use

  bool operator==(const RegisterDeclaration&) const = default;
};

struct Label {
  std::string name;
  uint32_t line = 0;
  // Of the LabelPlace in Function::body. The label means the next instruction behind it; there may be none.
  uint32_t statement = 0;

  bool operator==(const Label&) const = default;
};

// A performance-tuning directive or an attribute of a function: name without the point and its numbers, such as
// {"maxntid", {256, 1, 1}}. Known: maxnreg, maxntid, reqntid, minnctapersm, maxnctapersm, noreturn, explicitcluster,
// reqnctapercluster, maxclusterrank, blocksareclusters, abi_preserve, abi_preserve_control, unified, pragma.
struct Directive {
  std::string name;
  uint32_t line = 0;
  std::vector<uint64_t> numbers;
  std::vector<std::string> texts;  // pragma

  bool operator==(const Directive&) const = default;
};

// A named list of where control can go, or how a callee is called.
struct Table {
  enum class Kind : uint8_t { kPrototype, kCallTargets, kBranchTargets };
  Kind kind = Kind::kPrototype;
  std::string name;
  uint32_t line = 0;
  std::vector<uint32_t> labels;     // kBranchTargets: Function::labels, in order
  std::vector<uint32_t> functions;  // kCallTargets: Module::functions
  std::vector<Variable> returns;    // kPrototype
  std::vector<Variable> parameters;
  std::vector<Directive> directives;  // kPrototype: .noreturn and its like

  bool operator==(const Table&) const = default;
};

// One function, whether it is declared, defined, or first one and then the other.
struct Function {
  std::string name;
  uint32_t line = 0;       // of its definition, else of its first declaration
  uint32_t part = 0;       // Module::parts
  bool is_kernel = false;  // .entry
  bool is_defined = false;
  Linkage linkage = Linkage::kInternal;
  std::vector<Variable> returns;  // .func (...) name: at most one, but old PTX may have several
  std::vector<Variable> parameters;
  std::vector<Directive> directives;
  std::vector<RegisterDeclaration> registers;  // ascending by `first`
  uint32_t register_count = 0;                 // of all declarations
  std::vector<Variable> variables;             // of the body and its scopes
  std::vector<Label> labels;
  std::vector<Table> tables;
  std::vector<Statement> body;
  uint32_t end_line = 0;  // of the closing brace

  // The declaration of a register, by its number; O(log n).
  const RegisterDeclaration& RegisterOf(uint32_t number) const;
  // "%r7". Not unique: scopes may hide names of outer ones.
  std::string RegisterName(uint32_t number) const;
  // Null if there is none.
  const Directive* Find(std::string_view directive) const;

  bool operator==(const Function&) const = default;
};

// Whether two lists of parameters or results are of the same sizes, in the same state spaces.
bool SameParameters(const std::vector<Variable>& a, const std::vector<Variable>& b);

}  // namespace heddle::tracegen::ptx

#endif  // HEDDLE_TRACEGEN_PTX_SYNTAX_FUNCTION_H_
