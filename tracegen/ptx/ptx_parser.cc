#include "tracegen/ptx/ptx_parser.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "traces/base/status_macros.h"

namespace heddle::tracegen {
namespace {

bool IsWord(char c) { return absl::ascii_isalnum(c) || c == '_' || c == '$' || c == '.'; }

absl::string_view WithoutComment(absl::string_view line) {
  const size_t at = line.find("//");
  return absl::StripAsciiWhitespace(at == absl::string_view::npos ? line : line.substr(0, at));
}

// Splits at commas outside of brackets.
std::vector<std::string> SplitOperands(absl::string_view text) {
  std::vector<std::string> operands;
  int depth = 0;
  size_t start = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size()) {
      if (text[i] == '[' || text[i] == '{' || text[i] == '(') ++depth;
      if (text[i] == ']' || text[i] == '}' || text[i] == ')') --depth;
      if (text[i] != ',' || depth > 0) continue;
    }
    absl::string_view operand = absl::StripAsciiWhitespace(text.substr(start, i - start));
    if (!operand.empty()) operands.emplace_back(operand);
    start = i + 1;
  }
  return operands;
}

PtxInstruction ParseStatement(absl::string_view text) {
  PtxInstruction instruction;
  if (absl::ConsumePrefix(&text, "@")) {
    absl::ConsumePrefix(&text, "!");
    const size_t end = text.find_first_of(" \t");
    instruction.guard = std::string(text.substr(0, end));
    text = end == absl::string_view::npos ? absl::string_view() : absl::StripLeadingAsciiWhitespace(text.substr(end));
  }
  const size_t end = text.find_first_of(" \t");
  instruction.opcode = std::string(text.substr(0, end));
  if (end != absl::string_view::npos) instruction.operands = SplitOperands(text.substr(end));
  return instruction;
}

// The name in ".visible .func  (.param .b32 func_retval0) name(" and its like; nothing if the line starts no function.
std::optional<std::string> FunctionName(absl::string_view line, bool* is_kernel) {
  if (!absl::StartsWith(line, ".")) return std::nullopt;
  const bool entry = absl::StrContains(line, ".entry ");
  if (!entry && !absl::StrContains(line, ".func ")) return std::nullopt;
  *is_kernel = entry;
  const size_t open = line.rfind('(');
  if (open == absl::string_view::npos || open == 0) return std::nullopt;
  size_t begin = open;
  while (begin > 0 && IsWord(line[begin - 1])) --begin;
  return std::string(line.substr(begin, open - begin));
}

// Name of the IR block in the comment behind a block's start: "// %name".
std::string BlockName(absl::string_view comment) {
  const size_t at = comment.find("// %");
  if (at == absl::string_view::npos) return "";
  comment.remove_prefix(at + 4);
  size_t end = 0;
  while (end < comment.size() && IsWord(comment[end])) ++end;
  return std::string(comment.substr(0, end));
}

class Parser {
 public:
  absl::StatusOr<std::vector<PtxFunction>> Parse(absl::string_view text) {
    for (absl::string_view line : absl::StrSplit(text, '\n')) {
      ++line_;
      HEDDLE_RETURN_IF_ERROR(in_body_ ? BodyLine(line) : OuterLine(line));
    }
    if (in_body_) return Error("the function does not end");
    return std::move(functions_);
  }

 private:
  absl::Status Error(absl::string_view what) const {
    return absl::InternalError(absl::StrCat("PTX line ", line_, ": ", what));
  }

  absl::Status OuterLine(absl::string_view line) {
    line = WithoutComment(line);
    bool is_kernel = false;
    if (std::optional<std::string> name = FunctionName(line, &is_kernel)) {
      pending_ = PtxFunction{};
      pending_->name = *name;
      pending_->is_kernel = is_kernel;
    } else if (pending_ && absl::EndsWith(line, ";")) {
      pending_.reset();  // a declaration
    } else if (pending_ && line == "{") {
      functions_.push_back(std::move(*pending_));
      pending_.reset();
      in_body_ = true;
      id_ = 0;
    }
    return absl::OkStatus();
  }

