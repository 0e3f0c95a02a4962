#include "tracegen/ptx/syntax/print.h"

#include <string>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tracegen/ptx/syntax/print_parts.h"

namespace heddle::tracegen::ptx {
namespace {

class FunctionPrinter {
 public:
  FunctionPrinter(const Module& module, const Function& function) : parts_(module, function), function_(function) {}

  void Header(std::string* out) const {
    absl::StrAppend(out, LinkageText(function_.linkage), function_.is_kernel ? ".entry " : ".func ");
    if (const Directive* unified = function_.Find("unified")) {
      absl::StrAppend(out, ".attribute(.unified(", unified->numbers[0], ", ", unified->numbers[1], ")) ");
    }
    if (!function_.returns.empty()) absl::StrAppend(out, parts_.Parameters(function_.returns), " ");
    absl::StrAppend(out, function_.name);
    if (!function_.parameters.empty()) absl::StrAppend(out, parts_.Parameters(function_.parameters));
    for (const Directive& directive : function_.directives) {
      if (directive.name != "unified") absl::StrAppend(out, "\n", DirectiveText(directive));
    }
  }

  void Body(std::string* out) {
    absl::StrAppend(out, "\n{\n");
    for (const Statement& statement : function_.body) {
      std::visit([&](const auto& what) { One(what, out); }, statement.what);
    }
    absl::StrAppend(out, "}\n");
  }

  std::string Text(const Instruction& instruction) const { return parts_.InstructionText(instruction); }

 private:
  void One(const Instruction& instruction, std::string* out) { absl::StrAppend(out, "\t", Text(instruction), "\n"); }
  void One(const LabelPlace& place, std::string* out) {
    absl::StrAppend(out, function_.labels[place.index].name, ":\n");
  }
  void One(const ScopeBegin&, std::string* out) { absl::StrAppend(out, "\t{\n"); }
  void One(const ScopeEnd&, std::string* out) { absl::StrAppend(out, "\t}\n"); }
  void One(const RegisterPlace& place, std::string* out) {
    const RegisterDeclaration& declaration = function_.registers[place.index];
    absl::StrAppend(out, "\t.reg ", VectorText(declaration.vector), TypeText(declaration.type), declaration.name);
    if (declaration.is_range) absl::StrAppend(out, "<", declaration.count, ">");
    absl::StrAppend(out, ";\n");
  }
  void One(const VariablePlace& place, std::string* out) {
    absl::StrAppend(out, "\t", parts_.VariableText(function_.variables[place.index]), ";\n");
  }
  void One(const TablePlace& place, std::string* out) {
    absl::StrAppend(out, parts_.TableText(function_.tables[place.index]), "\n");
  }
  void One(const Location& location, std::string* out) {
    absl::StrAppend(out, "\t.loc ", location.file, " ", location.source_line, " ", location.column);
    if (!location.function_name.empty()) {
      absl::StrAppend(out, ", function_name ", location.function_name);
      if (location.function_offset != 0) absl::StrAppend(out, "+", location.function_offset);
    }
    if (location.inlined_file != 0) {
      absl::StrAppend(out, ", inlined_at ", location.inlined_file, " ", location.inlined_line, " ",
                      location.inlined_column);
    }
    absl::StrAppend(out, "\n");
  }
  void One(const Pragma& pragma, std::string* out) { absl::StrAppend(out, "\t", PragmaText(pragma.texts), "\n"); }
  void One(const Comment& comment, std::string* out) { absl::StrAppend(out, CommentText(comment.text)); }

  Parts parts_;
  const Function& function_;
};

void PrintItem(const Module& module, const ModuleItem& item, std::string* out) {
  static const Function& nothing = *new Function();
  switch (item.kind) {
    case ModuleItem::Kind::kVariable: {
      const Variable& variable = module.variables[item.index];
      absl::StrAppend(out, LinkageText(variable.linkage), Parts(module, nothing).VariableText(variable), ";\n");
      break;
    }
    case ModuleItem::Kind::kDeclaration:
      FunctionPrinter(module, module.functions[item.index]).Header(out);
      absl::StrAppend(out, ";\n");
      break;
    case ModuleItem::Kind::kDefinition: {
      FunctionPrinter printer(module, module.functions[item.index]);
      printer.Header(out);
      printer.Body(out);
      break;
    }
    case ModuleItem::Kind::kAlias: {
      const Alias& alias = module.aliases[item.index];
      absl::StrAppend(out, ".alias ", module.functions[alias.function].name, ", ", module.functions[alias.aimed].name,
                      ";\n");
      break;
    }
    case ModuleItem::Kind::kFile: {
      const SourceFile& file = module.files[item.index];
      absl::StrAppend(out, ".file ", file.index, " \"", file.name, "\"");
      if (file.timestamp) absl::StrAppend(out, ", ", *file.timestamp, ", ", file.size.value_or(0));
      absl::StrAppend(out, "\n");
      break;
    }
    case ModuleItem::Kind::kSection: {
      const Section& section = module.sections[item.index];
      absl::StrAppend(out, ".section ", section.name, "\n{\n", section.text, "}\n");
      break;
    }
    case ModuleItem::Kind::kPragma:
      absl::StrAppend(out, PragmaText(module.pragmas[item.index].texts), "\n");
      break;
    case ModuleItem::Kind::kComment:
      absl::StrAppend(out, CommentText(module.comments[item.index].text));
      break;
  }
}

}  // namespace

std::string Print(const Module& module) {
  std::string out = absl::StrCat(".version ", module.version_major, ".", module.version_minor, "\n");
  for (size_t i = 0; i < module.targets.size(); ++i) {
    absl::StrAppend(&out, i == 0 ? ".target " : ", ", module.targets[i]);
  }
  absl::StrAppend(&out, module.targets.empty() ? "" : "\n", ".address_size ", module.address_size, "\n");
  for (const ModuleItem& item : module.items) PrintItem(module, item, &out);
  return out;
}

std::string Print(const Module& module, const Function& function, const Instruction& instruction) {
  return FunctionPrinter(module, function).Text(instruction);
}

}  // namespace heddle::tracegen::ptx
