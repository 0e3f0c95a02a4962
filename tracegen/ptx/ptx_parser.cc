#include "tracegen/ptx/ptx_parser.h"

#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "tracegen/ptx/syntax/parse.h"
#include "tracegen/ptx/syntax/print_parts.h"
#include "traces/base/status_macros.h"

namespace heddle::tracegen {
namespace {

bool IsWord(char c) { return absl::ascii_isalnum(c) || c == '_' || c == '$' || c == '.'; }

// Name of the IR block in what stands behind a block's label: "%name".
std::string BlockName(absl::string_view comment) {
  if (!absl::ConsumePrefix(&comment, "%")) return "";
  size_t end = 0;
  while (end < comment.size() && IsWord(comment[end])) ++end;
  return std::string(comment.substr(0, end));
}

// The kind that LLVM gives registers of this type.
absl::string_view KindOf(const ptx::Type& type) {
  if (type.kind == ptx::TypeKind::kPredicate) return "%p";
  if (type.bits == 128) return "%rq";
  if (type.bits == 64) return type.kind == ptx::TypeKind::kFloat ? "%fd" : "%rd";
  if (type.bits == 16) return "%rs";
  return type.name == "f32" ? "%f" : "%r";
}

// Numbers of registers that a scope declares, beyond all that LLVM gives to a function's own.
constexpr uint64_t kScopedNumbers = 1'000'000'000;

// A syntax tree as LLVM printed it: its comments tell blocks, call sequences and statements of inline assembly.
class Reader {
 public:
  Reader(const ptx::Module& module, const ptx::Function& function) : function_(function), parts_(module, renamed_) {
    // A register of a scope may have the name of one around it, and the program's own names are no numbers.
    renamed_ = function;
    renamed_.body.clear();
    int depth = 0;
    for (const ptx::Statement& statement : function.body) {
      if (std::holds_alternative<ptx::ScopeBegin>(statement.what)) ++depth;
      if (std::holds_alternative<ptx::ScopeEnd>(statement.what)) --depth;
      const auto* place = std::get_if<ptx::RegisterPlace>(&statement.what);
      if (place == nullptr || depth == 0) continue;
      ptx::RegisterDeclaration& declaration = renamed_.registers[place->index];
      declaration.name = std::string(KindOf(declaration.type));
      if (!declaration.is_range) absl::StrAppend(&declaration.name, kScopedNumbers + declaration.first);
    }
  }

  absl::StatusOr<PtxFunction> Read() {
    result_.name = function_.name;
    result_.is_kernel = function_.is_kernel;
    for (const ptx::Variable& variable : function_.variables) {
      if (variable.space == ptx::StateSpace::kLocal) result_.local_bytes += variable.Bytes();
    }
    for (size_t i = 0; i < function_.body.size(); ++i) {
      const ptx::Statement& statement = function_.body[i];
      if (const auto* comment = std::get_if<ptx::Comment>(&statement.what)) {
        AddComment(comment->text);
      } else if (const auto* place = std::get_if<ptx::LabelPlace>(&statement.what)) {
        AddLabel(function_.labels[place->index].name, CommentBehind(i));
      } else if (const auto* location = std::get_if<ptx::Location>(&statement.what)) {
        id_ = location->source_line;
      } else if (std::holds_alternative<ptx::ScopeBegin>(statement.what)) {
        absl::string_view comment = CommentBehind(i);
        if (absl::ConsumePrefix(&comment, "callseq ") &&
            !absl::SimpleAtoi(comment.substr(0, comment.find(',')), &call_sequence_)) {
          return Error(statement.line, "a call sequence without a number");
        }
      } else if (std::holds_alternative<ptx::ScopeEnd>(statement.what)) {
        if (absl::StartsWith(CommentBehind(i), "callseq ")) call_sequence_ = -1;
      } else if (const ptx::Instruction* instruction = statement.instruction()) {
        if (result_.blocks.empty()) return Error(statement.line, "an instruction before the first block");
        result_.blocks.back().instructions.push_back(Converted(*instruction));
      }
    }
    return std::move(result_);
  }

 private:
  static absl::Status Error(uint32_t line, absl::string_view what) {
    return absl::InternalError(absl::StrCat("PTX line ", line, ": ", what));
  }

  // The comment on the line of a statement, behind it; empty without one.
  absl::string_view CommentBehind(size_t statement) const {
    if (statement + 1 >= function_.body.size()) return "";
    const ptx::Statement& next = function_.body[statement + 1];
    const auto* comment = std::get_if<ptx::Comment>(&next.what);
    return comment != nullptr && next.line == function_.body[statement].line ? absl::string_view(comment->text) : "";
  }

  void AddLabel(const std::string& label, absl::string_view comment) {
    if (!absl::StartsWith(label, "$L__BB")) return;  // of debugging data, or of inline assembly
    result_.blocks.push_back({label, BlockName(comment), {}});
  }

  // "%bb.3:      // %name" begins a block that nothing branches to.
  void AddComment(absl::string_view comment) {
    if (absl::StartsWith(comment, "%bb.")) {
      const size_t name = comment.find("// %");
      result_.blocks.push_back({"", name == absl::string_view::npos ? "" : BlockName(comment.substr(name + 3)), {}});
    }
    if (absl::StartsWith(comment, "begin inline asm")) inline_assembly_ = true;
    if (absl::StartsWith(comment, "end inline asm")) inline_assembly_ = false;
  }

  PtxInstruction Converted(const ptx::Instruction& from) const {
    PtxInstruction to;
    to.opcode = from.Mnemonic();
    if (from.guard) {
      ptx::Operand guard = *from.guard;
      guard.negated = false;
      to.guard = parts_.OperandText(guard);
    }
    for (const ptx::Operand& operand : from.operands) {
      // Parts of a call that are not there.
      const bool is_list = operand.kind == ptx::Operand::Kind::kList;
      if (operand.kind == ptx::Operand::Kind::kNone || (is_list && operand.elements.empty())) continue;
      to.operands.push_back(parts_.OperandText(operand));
    }
    to.id = id_;
    to.call_sequence = call_sequence_;
    to.inline_assembly = inline_assembly_;
    return to;
  }

  const ptx::Function& function_;
  ptx::Function renamed_;  // without its body
  ptx::Parts parts_;       // of renamed_
  PtxFunction result_;
  bool inline_assembly_ = false;
  int32_t call_sequence_ = -1;
  uint32_t id_ = 0;
};

}  // namespace

absl::StatusOr<std::vector<PtxFunction>> ParsePtx(std::string_view text) {
  ptx::ParseOptions options;
  options.keep_comments = true;
  const absl::StatusOr<ptx::Module> module = ptx::ParseModule(text, options);
  if (!module.ok()) return absl::InternalError(module.status().message());
  std::vector<PtxFunction> functions;
  for (const ptx::ModuleItem& item : module->items) {
    if (item.kind != ptx::ModuleItem::Kind::kDefinition) continue;
    HEDDLE_ASSIGN_OR_RETURN(PtxFunction function, Reader(*module, module->functions[item.index]).Read());
    functions.push_back(std::move(function));
  }
  return functions;
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

uint32_t RegisterBits(std::string_view name) {
  if (name.starts_with("%p")) return 1;
  if (name.starts_with("%rc")) return 8;
  if (name.starts_with("%rs")) return 16;
  return 32 * RegisterWords(name);
}

}  // namespace heddle::tracegen
