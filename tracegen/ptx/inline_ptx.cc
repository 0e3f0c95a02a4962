#include "tracegen/ptx/inline_ptx.h"

#include <algorithm>
#include <cstdlib>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "llvm/IR/InlineAsm.h"
#include "tracegen/ptx/opcode.h"
#include "traces/base/status_macros.h"

namespace heddle::tracegen {
namespace {

constexpr absl::string_view kNames = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$%.";

std::vector<absl::string_view> SplitAtTop(absl::string_view text, char at) {
  std::vector<absl::string_view> pieces;
  int depth = 0;
  size_t start = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size()) {
      if (text[i] == '[' || text[i] == '{') ++depth;
      if (text[i] == ']' || text[i] == '}') --depth;
      if (text[i] != at || depth > 0) continue;
    }
    absl::string_view piece = absl::StripAsciiWhitespace(text.substr(start, i - start));
    if (!piece.empty()) pieces.push_back(piece);
    start = i + 1;
  }
  return pieces;
}

bool ParseDigits(absl::string_view text, unsigned base, uint64_t* value) {
  for (char c : text) {
    if (c < '0' || c >= static_cast<char>('0' + base)) return false;
    *value = *value * base + static_cast<unsigned>(c - '0');
  }
  return !text.empty();
}

bool ParseNumber(absl::string_view text, InlineOperand* operand) {
  if (absl::StartsWith(text, "0f") || absl::StartsWith(text, "0F") || absl::StartsWith(text, "0d") ||
      absl::StartsWith(text, "0D")) {
    operand->float_bits = text[1] == 'f' || text[1] == 'F' ? 32 : 64;
    return absl::SimpleHexAtoi(text.substr(2), &operand->number);
  }
  const bool negative = absl::ConsumePrefix(&text, "-");
  absl::ConsumeSuffix(&text, "U");
  uint64_t value = 0;
  if (absl::StartsWith(text, "0x") || absl::StartsWith(text, "0X")) {
    if (!absl::SimpleHexAtoi(text, &value)) return false;
  } else if (absl::ConsumePrefix(&text, "0b") || absl::ConsumePrefix(&text, "0B")) {
    if (!ParseDigits(text, 2, &value)) return false;
  } else if (!ParseDigits(text, absl::StartsWith(text, "0") ? 8 : 10, &value)) {
    return false;
  }
  operand->number = negative ? ~value + 1 : value;
  return true;
}

absl::StatusOr<InlineOperand> ParseOperand(absl::string_view text) {
  InlineOperand operand;
  const std::string whole(text);
  auto error = [&] { return absl::UnimplementedError(absl::StrCat("operand '", whole, "'")); };
  if (absl::ConsumePrefix(&text, "!")) {
    absl::StatusOr<InlineOperand> inner = ParseOperand(absl::StripAsciiWhitespace(text));
    if (inner.ok()) inner->negated = true;
    return inner;
  }
  if (text.size() >= 2 && text.front() == '[' && text.back() == ']') {
    operand.kind = InlineOperand::Kind::kAddress;
    text = absl::StripAsciiWhitespace(text.substr(1, text.size() - 2));
    const size_t plus = text.find('+');
    if (plus != absl::string_view::npos) {
      InlineOperand offset;
      if (!ParseNumber(absl::StripAsciiWhitespace(text.substr(plus + 1)), &offset)) return error();
      operand.number = offset.number;
      text = absl::StripAsciiWhitespace(text.substr(0, plus));
    }
    absl::StatusOr<InlineOperand> base = ParseOperand(text);
    if (!base.ok()) return base;
    operand.elements.push_back(*std::move(base));
    return operand;
  }
  const bool vector = text.size() >= 2 && text.front() == '{' && text.back() == '}';
  const bool pair = !vector && text.find('|') != absl::string_view::npos;
  if (vector || pair) {
    operand.kind = vector ? InlineOperand::Kind::kVector : InlineOperand::Kind::kPair;
    for (absl::string_view piece : vector ? SplitAtTop(text.substr(1, text.size() - 2), ',') : SplitAtTop(text, '|')) {
      absl::StatusOr<InlineOperand> element = ParseOperand(piece);
      if (!element.ok()) return element;
      operand.elements.push_back(*std::move(element));
    }
    return operand;
  }
  if (text.empty() || text.find_first_not_of(absl::StrCat(kNames, "-")) != absl::string_view::npos) return error();
  if (text[0] == '$') {
    operand.kind = InlineOperand::Kind::kArgument;
    if (!absl::SimpleAtoi(text.substr(1), &operand.argument)) return error();
  } else if (ParseNumber(text, &operand)) {
    operand.kind = InlineOperand::Kind::kNumber;
  } else if (text[0] == '%') {
    operand.kind = InlineOperand::Kind::kSpecial;
    operand.name = std::string(text.substr(1));
  } else if (text == "WARP_SZ") {
    operand.number = 32;
  } else {
    operand.kind = InlineOperand::Kind::kRegister;
    operand.name = std::string(text);
  }
  return operand;
}

