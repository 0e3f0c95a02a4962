#include "tracegen/ptx/syntax/parse.h"

#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tracegen/ptx/syntax/cursor.h"
#include "tracegen/ptx/syntax/names.h"
#include "tracegen/ptx/syntax/parse_body.h"
#include "tracegen/ptx/syntax/parse_operand.h"
#include "tracegen/ptx/syntax/parse_variable.h"
#include "traces/base/status_macros.h"

namespace heddle::tracegen::ptx {
namespace {

using ItemKind = ModuleItem::Kind;

constexpr uint32_t kOldestMajor = 2;
constexpr uint32_t kNewestMajor = 9;

absl::string_view Key(std::string_view name) { return {name.data(), name.size()}; }

class ModuleParser {
 public:
  ModuleParser(std::string_view text, const ParseOptions& options) : cursor_(text, options, false) {}

  absl::StatusOr<Module> Parse() {
    while (true) {
      TakeComments();
      if (cursor_.Peek().kind == Token::Kind::kEnd) break;
      if (cursor_.Accept(";")) continue;
      HEDDLE_RETURN_IF_ERROR(cursor_.Count());
      HEDDLE_RETURN_IF_ERROR(One());
    }
    if (module_.version_major == 0) return cursor_.Error("no .version");
    return std::move(module_);
  }

 private:
  absl::Status One() {
    const Token& token = cursor_.Peek();
    if (token.kind != Token::Kind::kDot) return cursor_.Error("a directive was expected");
    if (cursor_.AcceptDot("version")) return Version();
    if (module_.version_major == 0) return cursor_.Error("PTX begins with .version");
    if (cursor_.AcceptDot("target")) return Targets();
    if (cursor_.AcceptDot("address_size")) return AddressSize();
    if (cursor_.AcceptDot("file")) return File();
    if (cursor_.AcceptDot("section")) return DebugSection();
    if (cursor_.AcceptDot("alias")) return AliasLine();
    if (cursor_.AcceptDot("pragma")) {
      HEDDLE_ASSIGN_OR_RETURN(std::vector<std::string> texts, ParsePragma(cursor_));
      AddItem(ItemKind::kPragma, module_.pragmas.size());
      module_.pragmas.push_back({std::move(texts)});
      return absl::OkStatus();
    }
    const Linkage linkage = LinkageWord();
    if (cursor_.Peek().IsDot("entry") || cursor_.Peek().IsDot("func")) return FunctionItem(linkage);
    return Variables(linkage);
  }

  void AddItem(ItemKind kind, size_t index) { module_.items.push_back({kind, static_cast<uint32_t>(index)}); }

  void TakeComments() {
    for (const CommentText& comment : cursor_.TakeComments()) {
      AddItem(ItemKind::kComment, module_.comments.size());
      module_.comments.push_back({std::string(comment.text)});
    }
  }

  absl::Status Version() {
    const std::vector<absl::string_view> parts = absl::StrSplit(Key(cursor_.Peek().text), '.');
    const bool is_version = cursor_.Peek().kind == Token::Kind::kNumber && parts.size() == 2 &&
                            absl::SimpleAtoi(parts[0], &module_.version_major) &&
                            absl::SimpleAtoi(parts[1], &module_.version_minor);
    if (!is_version) return cursor_.Error("a version such as 8.0 was expected");
    if (module_.version_major < kOldestMajor || module_.version_major > kNewestMajor) {
      return cursor_.Error(
          absl::StrCat("a version of PTX that is not known (", kOldestMajor, ".0 to ", kNewestMajor, ".x are)"));
    }
    cursor_.Next();
    return absl::OkStatus();
  }

  absl::Status Targets() {
    do {
      HEDDLE_RETURN_IF_ERROR(cursor_.Count());
      HEDDLE_ASSIGN_OR_RETURN(const std::string_view target, cursor_.ExpectWord("a target"));
      module_.targets.emplace_back(target);
    } while (cursor_.Accept(","));
    return absl::OkStatus();
  }

  absl::Status AddressSize() {
    HEDDLE_ASSIGN_OR_RETURN(const uint64_t bits, cursor_.ExpectInteger("32 or 64"));
    if (bits != 32 && bits != 64) return cursor_.Error("an address size that is neither 32 nor 64, before");
    module_.address_size = static_cast<uint32_t>(bits);
    return absl::OkStatus();
  }

  absl::Status File() {
    SourceFile file;
    file.line = cursor_.line();
    HEDDLE_ASSIGN_OR_RETURN(const uint64_t index, cursor_.ExpectInteger("the number of a file"));
    if (index > UINT32_MAX) return cursor_.Error("a number that is too large, before");
    file.index = static_cast<uint32_t>(index);
    if (cursor_.Peek().kind != Token::Kind::kString) return cursor_.Error("the name of a file was expected");
    file.name = std::string(cursor_.Next().text);
    if (cursor_.Accept(",")) {
      HEDDLE_ASSIGN_OR_RETURN(file.timestamp, cursor_.ExpectInteger("a time"));
      HEDDLE_RETURN_IF_ERROR(cursor_.Expect(","));
      HEDDLE_ASSIGN_OR_RETURN(file.size, cursor_.ExpectInteger("a size"));
    }
    AddItem(ItemKind::kFile, module_.files.size());
    module_.files.push_back(std::move(file));
    return absl::OkStatus();
  }

