#include <algorithm>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tracegen/ptx/syntax/function.h"
#include "tracegen/ptx/syntax/instruction.h"
#include "tracegen/ptx/syntax/module.h"
#include "tracegen/ptx/syntax/variable.h"

namespace heddle::tracegen::ptx {

std::string Instruction::Mnemonic() const {
  std::string text(form->opcode);
  for (const Modifier& modifier : modifiers) {
    text += '.';
    text += modifier.text;
  }
  return text;
}

bool Instruction::Has(std::string_view modifier) const {
  return std::any_of(modifiers.begin(), modifiers.end(), [&](const Modifier& has) { return has.text == modifier; });
}

Type Instruction::TypeAt(size_t i) const {
  for (const Modifier& modifier : modifiers) {
    if (modifier.type.exists() && i-- == 0) return modifier.type;
  }
  return {};
}

Type Instruction::LastType() const {
  for (auto modifier = modifiers.rbegin(); modifier != modifiers.rend(); ++modifier) {
    if (modifier->type.exists()) return modifier->type;
  }
  return {};
}

StateSpace Instruction::Space() const {
  for (const Modifier& modifier : modifiers) {
    if (const StateSpace space = FindStateSpace(modifier.text.substr(0, modifier.text.find(':')));
        space != StateSpace::kNone) {
      return space;
    }
  }
  return StateSpace::kNone;
}

uint32_t Instruction::VectorSize() const {
  for (const Modifier& modifier : modifiers) {
    if (modifier.text == "v2") return 2;
    if (modifier.text == "v4") return 4;
    if (modifier.text == "v8") return 8;
  }
  return 1;
}

uint64_t Variable::ElementBytes() const { return (uint64_t{type.bits} * vector + 7) / 8; }

uint64_t Variable::Bytes() const {
  uint64_t bytes = ElementBytes();
  for (const uint64_t size : dimensions) bytes *= size;
  return bytes;
}

uint64_t Variable::Alignment() const { return alignment != 0 ? alignment : std::max<uint64_t>(ElementBytes(), 1); }

const RegisterDeclaration& Function::RegisterOf(uint32_t number) const {
  const auto after = std::upper_bound(registers.begin(), registers.end(), number,
                                      [](uint32_t a, const RegisterDeclaration& b) { return a < b.first; });
  return *(after - 1);
}

std::string Function::RegisterName(uint32_t number) const {
  const RegisterDeclaration& declaration = RegisterOf(number);
  return declaration.is_range ? absl::StrCat(declaration.name, number - declaration.first) : declaration.name;
}

const Directive* Function::Find(std::string_view directive) const {
  const auto found =
      std::find_if(directives.begin(), directives.end(), [&](const Directive& has) { return has.name == directive; });
  return found == directives.end() ? nullptr : &*found;
}

bool SameParameters(const std::vector<Variable>& a, const std::vector<Variable>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Variable& one, const Variable& other) {
    return one.Bytes() == other.Bytes() && one.space == other.space;
  });
}

std::string Module::Where(uint32_t part, uint32_t line) const {
  return absl::StrCat(parts.empty() ? "" : absl::StrCat(parts[part], ": "), "PTX line ", line);
}

std::string_view Module::Architecture() const {
  const auto found =
      std::find_if(targets.begin(), targets.end(), [](const std::string& text) { return text.starts_with("sm_"); });
  return found == targets.end() ? std::string_view() : std::string_view(*found);
}

std::optional<uint32_t> Module::FindFunction(std::string_view name) const {
  for (uint32_t i = 0; i < functions.size(); ++i) {
    if (functions[i].name == name) return i;
  }
  return std::nullopt;
}

std::optional<uint32_t> Module::FindVariable(std::string_view name) const {
  for (uint32_t i = 0; i < variables.size(); ++i) {
    if (variables[i].name == name) return i;
  }
  return std::nullopt;
}

}  // namespace heddle::tracegen::ptx