// Statements of a text, without comments and the braces of scopes.
std::vector<std::string> Statements(absl::string_view text) {
  std::vector<std::string> statements;
  std::string current;
  int depth = 0;  // of braces within a statement: vectors
  auto close = [&] {
    absl::string_view stripped = absl::StripAsciiWhitespace(current);
    if (!stripped.empty()) statements.emplace_back(stripped);
    current.clear();
  };
  for (size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i, 2) == "//") {
      i = std::min(text.find('\n', i), text.size());
      continue;
    }
    if (text.substr(i, 2) == "/*") {
      i = std::min(text.find("*/", i), text.size() - 2) + 1;
      continue;
    }
    const char c = text[i];
    const bool begun = !absl::StripAsciiWhitespace(current).empty();
    if (c == ';') {
      close();
    } else if (c == '{' && !begun) {
      // A scope. Names are unique enough within one asm statement.
    } else if (c == '}' && depth == 0) {
      close();
    } else {
      if (c == '{') ++depth;
      if (c == '}') --depth;
      current += c == '\n' || c == '\t' || c == '\r' ? ' ' : c;
    }
  }
  close();
  return statements;
}

}  // namespace

bool InlineInstruction::Has(std::string_view modifier) const {
  return std::find(parts.begin() + 1, parts.end(), modifier) != parts.end();
}

bool InlineInstruction::IsMemory() const {
  return base() == "ld" || base() == "ldu" || base() == "st" || base() == "atom" || base() == "red";
}

bool InlineInstruction::Synchronizes() const {
  return base() == "shfl" || base() == "vote" || base() == "match" || base() == "activemask" || base() == "bar" ||
         base() == "barrier" || base() == "redux";
}

absl::StatusOr<std::vector<InlineInstruction>> ParseInlinePtx(std::string_view text) {
  std::vector<InlineInstruction> instructions;
  for (const std::string& statement : Statements(absl::string_view(text.data(), text.size()))) {
    if (absl::StartsWith(statement, ".reg")) continue;
    // "::" belongs to modifiers of caches.
    if (absl::StrContains(absl::StrReplaceAll(statement, {{"::", ""}}), ":")) {
      return absl::UnimplementedError("a label");
    }
    if (statement[0] == '.') return absl::UnimplementedError(absl::StrCat("the directive '", statement, "'"));
    InlineInstruction instruction;
    instruction.text = statement;
    absl::string_view rest = statement;
    if (absl::ConsumePrefix(&rest, "@")) {
      const size_t guard_end = std::min(rest.find(' '), rest.size());
      HEDDLE_ASSIGN_OR_RETURN(InlineOperand guard, ParseOperand(rest.substr(0, guard_end)));
      instruction.guard = std::move(guard);
      rest = absl::StripLeadingAsciiWhitespace(rest.substr(guard_end));
    }
    const size_t end = std::min(rest.find(' '), rest.size());
    instruction.parts = absl::StrSplit(rest.substr(0, end), '.');
    for (absl::string_view operand : SplitAtTop(rest.substr(end), ',')) {
      HEDDLE_ASSIGN_OR_RETURN(InlineOperand parsed, ParseOperand(operand));
      instruction.operands.push_back(std::move(parsed));
    }
    // What has no value to choose would have to be left out: a branch.
    if (instruction.guard &&
        (instruction.IsMemory() || instruction.Synchronizes() || instruction.operands.size() < 2)) {
      return absl::UnimplementedError(absl::StrCat("a predicated '", instruction.base(), "'"));
    }
    instructions.push_back(std::move(instruction));
  }
  return instructions;
}

bool BecomesIr(const std::vector<InlineInstruction>& instructions) {
  bool synchronizes = false;
  bool only_moves = true;
  for (const InlineInstruction& instruction : instructions) {
    synchronizes = synchronizes || instruction.Synchronizes() || instruction.guard.has_value();
    only_moves = only_moves && instruction.base() == "mov";
  }
  return synchronizes || only_moves;
}

InlineAccess InlineAccessOf(const llvm::CallInst& call) {
  InlineAccess access;
  const auto* assembly = llvm::dyn_cast<llvm::InlineAsm>(call.getCalledOperand());
  if (assembly == nullptr) return access;
  absl::StatusOr<std::vector<InlineInstruction>> instructions = ParseInlinePtx(assembly->getAsmString());
  if (!instructions.ok()) return access;
  for (const InlineInstruction& instruction : *instructions) {
    if (!instruction.IsMemory()) continue;
    for (const InlineOperand& operand : instruction.operands) {
      if (operand.kind != InlineOperand::Kind::kAddress) continue;
      const InlineOperand& base = operand.elements[0];
      if (base.kind != InlineOperand::Kind::kArgument) return access;
      unsigned number = 0, input = 0;
      for (const llvm::InlineAsm::ConstraintInfo& constraint : assembly->ParseConstraints()) {
        if (constraint.Type == llvm::InlineAsm::isClobber) continue;
        const bool is_input = constraint.Type == llvm::InlineAsm::isInput;
        if (number++ == base.argument && is_input) access.address = call.getArgOperand(input);
        if (is_input) ++input;
      }
      access.offset = static_cast<int64_t>(operand.number);
      access.bytes = ClassifyOpcode(instruction.text.substr(0, instruction.text.find(' '))).access_bytes;
      access.shared = instruction.Has("shared");
    }
  }
  return access;
}

}  // namespace heddle::tracegen