  absl::Status DebugSection() {
    Section section;
    section.line = cursor_.line();
    if (cursor_.Peek().kind != Token::Kind::kDot && cursor_.Peek().kind != Token::Kind::kWord) {
      return cursor_.Error("the name of a section was expected");
    }
    section.name = cursor_.Peek().kind == Token::Kind::kDot ? absl::StrCat(".", Key(cursor_.Peek().text))
                                                            : std::string(cursor_.Peek().text);
    cursor_.Next();
    HEDDLE_RETURN_IF_ERROR(cursor_.Expect("{"));
    const char* begin = cursor_.Peek().begin;
    while (!cursor_.Peek().Is("}")) {
      const Token::Kind kind = cursor_.Peek().kind;
      if (kind == Token::Kind::kEnd || kind == Token::Kind::kBad) return cursor_.Error("a section without an end");
      cursor_.Next();
    }
    section.text = std::string(begin, static_cast<size_t>(cursor_.Peek().begin - begin));
    (void)cursor_.TakeComments();  // they are a part of the text
    cursor_.Next();
    AddItem(ItemKind::kSection, module_.sections.size());
    module_.sections.push_back(std::move(section));
    return absl::OkStatus();
  }

  absl::StatusOr<uint32_t> FunctionName() {
    const Token& token = cursor_.Peek();
    const auto found = globals_.find(Key(token.text));
    if (token.kind != Token::Kind::kWord || found == globals_.end() || found->second.symbol != SymbolKind::kFunction) {
      return cursor_.Error("the name of a function was expected");
    }
    cursor_.Next();
    return found->second.index;
  }

  absl::Status AliasLine() {
    Alias alias;
    alias.line = cursor_.line();
    HEDDLE_ASSIGN_OR_RETURN(alias.function, FunctionName());
    HEDDLE_RETURN_IF_ERROR(cursor_.Expect(","));
    HEDDLE_ASSIGN_OR_RETURN(alias.aimed, FunctionName());
    HEDDLE_RETURN_IF_ERROR(cursor_.Expect(";"));
    AddItem(ItemKind::kAlias, module_.aliases.size());
    module_.aliases.push_back(alias);
    return absl::OkStatus();
  }

  Linkage LinkageWord() {
    if (cursor_.AcceptDot("visible")) return Linkage::kVisible;
    if (cursor_.AcceptDot("extern")) return Linkage::kExtern;
    if (cursor_.AcceptDot("weak")) return Linkage::kWeak;
    if (cursor_.AcceptDot("common")) return Linkage::kCommon;
    return Linkage::kInternal;
  }

  absl::Status Variables(Linkage linkage) {
    VariableParser parser(cursor_, globals_);
    HEDDLE_ASSIGN_OR_RETURN(Variable qualifiers, parser.Qualifiers());
    if (qualifiers.space == StateSpace::kReg || qualifiers.space == StateSpace::kParam ||
        qualifiers.space == StateSpace::kSreg) {
      return SyntaxError(qualifiers.line, "a variable in a state space that modules do not have");
    }
    qualifiers.linkage = linkage;
    do {
      HEDDLE_RETURN_IF_ERROR(cursor_.Count());
      Variable variable = qualifiers;
      const std::string_view name = cursor_.Peek().text;
      HEDDLE_RETURN_IF_ERROR(parser.Declarator(variable));
      HEDDLE_RETURN_IF_ERROR(AddVariable(name, std::move(variable)));
    } while (cursor_.Accept(","));
    return cursor_.Expect(";");
  }

  absl::Status AddVariable(std::string_view name, Variable variable) {
    const auto [found, is_new] =
        globals_.emplace(Key(name), Meant{false, SymbolKind::kGlobal, static_cast<uint32_t>(module_.variables.size())});
    if (is_new) {
      AddItem(ItemKind::kVariable, module_.variables.size());
      module_.variables.push_back(std::move(variable));
      return absl::OkStatus();
    }
    // Declared as extern before, or again now.
    if (found->second.symbol == SymbolKind::kGlobal) {
      Variable& known = module_.variables[found->second.index];
      const bool same = known.space == variable.space && known.ElementBytes() == variable.ElementBytes();
      if (same && variable.linkage == Linkage::kExtern) return absl::OkStatus();
      if (same && known.linkage == Linkage::kExtern) {
        known = std::move(variable);
        return absl::OkStatus();
      }
    }
    return SyntaxError(variable.line, "a name that the module has already", name);
  }

