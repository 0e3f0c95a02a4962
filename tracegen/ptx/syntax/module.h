// A PTX module as a syntax tree.
//
// What later stages may rely on, in every tree that ParseModule returns:
// * Every name is resolved: an operand holds the number of a register, variable, label, table or function. All numbers
//   are in range. Scopes play no part any more.
// * Every instruction has a row of the table of forms (Instruction::form), which its modifiers and operands match in
//   number and kind: a guard is a predicate, an address is in brackets, a vector has as many elements as .v2 or .v4
//   says. A vector of one element, as Triton writes it, is that element. `form->meaning` says whether the instruction
//   can be lowered.
// * Operand::written is right, also for elements of vectors and pairs.
// * Labels lead into the same function. What lies behind the last instruction of a body returns.
// * Registers are as wide as the instruction's type asks for, or wider where PTX allows it (ld, st, cvt).
//   Whether .f32 may read a .b32 register and its like is not looked at: PTX's rules let bits pass.
// * Nothing nests deeper than ParseLimits says, and no size overflows 64 bits.
// Not looked at: whether registers are written before they are read, control flow, and which target has what.
#ifndef HEDDLE_TRACEGEN_PTX_SYNTAX_MODULE_H_
#define HEDDLE_TRACEGEN_PTX_SYNTAX_MODULE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tracegen/ptx/syntax/function.h"
#include "tracegen/ptx/syntax/variable.h"

namespace heddle::tracegen::ptx {

// .file INDEX "name"[, timestamp, size].
struct SourceFile {
  uint32_t index = 0;
  uint32_t line = 0;
  std::string name;
  std::optional<uint64_t> timestamp;
  std::optional<uint64_t> size;

  bool operator==(const SourceFile&) const = default;
};

// .alias NAME, AIMED: both are functions of the module.
struct Alias {
  uint32_t line = 0;
  uint32_t function = 0;
  uint32_t aimed = 0;

  bool operator==(const Alias&) const = default;
};

// .section NAME { ... }: debugging data, as written.
struct Section {
  std::string name;
  uint32_t line = 0;
  std::string text;

  bool operator==(const Section&) const = default;
};

// What stands at the module's top, in order.
struct ModuleItem {
  enum class Kind : uint8_t { kVariable, kDeclaration, kDefinition, kAlias, kFile, kSection, kPragma, kComment };
  Kind kind = Kind::kVariable;
  uint32_t index = 0;  // in the vector of that kind

  bool operator==(const ModuleItem&) const = default;
};

struct Module {
  uint32_t version_major = 0;  // .version 8.0
  uint32_t version_minor = 0;
  std::vector<std::string> targets;  // .target sm_70, debug: all of them in order; empty if there is no such line
  uint32_t address_size = 64;        // 32 or 64; 64 if there is no such line
  std::vector<Variable> variables;
  std::vector<Function> functions;  // one per name
  std::vector<Alias> aliases;
  std::vector<SourceFile> files;
  std::vector<Section> sections;
  std::vector<Pragma> pragmas;
  std::vector<Comment> comments;
  std::vector<ModuleItem> items;
  // Names of the texts that it was linked from (link_modules.h), by Function::part and Variable::part; empty if the
  // module is one text.
  std::vector<std::string> parts;

  // "PTX line 12", with the name of its text in front if there are several.
  std::string Where(uint32_t part, uint32_t line) const;
  // "sm_70", the first target of that kind; empty without one.
  std::string_view Architecture() const;
  // Index in `functions`; nothing if there is none.
  std::optional<uint32_t> FindFunction(std::string_view name) const;
  // Index in `variables`.
  std::optional<uint32_t> FindVariable(std::string_view name) const;

  bool operator==(const Module&) const = default;
};

}  // namespace heddle::tracegen::ptx

#endif  // HEDDLE_TRACEGEN_PTX_SYNTAX_MODULE_H_
