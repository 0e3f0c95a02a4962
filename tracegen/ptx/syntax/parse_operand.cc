#include "tracegen/ptx/syntax/parse_operand.h"

#include <string>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "tracegen/ptx/syntax/constant.h"
#include "traces/base/status_macros.h"

namespace heddle::tracegen::ptx {
namespace {

using Kind = Operand::Kind;

using Words = absl::flat_hash_set<std::string>;

// PTX ISA: Special Registers.
const Words& SpecialRegisters() {
  static const auto& words = *[] {
    auto* all = new Words{"%tid",
                          "%ntid",
                          "%laneid",
                          "%warpid",
                          "%nwarpid",
                          "%ctaid",
                          "%nctaid",
                          "%smid",
                          "%nsmid",
                          "%gridid",
                          "%is_explicit_cluster",
                          "%clusterid",
                          "%nclusterid",
                          "%cluster_ctaid",
                          "%cluster_nctaid",
                          "%cluster_ctarank",
                          "%cluster_nctarank",
                          "%lanemask_eq",
                          "%lanemask_le",
                          "%lanemask_lt",
                          "%lanemask_ge",
                          "%lanemask_gt",
                          "%clock",
                          "%clock_hi",
                          "%clock64",
                          "%globaltimer",
                          "%globaltimer_lo",
                          "%globaltimer_hi",
                          "%total_smem_size",
                          "%aggr_smem_size",
                          "%dynamic_smem_size",
                          "%current_graph_exec",
                          "%reserved_smem_offset_begin",
                          "%reserved_smem_offset_end",
                          "%reserved_smem_offset_cap"};
    for (int i = 0; i < 32; ++i) all->insert(absl::StrCat("%envreg", i));
    for (int i = 0; i < 8; ++i) {
      all->insert(absl::StrCat("%pm", i));
      all->insert(absl::StrCat("%pm", i, "_64"));
    }
    for (int i = 0; i < 2; ++i) all->insert(absl::StrCat("%reserved_smem_offset_", i));
    return all;
  }();
  return words;
}

// Components of vectors, and the bytes and halves that video instructions take, in any order that they can have.
const Words& Selectors() {
  static const auto& words = *[] {
    auto* all = new Words{"x", "y", "z", "w", "unified"};
    for (int i = 0; i < 4; ++i) all->insert(absl::StrCat("b", i));
    for (int i = 0; i < 2; ++i) all->insert(absl::StrCat("h", i));
    for (int i = 0; i < 16; ++i) all->insert(absl::StrCat("h", i / 4, i % 4));
    for (int i = 0; i < 4096; ++i) all->insert(absl::StrCat("b", i / 512, i / 64 % 8, i / 8 % 8, i % 8));
    return all;
  }();
  return words;
}

std::string_view Known(const Words& words, std::string_view word) {
  const auto found = words.find(absl::string_view(word.data(), word.size()));
  return found == words.end() ? std::string_view() : std::string_view(*found);
}

std::string_view KnownSelector(std::string_view word) {
  constexpr std::string_view kColours = "rgba", kComponents = "xyzw";
  if (const size_t colour = kColours.find(word); word.size() == 1 && colour != std::string_view::npos) {
    return kComponents.substr(colour, 1);
  }
  return Known(Selectors(), word);
}

bool IsComponent(std::string_view selector) { return selector.size() == 1; }

}  // namespace

std::string_view KnownSpecial(std::string_view name) { return Known(SpecialRegisters(), name); }

Operand OperandParser::Make(Kind kind) const {
  Operand operand;
  operand.kind = kind;
  operand.line = cursor_.line();
  return operand;
}

absl::StatusOr<Operand> OperandParser::Parse() {
  if (depth_ >= cursor_.limits().nesting) return cursor_.Error("operands that nest too deeply");
  const Nesting nesting(&depth_);
  last_is_element_ = false;
  HEDDLE_ASSIGN_OR_RETURN(Operand first, Primary());
  if (!cursor_.Peek().Is("|")) return first;
  Operand pair = Make(Kind::kPair);
  HEDDLE_RETURN_IF_ERROR(cursor_.Count());
  cursor_.Next();
  HEDDLE_ASSIGN_OR_RETURN(Operand second, Primary());
  pair.elements.push_back(std::move(first));
  pair.elements.push_back(std::move(second));
  return pair;
}

absl::StatusOr<Operand> OperandParser::Primary() {
  HEDDLE_RETURN_IF_ERROR(cursor_.Count());
  const Token& token = cursor_.Peek();
  if (token.Is("{")) return Vector();
  if (token.Is("[")) return Address();
  if (BeginsConstant(cursor_)) return Number();
  if (token.Is("!") || token.Is("-")) return Prefixed();
  if (token.IsWord("_")) {
    Operand sink = Make(Kind::kSink);
    cursor_.Next();
    return sink;
  }
  HEDDLE_ASSIGN_OR_RETURN(Operand operand, Name());
  HEDDLE_RETURN_IF_ERROR(Suffix(operand));
  return operand;
}

absl::StatusOr<Operand> OperandParser::Prefixed() {
  const bool negated = cursor_.Next().Is("!");
  HEDDLE_ASSIGN_OR_RETURN(Operand operand, Name());
  if (operand.kind != Kind::kRegister && operand.kind != Kind::kArgument) {
    return SyntaxError(operand.line, "only registers can be negated");
  }
  HEDDLE_RETURN_IF_ERROR(Suffix(operand));
  (negated ? operand.negated : operand.minus) = true;
  return operand;
}

absl::StatusOr<Operand> OperandParser::Number() {
  Operand operand = Make(Kind::kInteger);
  HEDDLE_ASSIGN_OR_RETURN(const Constant value, ParseConstant(cursor_));
  operand.bits = value.bits;
  if (value.is_warp_size) operand.kind = Kind::kWarpSize;
  if (value.kind == Constant::Kind::kFloat32) operand.kind = Kind::kFloat32;
  if (value.kind == Constant::Kind::kFloat64) operand.kind = Kind::kFloat64;
  return operand;
}

absl::StatusOr<Operand> OperandParser::Name() {
  const Token& token = cursor_.Peek();
  if (token.kind == Token::Kind::kArgument) {
    Operand operand = Make(Kind::kArgument);
    if (!absl::SimpleAtoi(absl::string_view(token.text.data(), token.text.size()), &operand.index)) {
      return cursor_.Error("an argument with a number that is too large");
    }
    cursor_.Next();
    return operand;
  }
  if (token.kind != Token::Kind::kWord) return cursor_.Error("an operand was expected");
  std::optional<Meant> meant = scopes_.Find(token.text);
  if (!meant) {
    const auto found = globals_.find(absl::string_view(token.text.data(), token.text.size()));
    if (found != globals_.end()) meant = found->second;
  }
  Operand operand = Make(Kind::kRegister);
  if (meant) {
    if (!meant->is_register) operand.kind = Kind::kSymbol;
    operand.symbol = meant->symbol;
    operand.index = meant->index;
  } else if (const std::string_view special = KnownSpecial(token.text); !special.empty()) {
    operand.kind = Kind::kSpecial;
    operand.text = special;
  } else {
    return cursor_.Error("a name that is not declared");
  }
  cursor_.Next();
  return operand;
}

const Variable* OperandParser::VariableOf(const Operand& operand) const {
  switch (operand.symbol) {
    case SymbolKind::kGlobal:
      return &module_.variables[operand.index];
    case SymbolKind::kLocal:
      return &function_.variables[operand.index];
    case SymbolKind::kParameter:
      return &function_.parameters[operand.index];
    case SymbolKind::kReturn:
      return &function_.returns[operand.index];
    case SymbolKind::kFunction:
      break;
  }
  return nullptr;
}

// What follows a name: ".x", "+8", "[2]".
absl::Status OperandParser::Suffix(Operand& operand) {
  if (cursor_.Peek().kind == Token::Kind::kDot) {
    const std::string_view selector = KnownSelector(cursor_.Peek().text);
    const bool has_parts =
        operand.kind == Kind::kRegister || operand.kind == Kind::kSpecial || operand.kind == Kind::kArgument;
    if (selector.empty() || !has_parts) return cursor_.Error("a component that is not known");
    if (operand.kind == Kind::kRegister && IsComponent(selector)) {
      const size_t at = std::string_view("xyzw").find(selector);
      if (at >= function_.RegisterOf(operand.index).vector) return cursor_.Error("a component that the register lacks");
    }
    operand.selector = selector;
    cursor_.Next();
    return absl::OkStatus();
  }
  if (operand.kind != Kind::kSymbol) return absl::OkStatus();
  if (cursor_.Peek().Is("[")) return Element(operand);
  if (cursor_.Peek().Is("+") || cursor_.Peek().Is("-")) {
    HEDDLE_ASSIGN_OR_RETURN(operand.offset, Offset());
  }
  return absl::OkStatus();
}

// The address of an element of an array: a[2].
absl::Status OperandParser::Element(Operand& operand) {
  const Variable* variable = VariableOf(operand);
  if (variable == nullptr || variable->dimensions.size() != 1) return cursor_.Error("an index of what is no array");
  cursor_.Next();
  HEDDLE_ASSIGN_OR_RETURN(const Constant index, ParseConstant(cursor_));
  HEDDLE_RETURN_IF_ERROR(cursor_.Expect("]"));
  if (index.kind != Constant::Kind::kInteger || index.bits > variable->dimensions[0]) {
    return SyntaxError(operand.line, "an index outside of the array");
  }
  operand.offset = static_cast<int64_t>(index.bits * variable->ElementBytes());
  last_is_element_ = depth_ == 1;
  return absl::OkStatus();
}

// "+8", "-8", "+-8", "+4+4".
absl::StatusOr<int64_t> OperandParser::Offset() {
  uint64_t offset = 0;
  while (cursor_.Peek().Is("+") || cursor_.Peek().Is("-")) {
    const bool minus = cursor_.Next().Is("-");
    HEDDLE_ASSIGN_OR_RETURN(const Constant term, ParseConstantTerm(cursor_));
    if (term.kind != Constant::Kind::kInteger) return cursor_.Error("an offset that is no integer");
    offset += minus ? ~term.bits + 1 : term.bits;
  }
  return static_cast<int64_t>(offset);
}

absl::Status OperandParser::Elements(std::string_view end, Operand& operand) {
  do {
    HEDDLE_ASSIGN_OR_RETURN(Operand element, Parse());
    operand.elements.push_back(std::move(element));
  } while (cursor_.Accept(","));
  return cursor_.Expect(end);
}

absl::StatusOr<Operand> OperandParser::Vector() {
  Operand operand = Make(Kind::kVector);
  cursor_.Next();
  HEDDLE_RETURN_IF_ERROR(Elements("}", operand));
  return operand;
}

absl::StatusOr<Operand> OperandParser::List() {
  HEDDLE_RETURN_IF_ERROR(cursor_.Count());
  Operand operand = Make(Kind::kList);
  HEDDLE_RETURN_IF_ERROR(cursor_.Expect("("));
  if (cursor_.Accept(")")) return operand;
  HEDDLE_RETURN_IF_ERROR(Elements(")", operand));
  return operand;
}

absl::StatusOr<Operand> OperandParser::Address() {
  Operand operand = Make(Kind::kAddress);
  cursor_.Next();
  HEDDLE_RETURN_IF_ERROR(cursor_.Count());
  Operand base;
  if (BeginsConstant(cursor_)) {
    HEDDLE_ASSIGN_OR_RETURN(base, Number());
    if (base.kind != Kind::kInteger) return SyntaxError(base.line, "an address that is no integer");
  } else {
    HEDDLE_ASSIGN_OR_RETURN(base, Name());
    if (base.kind == Kind::kSpecial) return SyntaxError(base.line, "a special register as address", base.text);
    if (cursor_.Peek().kind == Token::Kind::kDot) HEDDLE_RETURN_IF_ERROR(Suffix(base));
  }
  operand.elements.push_back(std::move(base));
  HEDDLE_ASSIGN_OR_RETURN(operand.offset, Offset());
  if (cursor_.Accept(",")) {
    HEDDLE_RETURN_IF_ERROR(Elements("]", operand));
  } else {
    HEDDLE_RETURN_IF_ERROR(cursor_.Expect("]"));
  }
  if (cursor_.Peek().IsDot("unified")) {
    operand.selector = KnownSelector("unified");
    cursor_.Next();
  }
  return operand;
}

absl::StatusOr<Operand> OperandParser::Label() {
  HEDDLE_RETURN_IF_ERROR(cursor_.Count());
  last_is_element_ = false;
  Operand operand = Make(Kind::kLabel);
  HEDDLE_ASSIGN_OR_RETURN(const std::string_view name, cursor_.ExpectWord("a label"));
  operand.index = places_.Mention(name, operand.line);
  return operand;
}

absl::StatusOr<Operand> OperandParser::Table() {
  HEDDLE_ASSIGN_OR_RETURN(Operand operand, Label());
  operand.kind = Kind::kTable;
  return operand;
}

}  // namespace heddle::tracegen::ptx