  absl::Status FunctionItem(Linkage linkage) {
    Function function;
    function.line = cursor_.line();
    function.linkage = linkage;
    function.is_kernel = cursor_.Next().text == "entry";
    VariableParser variables(cursor_, globals_);
    bool managed = false, unified = false;
    std::pair<uint64_t, uint64_t> halves;
    HEDDLE_RETURN_IF_ERROR(variables.Attributes(&managed, &unified, &halves).status());
    if (managed) return cursor_.Error("an attribute that functions do not have, before");
    if (unified) function.directives.push_back({"unified", function.line, {halves.first, halves.second}, {}});
    HEDDLE_RETURN_IF_ERROR(FunctionDirectives(function));
    if (cursor_.Peek().Is("(")) {
      HEDDLE_ASSIGN_OR_RETURN(function.returns, ParseParameters(cursor_, globals_));
      if (function.is_kernel && !function.returns.empty())
        return cursor_.Error("a kernel that returns a value, before");
    }
    HEDDLE_ASSIGN_OR_RETURN(const std::string_view name, cursor_.ExpectWord("the name of a function"));
    function.name = std::string(name);
    if (cursor_.Peek().Is("(")) {
      HEDDLE_ASSIGN_OR_RETURN(function.parameters, ParseParameters(cursor_, globals_));
    }
    HEDDLE_RETURN_IF_ERROR(FunctionDirectives(function));
    const bool defines = cursor_.Peek().Is("{");
    HEDDLE_ASSIGN_OR_RETURN(const uint32_t index, AddFunction(name, std::move(function), defines));
    AddItem(defines ? ItemKind::kDefinition : ItemKind::kDeclaration, index);
    if (!defines) return cursor_.Expect(";");
    TakeCommentsInto(index);
    cursor_.Next();
    return BodyParser(cursor_, globals_, module_, module_.functions[index]).Parse();
  }

  // Comments of the header come first in the body.
  void TakeCommentsInto(uint32_t index) {
    for (const CommentText& comment : cursor_.TakeComments()) {
      module_.functions[index].body.push_back({comment.line, Comment{std::string(comment.text)}});
    }
  }

  absl::Status FunctionDirectives(Function& function) {
    while (BeginsDirective(cursor_)) {
      HEDDLE_ASSIGN_OR_RETURN(Directive directive, ParseDirective(cursor_));
      function.directives.push_back(std::move(directive));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<uint32_t> AddFunction(std::string_view name, Function function, bool defines) {
    function.is_defined = defines;
    const auto [found, is_new] = globals_.emplace(
        Key(name), Meant{false, SymbolKind::kFunction, static_cast<uint32_t>(module_.functions.size())});
    if (is_new) {
      module_.functions.push_back(std::move(function));
      return found->second.index;
    }
    if (found->second.symbol != SymbolKind::kFunction) {
      return SyntaxError(function.line, "a name that the module has already", name);
    }
    Function& known = module_.functions[found->second.index];
    if (defines && known.is_defined) return SyntaxError(function.line, "a second definition of a function", name);
    if (known.is_kernel != function.is_kernel || !SameParameters(known.parameters, function.parameters) ||
        !SameParameters(known.returns, function.returns)) {
      return SyntaxError(function.line, "a function that was declared in another way before", name);
    }
    if (defines) known = std::move(function);
    return found->second.index;
  }

  Cursor cursor_;
  Module module_;
  ModuleNames globals_;
};

absl::Status CheckLength(std::string_view text, const ParseOptions& options) {
  if (text.size() <= options.limits.text_bytes) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("PTX of ", text.size(), " bytes; at most ", options.limits.text_bytes, " are read"));
}

}  // namespace

absl::StatusOr<Module> ParseModule(std::string_view text, const ParseOptions& options) {
  HEDDLE_RETURN_IF_ERROR(CheckLength(text, options));
  return ModuleParser(text, options).Parse();
}

absl::StatusOr<Module> ParseInline(std::string_view text, const Module* symbols, const ParseOptions& options) {
  HEDDLE_RETURN_IF_ERROR(CheckLength(text, options));
  static const Module& nothing = *new Module();
  if (symbols == nullptr) symbols = &nothing;
  ModuleNames globals;
  for (uint32_t i = 0; i < symbols->variables.size(); ++i) {
    globals.emplace(symbols->variables[i].name, Meant{false, SymbolKind::kGlobal, i});
  }
  for (uint32_t i = 0; i < symbols->functions.size(); ++i) {
    globals.emplace(symbols->functions[i].name, Meant{false, SymbolKind::kFunction, i});
  }
  Module module;
  module.functions.emplace_back();
  module.functions[0].is_defined = true;
  Cursor cursor(text, options, true);
  HEDDLE_RETURN_IF_ERROR(BodyParser(cursor, globals, *symbols, module.functions[0]).Parse());
  return module;
}

}  // namespace heddle::tracegen::ptx