  absl::Status BodyLine(absl::string_view line) {
    PtxFunction& function = functions_.back();
    if (absl::StartsWith(line, "// %bb.") || absl::StartsWith(line, "$L__BB")) {
      const size_t colon = line.find(':');
      if (colon == absl::string_view::npos) return Error("a label without a colon");
      PtxRawBlock block;
      if (line[0] == '$') block.label = std::string(line.substr(0, colon));
      block.name = BlockName(line.substr(colon + 1));
      function.blocks.push_back(std::move(block));
      return absl::OkStatus();
    }
    absl::string_view stripped = absl::StripAsciiWhitespace(line);
    if (absl::StartsWith(stripped, "// begin inline asm")) inline_assembly_ = true;
    if (absl::StartsWith(stripped, "// end inline asm")) inline_assembly_ = false;
    if (absl::StartsWith(stripped, "{ // callseq ")) {
      if (!absl::SimpleAtoi(stripped.substr(13, stripped.find(',') - 13), &call_sequence_)) {
        return Error("a call sequence without a number");
      }
      return absl::OkStatus();
    }
    if (absl::StartsWith(stripped, "} // callseq ")) {
      call_sequence_ = -1;
      return absl::OkStatus();
    }
    if (absl::StartsWith(stripped, ".loc\t") || absl::StartsWith(stripped, ".loc ")) {
      std::vector<absl::string_view> words = absl::StrSplit(stripped, absl::ByAnyChar(" \t"), absl::SkipEmpty());
      if (words.size() < 3 || !absl::SimpleAtoi(words[2], &id_)) return Error("a .loc without a line");
      return absl::OkStatus();
    }
    stripped = WithoutComment(stripped);
    if (stripped.empty()) return absl::OkStatus();
    if (statement_.empty() && stripped == "}" && scope_ == 0) {
      in_body_ = false;
      return absl::OkStatus();
    }
    if (statement_.empty() && absl::StartsWith(stripped, "$") && absl::EndsWith(stripped, ":")) return absl::OkStatus();
    return Statements(stripped);
  }

  // Statements end at semicolons; a call goes over several lines.
  absl::Status Statements(absl::string_view text) {
    PtxFunction& function = functions_.back();
    while (true) {
      if (statement_.empty()) {
        // A scope of its own around one operation that takes several instructions, with names that end with it.
        while (!text.empty() && (text[0] == '{' || text[0] == '}')) {
          scope_ += text[0] == '{' ? 1 : -1;
          if (text[0] == '{') ++scope_count_;
          scope_names_.clear();
          text = absl::StripAsciiWhitespace(text.substr(1));
        }
        if (text.empty()) return absl::OkStatus();
      }
      const size_t end = text.find(';');
      absl::StrAppend(&statement_, statement_.empty() ? "" : " ", absl::StripAsciiWhitespace(text.substr(0, end)));
      if (end == absl::string_view::npos) return absl::OkStatus();
      std::string statement = std::exchange(statement_, "");
      text = absl::StripAsciiWhitespace(text.substr(end + 1));
      if (scope_ > 0 && absl::StartsWith(statement, ".reg")) {
        DeclareInScope(statement);
      } else if (absl::StartsWith(statement, ".")) {
        if (absl::StartsWith(statement, ".local") && !Frame(statement, &function.local_bytes)) {
          return Error("a local frame without a size");
        }
      } else if (!statement.empty() && !absl::StrContains(statement, ".callprototype")) {
        if (function.blocks.empty()) return Error("an instruction before the first block");
        PtxInstruction instruction = ParseStatement(statement);
        for (std::string& operand : instruction.operands) operand = Scoped(operand);
        instruction.id = id_;
        instruction.call_sequence = call_sequence_;
        instruction.inline_assembly = inline_assembly_;
        function.blocks.back().instructions.push_back(std::move(instruction));
      }
      if (text.empty()) return absl::OkStatus();
    }
  }

  // A register that a scope declares hides the function's of that name, and the program's own names are no numbers:
  // gives each a name of its own, of the kind that its type has.
  void DeclareInScope(absl::string_view statement) {
    std::vector<absl::string_view> words =
        absl::StrSplit(statement, absl::ByAnyChar(" \t,"), absl::SkipEmpty());  // .reg .b32 a, b
    if (words.size() < 3) return;
    const absl::string_view type = words[1];
    const absl::string_view kind = type == ".pred"              ? "%p"
                                   : absl::EndsWith(type, "64") ? (type == ".f64" ? "%fd" : "%rd")
                                   : absl::EndsWith(type, "16") ? "%rs"
                                   : type == ".f32"             ? "%f"
                                                                : "%r";
    for (size_t i = 2; i < words.size(); ++i) {
      scope_names_.emplace_back(std::string(words[i]),
                                absl::StrCat(kind, scope_count_, "000000", scope_names_.size() + 1));
    }
  }

