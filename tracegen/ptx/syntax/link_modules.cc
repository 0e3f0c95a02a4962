#include "tracegen/ptx/syntax/link_modules.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "absl/strings/str_cat.h"
#include "traces/base/status_macros.h"

namespace heddle::tracegen::ptx {
namespace {

using Kind = Operand::Kind;
using ItemKind = ModuleItem::Kind;

// Calls `visit` with every operand that names a symbol.
template <typename AnyOperand, typename Visit>
void ForEachSymbol(AnyOperand& operand, const Visit& visit) {
  if (operand.kind == Kind::kSymbol) visit(operand);
  for (auto& element : operand.elements) ForEachSymbol(element, visit);
}

bool IsAlias(const Module& module, uint32_t function) {
  return std::any_of(module.aliases.begin(), module.aliases.end(),
                     [&](const Alias& alias) { return alias.function == function; });
}

uint64_t ArchitectureNumber(const Module& module) {
  std::string_view text = module.Architecture();
  if (text.size() > 3) text.remove_prefix(3);
  uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

bool IsNewer(const Module& a, const Module& b) {
  return std::make_pair(a.version_major, a.version_minor) > std::make_pair(b.version_major, b.version_minor);
}

bool IsDynamicShared(const Variable& variable) {
  return variable.linkage == Linkage::kExtern && variable.space == StateSpace::kShared;
}

}  // namespace

void ModuleLinker::Add(std::string name, Module module) {
  result_.parts.push_back(std::move(name));
  modules_.push_back(std::move(module));
}

bool ModuleLinker::IsOwn(const Module& part, uint32_t function) {
  const Function& made = part.functions[function];
  return made.linkage == Linkage::kInternal && !made.is_kernel && (made.is_defined || IsAlias(part, function));
}

ModuleLinker::Strength ModuleLinker::StrengthOf(const Module& part, uint32_t function) {
  const Function& made = part.functions[function];
  if (!made.is_defined && !IsAlias(part, function)) return Strength::kReference;
  return made.linkage == Linkage::kWeak ? Strength::kWeak : Strength::kStrong;
}

uint32_t ModuleLinker::LineOf(const Symbol& symbol) const {
  const Module& part = modules_[symbol.part];
  return symbol.is_function ? part.functions[symbol.index].line : part.variables[symbol.index].line;
}

bool ModuleLinker::Wins(const Symbol& known, const Symbol& other) const {
  if (other.strength != known.strength) return other.strength > known.strength;
  if (known.is_function) return false;
  const Variable& a = modules_[known.part].variables[known.index];
  const Variable& b = modules_[other.part].variables[other.index];
  if (known.strength == Strength::kCommon) return b.Bytes() > a.Bytes();
  return known.strength == Strength::kReference && b.Alignment() > a.Alignment();
}

absl::Status ModuleLinker::CheckAgreement(const std::string& name, const Symbol& known, const Symbol& other) const {
  const auto error = [&](absl::string_view what) {
    return absl::InvalidArgumentError(absl::StrCat(Where(other), ": '", name, "' ", what, Where(known)));
  };
  if (known.is_function != other.is_function) {
    return error(other.is_function ? "is a function here, and a variable at "
                                   : "is a variable here, and a function at ");
  }
  if (known.strength == Strength::kStrong && other.strength == Strength::kStrong) {
    return error("is defined here a second time; its first definition is at ");
  }
  if (known.is_function) {
    const Function& a = modules_[known.part].functions[known.index];
    const Function& b = modules_[other.part].functions[other.index];
    const bool same = a.is_kernel == b.is_kernel && SameParameters(a.parameters, b.parameters) &&
                      SameParameters(a.returns, b.returns);
    return same ? absl::OkStatus() : error("has other parameters or results here than at ");
  }
  const Variable& a = modules_[known.part].variables[known.index];
  const Variable& b = modules_[other.part].variables[other.index];
  if (a.space != b.space) return error("is in another state space here than at ");
  const bool sizes_are_free = a.Bytes() == 0 || b.Bytes() == 0 || (IsDynamicShared(a) && IsDynamicShared(b)) ||
                              (known.strength == Strength::kCommon && other.strength == Strength::kCommon);
  if (sizes_are_free || a.Bytes() == b.Bytes()) return absl::OkStatus();
  return error(absl::StrCat("has ", b.Bytes(), " bytes here, and ", a.Bytes(), " at "));
}

absl::Status ModuleLinker::Claim(const std::string& name, const Symbol& symbol) {
  const auto [found, is_new] = symbols_.try_emplace(name, symbol);
  if (is_new) return absl::OkStatus();
  HEDDLE_RETURN_IF_ERROR(CheckAgreement(name, found->second, symbol));
  if (Wins(found->second, symbol)) found->second = symbol;
  return absl::OkStatus();
}

absl::Status ModuleLinker::ClaimAll() {
  for (uint32_t part = 0; part < modules_.size(); ++part) {
    const Module& module = modules_[part];
    for (uint32_t i = 0; i < module.functions.size(); ++i) {
      if (IsOwn(module, i)) continue;
      HEDDLE_RETURN_IF_ERROR(Claim(module.functions[i].name, {true, StrengthOf(module, i), part, i}));
    }
    for (uint32_t i = 0; i < module.variables.size(); ++i) {
      const Variable& variable = module.variables[i];
      if (variable.linkage == Linkage::kInternal) continue;
      const Strength strength = variable.linkage == Linkage::kExtern   ? Strength::kReference
                                : variable.linkage == Linkage::kCommon ? Strength::kCommon
                                : variable.linkage == Linkage::kWeak   ? Strength::kWeak
                                                                       : Strength::kStrong;
      HEDDLE_RETURN_IF_ERROR(Claim(variable.name, {false, strength, part, i}));
    }
  }
  return absl::OkStatus();
}

void ModuleLinker::Number() {
  uint32_t functions = 0, variables = 0;
  const auto shared = [this](const std::string& name, uint32_t* count) {
    Symbol& symbol = symbols_[name];
    if (!std::exchange(symbol.is_made, true)) symbol.made = (*count)++;
    return symbol.made;
  };
  for (const Module& module : modules_) {
    Indices& indices = indices_.emplace_back();
    for (uint32_t i = 0; i < module.functions.size(); ++i) {
      indices.functions.push_back(IsOwn(module, i) ? functions++ : shared(module.functions[i].name, &functions));
    }
    for (const Variable& variable : module.variables) {
      indices.variables.push_back(variable.linkage == Linkage::kInternal ? variables++
                                                                         : shared(variable.name, &variables));
    }
    for (const SourceFile& file : module.files) {
      const auto number = static_cast<uint32_t>(result_.files.size() + 1);
      if (!indices.files.emplace(file.index, number).second) continue;
      result_.files.push_back(file);
      result_.files.back().index = number;
    }
  }
  result_.functions.resize(functions);
  result_.variables.resize(variables);
  has_function_item_.resize(functions);
  has_variable_item_.resize(variables);
  is_alias_.resize(functions);
}

void ModuleLinker::Rename(std::string& name) {
  for (uint32_t number = 2; !names_.insert(name).second; ++number) {
    const size_t end = number == 2 ? name.size() : name.rfind('$');
    name = absl::StrCat(name.substr(0, end), "$", number);
  }
}

void ModuleLinker::Move(uint32_t part) {
  Module& module = modules_[part];
  const Indices& indices = indices_[part];
  const auto renumber = [&](SymbolKind kind, uint32_t& index) {
    if (kind == SymbolKind::kFunction) index = indices.functions[index];
    if (kind == SymbolKind::kGlobal) index = indices.variables[index];
  };
  const auto renumber_values = [&](Variable& variable) {
    for (InitialValue& value : variable.initial) {
      if (value.kind == InitialValue::Kind::kAddress) renumber(value.symbol, value.index);
    }
  };
  const auto renumber_file = [&](uint32_t& file) {
    const auto found = indices.files.find(file);
    file = found == indices.files.end() ? 0 : found->second;
  };
  const auto comes_from_here = [&](const std::string& name, bool is_function, uint32_t index) {
    const Symbol& symbol = symbols_[name];
    return symbol.is_function == is_function && symbol.part == part && symbol.index == index;
  };
  for (uint32_t i = 0; i < module.variables.size(); ++i) {
    Variable& variable = module.variables[i];
    const bool own = variable.linkage == Linkage::kInternal;
    if (!own && !comes_from_here(variable.name, false, i)) continue;
    if (own) Rename(variable.name);
    variable.part = part;
    renumber_values(variable);
    result_.variables[indices.variables[i]] = std::move(variable);
  }
  for (uint32_t i = 0; i < module.functions.size(); ++i) {
    Function& function = module.functions[i];
    const bool own = IsOwn(module, i);
    if (!own && !comes_from_here(function.name, true, i)) continue;
    if (own) Rename(function.name);
    function.part = part;
    for (Variable& variable : function.variables) {
      const bool placed = variable.space == StateSpace::kGlobal || variable.space == StateSpace::kConst;
      if (placed) Rename(variable.name);
      variable.part = part;
      renumber_values(variable);
    }
    for (Table& table : function.tables) {
      for (uint32_t& target : table.functions) target = indices.functions[target];
    }
    for (Statement& statement : function.body) {
      if (auto* instruction = std::get_if<Instruction>(&statement.what)) {
        for (Operand& operand : instruction->operands) {
          ForEachSymbol(operand, [&](Operand& symbol) { renumber(symbol.symbol, symbol.index); });
        }
      } else if (auto* location = std::get_if<Location>(&statement.what)) {
        renumber_file(location->file);
        if (location->inlined_file != 0) renumber_file(location->inlined_file);
      }
    }
    result_.functions[indices.functions[i]] = std::move(function);
  }
  for (const Alias& alias : module.aliases) {
    if (!IsOwn(module, alias.function) &&
        !comes_from_here(result_.functions[indices.functions[alias.function]].name, true, alias.function)) {
      continue;
    }
    is_alias_[indices.functions[alias.function]] = true;
    result_.items.push_back({ItemKind::kAlias, static_cast<uint32_t>(result_.aliases.size())});
    result_.aliases.push_back({alias.line, indices.functions[alias.function], indices.functions[alias.aimed]});
  }
}

void ModuleLinker::MoveItems(uint32_t part) {
  Module& module = modules_[part];
  for (const ModuleItem& item : module.items) {
    switch (item.kind) {
      case ItemKind::kVariable: {
        const uint32_t index = indices_[part].variables[item.index];
        if (!has_variable_item_[index]) result_.items.push_back({item.kind, index});
        has_variable_item_[index] = true;
        break;
      }
      case ItemKind::kDeclaration:
      case ItemKind::kDefinition: {
        const uint32_t index = indices_[part].functions[item.index];
        const Function& function = result_.functions[index];
        // What another module defines is declared here.
        const bool defines = item.kind == ItemKind::kDefinition && function.part == part;
        if (!defines && has_function_item_[index]) break;
        result_.items.push_back({defines ? ItemKind::kDefinition : ItemKind::kDeclaration, index});
        has_function_item_[index] = true;
        break;
      }
      case ItemKind::kPragma:
        result_.items.push_back({item.kind, static_cast<uint32_t>(result_.pragmas.size())});
        result_.pragmas.push_back(std::move(module.pragmas[item.index]));
        break;
      case ItemKind::kComment:
        result_.items.push_back({item.kind, static_cast<uint32_t>(result_.comments.size())});
        result_.comments.push_back(std::move(module.comments[item.index]));
        break;
      case ItemKind::kAlias:  // behind everything
      case ItemKind::kFile:   // before everything
      case ItemKind::kSection:
        break;
    }
  }
}

absl::Status ModuleLinker::CheckHead() {
  const Module& first = modules_.front();
  for (uint32_t part = 0; part < modules_.size(); ++part) {
    const Module& module = modules_[part];
    if (module.address_size != first.address_size) {
      return absl::InvalidArgumentError(absl::StrCat(
          result_.parts[part], ": PTX with addresses of ", module.address_size, " bits cannot be linked with ",
          result_.parts[0], ", which has ", first.address_size, " bits; compile both for 64 bits"));
    }
    if (part == 0 || ArchitectureNumber(module) > ArchitectureNumber(result_)) result_.targets = module.targets;
    if (part == 0 || IsNewer(module, result_)) {
      result_.version_major = module.version_major;
      result_.version_minor = module.version_minor;
    }
  }
  result_.address_size = first.address_size;
  return absl::OkStatus();
}

absl::Status ModuleLinker::CheckUse(bool is_function, uint32_t index, uint32_t part, uint32_t line) const {
  std::string why;
  uint32_t declared_part = 0, declared_line = 0;
  if (is_function) {
    const Function& function = result_.functions[index];
    if (function.is_defined || is_alias_[index]) return absl::OkStatus();
    why = explain_(function.name);
    if (why.empty()) return absl::OkStatus();
    declared_part = function.part;
    declared_line = function.line;
  } else {
    const Variable& variable = result_.variables[index];
    if (variable.linkage != Linkage::kExtern || variable.space == StateSpace::kShared) return absl::OkStatus();
    why = absl::StrCat("the variable '", variable.name, "' is declared, but not defined");
    declared_part = variable.part;
    declared_line = variable.line;
  }
  return absl::InvalidArgumentError(absl::StrCat(result_.Where(part, line), ": ", why, "; it is declared at ",
                                                 result_.Where(declared_part, declared_line),
                                                 "; link it with the PTX that defines it"));
}

absl::Status ModuleLinker::CheckUses() const {
  const auto check = [this](SymbolKind kind, uint32_t index, uint32_t part, uint32_t line) {
    if (kind != SymbolKind::kFunction && kind != SymbolKind::kGlobal) return absl::OkStatus();
    return CheckUse(kind == SymbolKind::kFunction, index, part, line);
  };
  const auto check_values = [&](const Variable& variable, uint32_t part) {
    for (const InitialValue& value : variable.initial) {
      if (value.kind != InitialValue::Kind::kAddress) continue;
      HEDDLE_RETURN_IF_ERROR(check(value.symbol, value.index, part, value.line));
    }
    return absl::OkStatus();
  };
  for (const Variable& variable : result_.variables) HEDDLE_RETURN_IF_ERROR(check_values(variable, variable.part));
  for (const Function& function : result_.functions) {
    for (const Variable& variable : function.variables) {
      HEDDLE_RETURN_IF_ERROR(check_values(variable, function.part));
    }
    for (const Table& table : function.tables) {
      for (const uint32_t target : table.functions) {
        HEDDLE_RETURN_IF_ERROR(CheckUse(true, target, function.part, table.line));
      }
    }
    for (const Statement& statement : function.body) {
      const Instruction* instruction = statement.instruction();
      if (instruction == nullptr) continue;
      absl::Status status;
      for (const Operand& operand : instruction->operands) {
        ForEachSymbol(operand, [&](const Operand& symbol) {
          if (status.ok()) status = check(symbol.symbol, symbol.index, function.part, statement.line);
        });
      }
      HEDDLE_RETURN_IF_ERROR(status);
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Module> ModuleLinker::Link() {
  if (modules_.empty()) return absl::InvalidArgumentError("there is no PTX to be linked");
  HEDDLE_RETURN_IF_ERROR(CheckHead());
  // Messages about a single text leave its name to the caller.
  if (modules_.size() == 1) result_.parts.clear();
  HEDDLE_RETURN_IF_ERROR(ClaimAll());
  Number();
  for (const auto& [name, symbol] : symbols_) names_.insert(name);
  for (uint32_t i = 0; i < result_.files.size(); ++i) result_.items.push_back({ItemKind::kFile, i});
  std::vector<ModuleItem> aliases;
  for (uint32_t part = 0; part < modules_.size(); ++part) {
    const size_t before = result_.items.size();
    Move(part);
    aliases.insert(aliases.end(), result_.items.begin() + static_cast<ptrdiff_t>(before), result_.items.end());
    result_.items.resize(before);
  }
  for (uint32_t part = 0; part < modules_.size(); ++part) MoveItems(part);
  result_.items.insert(result_.items.end(), aliases.begin(), aliases.end());
  HEDDLE_RETURN_IF_ERROR(CheckUses());
  return std::move(result_);
}

}  // namespace heddle::tracegen::ptx
