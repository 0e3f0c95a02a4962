#include <algorithm>
#include <array>
#include <string>

#include "tracegen/ptx/syntax/parse_body.h"
#include "traces/base/status_macros.h"

namespace heddle::tracegen::ptx {
namespace {

struct Known {
  std::string_view name;
  size_t least;  // numbers
  size_t most;
};

// PTX ISA: Performance-Tuning Directives, Cluster Dimension Directives, Kernel and Function Directives.
constexpr std::array<Known, 12> kKnown = {{
    {"maxnreg", 1, 1},
    {"maxntid", 1, 3},
    {"reqntid", 1, 3},
    {"minnctapersm", 1, 1},
    {"maxnctapersm", 1, 1},
    {"noreturn", 0, 0},
    {"explicitcluster", 0, 0},
    {"reqnctapercluster", 0, 3},
    {"maxclusterrank", 1, 1},
    {"blocksareclusters", 0, 0},
    {"abi_preserve", 1, 1},
    {"abi_preserve_control", 1, 1},
}};

const Known* Find(std::string_view name) {
  const auto* found =
      std::find_if(kKnown.begin(), kKnown.end(), [&](const Known& known) { return known.name == name; });
  return found == kKnown.end() ? nullptr : found;
}

}  // namespace

bool BeginsDirective(const Cursor& cursor) {
  const Token& token = cursor.Peek();
  return token.kind == Token::Kind::kDot && (token.text == "pragma" || Find(token.text) != nullptr);
}

absl::StatusOr<std::vector<std::string>> ParsePragma(Cursor& cursor) {
  std::vector<std::string> texts;
  do {
    HEDDLE_RETURN_IF_ERROR(cursor.Count());
    if (cursor.Peek().kind != Token::Kind::kString) return cursor.Error("the text of a pragma was expected");
    texts.emplace_back(cursor.Next().text);
  } while (cursor.Accept(","));
  HEDDLE_RETURN_IF_ERROR(cursor.Expect(";"));
  return texts;
}

absl::StatusOr<Directive> ParseDirective(Cursor& cursor) {
  HEDDLE_RETURN_IF_ERROR(cursor.Count());
  Directive directive;
  directive.line = cursor.line();
  directive.name = std::string(cursor.Next().text);
  if (directive.name == "pragma") {
    HEDDLE_ASSIGN_OR_RETURN(directive.texts, ParsePragma(cursor));
    return directive;
  }
  const Known& known = *Find(directive.name);
  while (directive.numbers.size() < known.most && cursor.Peek().kind == Token::Kind::kNumber) {
    HEDDLE_ASSIGN_OR_RETURN(const uint64_t number, cursor.ExpectInteger("a number"));
    directive.numbers.push_back(number);
    if (directive.numbers.size() == known.most || !cursor.Accept(",")) break;
  }
  if (directive.numbers.size() < known.least) return cursor.Error("the number of a directive was expected");
  return directive;
}

absl::StatusOr<std::vector<Variable>> ParseParameters(Cursor& cursor, const ModuleNames& globals) {
  std::vector<Variable> parameters;
  HEDDLE_RETURN_IF_ERROR(cursor.Expect("("));
  if (cursor.Accept(")")) return parameters;
  do {
    VariableParser parser(cursor, globals);
    HEDDLE_ASSIGN_OR_RETURN(Variable parameter, parser.Qualifiers());
    if (parameter.space != StateSpace::kParam && parameter.space != StateSpace::kReg) {
      return SyntaxError(parameter.line, "a parameter that is neither .param nor .reg");
    }
    HEDDLE_RETURN_IF_ERROR(parser.Declarator(parameter));
    parameters.push_back(std::move(parameter));
  } while (cursor.Accept(","));
  HEDDLE_RETURN_IF_ERROR(cursor.Expect(")"));
  return parameters;
}

}  // namespace heddle::tracegen::ptx