  // The operand with the scope's names replaced, also within brackets and braces.
  std::string Scoped(const std::string& operand) const {
    if (scope_names_.empty()) return operand;
    std::string result;
    for (size_t at = 0; at < operand.size();) {
      size_t end = at;
      while (end < operand.size() && (IsWord(operand[end]) || operand[end] == '%')) ++end;
      if (end == at) {
        result += operand[at++];
        continue;
      }
      const std::string word = operand.substr(at, end - at);
      auto found = std::find_if(scope_names_.begin(), scope_names_.end(),
                                [&](const auto& entry) { return entry.first == word; });
      result += found == scope_names_.end() ? word : found->second;
      at = end;
    }
    return result;
  }

  // ".local .align 8 .b8 __local_depot0[40]"
  static bool Frame(absl::string_view statement, uint64_t* bytes) {
    const size_t open = statement.find('['), close = statement.find(']');
    uint64_t size = 0;
    if (open == absl::string_view::npos || close == absl::string_view::npos) return false;
    if (!absl::SimpleAtoi(statement.substr(open + 1, close - open - 1), &size)) return false;
    *bytes += size;
    return true;
  }

  std::vector<PtxFunction> functions_;
  std::optional<PtxFunction> pending_;
  std::string statement_;
  std::vector<std::pair<std::string, std::string>> scope_names_;  // as declared -> in the result
  int scope_ = 0;
  int scope_count_ = 0;
  bool in_body_ = false;
  bool inline_assembly_ = false;
  int32_t call_sequence_ = -1;
  uint32_t id_ = 0;
  uint64_t line_ = 0;
};

}  // namespace

absl::StatusOr<std::vector<PtxFunction>> ParsePtx(std::string_view text) {
  return Parser().Parse(absl::string_view(text.data(), text.size()));
}

PtxAddress ParseAddress(std::string_view operand) {
  PtxAddress address;
  if (operand.size() < 2 || operand.front() != '[') return address;
  operand = operand.substr(1, operand.size() - 2);
  const size_t plus = operand.rfind('+');
  std::string_view offset;
  if (plus != std::string_view::npos && plus > 0) {
    address.base = std::string(operand.substr(0, plus));
    offset = operand.substr(plus + 1);
  } else if (absl::ascii_isdigit(operand.front()) || operand.front() == '-') {
    offset = operand;
  } else {
    address.base = std::string(operand);
  }
  if (!offset.empty() && !absl::SimpleAtoi(absl::string_view(offset.data(), offset.size()), &address.offset)) {
    address.base = std::string(operand);
  }
  return address;
}

std::vector<std::string_view> RegistersOf(std::string_view operand) {
  std::vector<std::string_view> registers;
  for (size_t at = operand.find('%'); at != std::string_view::npos; at = operand.find('%', at + 1)) {
    size_t end = at + 1;
    while (end < operand.size() && IsWord(operand[end])) ++end;
    const std::string_view name = operand.substr(at, end - at);
    if (name == "%SP" || name == "%SPL") {
      registers.push_back(name);
      continue;
    }
    const size_t digit = name.find_first_of("0123456789");
    if (digit == std::string_view::npos || name.find_first_not_of("0123456789", digit) != std::string_view::npos) {
      continue;
    }
    const std::string_view kind = name.substr(1, digit - 1);
    for (const char* known : {"p", "rs", "r", "rd", "f", "fd", "rq", "h", "hh", "b"}) {
      if (kind == known) registers.push_back(name);
    }
  }
  return registers;
}

uint32_t RegisterWords(std::string_view name) {
  if (name == "%SP" || name == "%SPL") return 2;
  if (name.starts_with("%rd") || name.starts_with("%fd")) return 2;
  if (name.starts_with("%rq")) return 4;
  return name.starts_with("%p") ? 0 : 1;
}

}  // namespace heddle::tracegen
