#include "tracegen/ptx/inline_ptx.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Module.h"
#include "tracegen/ptx/collective.h"
#include "tracegen/ptx/opcode.h"
#include "tracegen/ptx/syntax/check_operands.h"
#include "tracegen/ptx/syntax/parse.h"
#include "tracegen/ptx/syntax/print.h"
#include "traces/base/status_macros.h"
#include "traces/format/program/operands.h"

namespace heddle::tracegen {
namespace {

using Constraint = llvm::InlineAsm::ConstraintInfo;
using OperandKind = ptx::Operand::Kind;

// The type of a register that a constraint asks for; empty if PTX has none for it.
std::string_view TypeOfConstraint(std::string_view code) {
  if (code == "h") return "b16";
  if (code == "r") return "b32";
  if (code == "l") return "b64";
  if (code == "q") return "b128";
  if (code == "f") return "f32";
  if (code == "d") return "f64";
  if (code == "b") return "pred";  // of statements that the code generator gets, see ptx_source/statement.h
  return "";
}

// Puts registers and constants in the place of the arguments of one statement.
class ArgumentBinder {
 public:
  ArgumentBinder(const llvm::CallInst& call, ptx::Module& module, bool fold)
      : call_(call), module_(module), function_(module.functions[0]), fold_(fold) {}

  absl::Status Bind() {
    HEDDLE_RETURN_IF_ERROR(ReadConstraints());
    for (ptx::Statement& statement : function_.body) {
      auto* instruction = std::get_if<ptx::Instruction>(&statement.what);
      if (instruction == nullptr) continue;
      if (instruction->guard) HEDDLE_RETURN_IF_ERROR(Replace(*instruction->guard, statement.line));
      // Programs hand numbers and counts of barriers over in registers.
      const bool folds = fold_ && (instruction->opcode() == "bar" || instruction->opcode() == "barrier");
      for (ptx::Operand& operand : instruction->operands) {
        if (folds) FoldConstant(operand);
        HEDDLE_RETURN_IF_ERROR(Replace(operand, statement.line));
      }
      HEDDLE_RETURN_IF_ERROR(CheckAgain(*instruction, statement.line));
    }
    return absl::OkStatus();
  }

 private:
  // What stands for argument N.
  struct Argument {
    std::optional<uint32_t> number;    // of the register; nothing for a constant of the text
    std::optional<uint64_t> constant;  // what it is, if that is known
  };

  absl::Status ReadConstraints() {
    const auto* assembly = llvm::cast<llvm::InlineAsm>(call_.getCalledOperand());
    unsigned input = 0;
    for (const Constraint& constraint : assembly->ParseConstraints()) {
      if (constraint.Type == llvm::InlineAsm::isClobber) continue;
      const std::string code = constraint.Codes.size() == 1 ? constraint.Codes[0] : "";
      if (constraint.isIndirect || constraint.Type == llvm::InlineAsm::isLabel) return Unknown(code);
      if (constraint.Type == llvm::InlineAsm::isOutput) {
        HEDDLE_RETURN_IF_ERROR(AddRegister(code, function_.returns));
        continue;
      }
      HEDDLE_RETURN_IF_ERROR(AddInput(code, *call_.getArgOperand(input++)));
    }
    return absl::OkStatus();
  }

  absl::Status Unknown(const std::string& code) const {
    return absl::UnimplementedError(
        absl::StrCat("the constraint '", code, "'; registers are h, r, l, q, f and d, constants are n"));
  }

  absl::Status AddInput(const std::string& code, const llvm::Value& value) {
    uint32_t tied = 0;
    if (absl::SimpleAtoi(code, &tied) && tied < function_.returns.size()) {
      // "+r": one register, whose first value is the input.
      function_.parameters.push_back(function_.returns[tied]);
      arguments_.push_back(arguments_[tied]);
      return absl::OkStatus();
    }
    const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(&value);
    std::optional<uint64_t> bits;
    if (constant != nullptr && constant->getBitWidth() <= 64) bits = static_cast<uint64_t>(constant->getSExtValue());
    if (code != "n" && code != "i") {
      HEDDLE_RETURN_IF_ERROR(AddRegister(code, function_.parameters));
      arguments_.back().constant = bits;
      return absl::OkStatus();
    }
    if (!bits) return Unknown(code);
    arguments_.push_back({std::nullopt, bits});
    // It is handed over as all inputs are, and nobody reads it there.
    const std::string_view type = constant->getBitWidth() > 32 ? "b64" : "b32";
    MakeRegister(type, function_.parameters);
    return absl::OkStatus();
  }

  absl::Status AddRegister(const std::string& code, std::vector<ptx::Variable>& list) {
    const std::string_view type = TypeOfConstraint(code);
    if (type.empty()) return Unknown(code);
    arguments_.push_back({MakeRegister(type, list), std::nullopt});
    return absl::OkStatus();
  }

  uint32_t MakeRegister(std::string_view type, std::vector<ptx::Variable>& list) {
    ptx::Variable variable;
    variable.name = absl::StrCat("$", arguments_.size());
    variable.space = ptx::StateSpace::kReg;
    variable.type = *ptx::FindType(type);
    variable.register_number = function_.register_count++;
    function_.registers.push_back({variable.name, 0, variable.type, 1, false, variable.register_number, 1});
    list.push_back(variable);
    return variable.register_number;
  }

  void FoldConstant(ptx::Operand& operand) const {
    if (operand.kind != OperandKind::kArgument || operand.index >= arguments_.size()) return;
    const std::optional<uint64_t> constant = arguments_[operand.index].constant;
    if (!constant) return;
    operand.kind = OperandKind::kInteger;
    operand.bits = *constant & 0xffff'ffff;
    operand.index = 0;
  }

  absl::Status Replace(ptx::Operand& operand, uint32_t line) {
    for (ptx::Operand& element : operand.elements) HEDDLE_RETURN_IF_ERROR(Replace(element, line));
    if (operand.kind != OperandKind::kArgument) return absl::OkStatus();
    if (operand.index >= arguments_.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("PTX line ", line, ": an argument that the statement does not have: %", operand.index));
    }
    const Argument& argument = arguments_[operand.index];
    if (argument.number) {
      operand.kind = OperandKind::kRegister;
      operand.index = *argument.number;
    } else {
      operand.kind = OperandKind::kInteger;
      operand.bits = *argument.constant;
      operand.index = 0;
    }
    return absl::OkStatus();
  }

  // Now that it is known what arguments are.
  absl::Status CheckAgain(ptx::Instruction& instruction, uint32_t line) const {
    const std::string text = ptx::Print(module_, function_, instruction);
    if (instruction.guard) {
      const ptx::Operand& guard = *instruction.guard;
      if (guard.kind != OperandKind::kRegister ||
          function_.RegisterOf(guard.index).type.kind != ptx::TypeKind::kPredicate) {
        return absl::InvalidArgumentError(
            absl::StrCat("PTX line ", line, ": a guard that is no predicate: '", text, "'"));
      }
    }
    const std::string_view opcode = instruction.opcode();
    return ptx::FindForm(opcode, function_, line, text, instruction);
  }

  const llvm::CallInst& call_;
  ptx::Module& module_;
  ptx::Function& function_;
  const bool fold_;
  std::vector<Argument> arguments_;
};

// Variables of the program that a text may name.
ptx::Module SymbolsFor(std::string_view text, const llvm::Module& module) {
  ptx::Module symbols;
  for (const llvm::GlobalVariable& global : module.globals()) {
    if (!global.hasName() || text.find({global.getName().data(), global.getName().size()}) == text.npos) continue;
    ptx::Variable variable;
    variable.name = global.getName().str();
    variable.space = global.getAddressSpace() == 1   ? ptx::StateSpace::kGlobal
                     : global.getAddressSpace() == 3 ? ptx::StateSpace::kShared
                     : global.getAddressSpace() == 4 ? ptx::StateSpace::kConst
                                                     : ptx::StateSpace::kNone;
    if (variable.space == ptx::StateSpace::kNone) continue;
    variable.type = *ptx::FindType("b8");
    variable.dimensions = {module.getDataLayout().getTypeAllocSize(global.getValueType()).getFixedValue()};
    symbols.variables.push_back(std::move(variable));
  }
  return symbols;
}

bool IsOneOf(std::string_view word, std::initializer_list<std::string_view> list) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

bool NamesSymbol(const ptx::Operand& operand) {
  return operand.kind == OperandKind::kSymbol ||
         std::any_of(operand.elements.begin(), operand.elements.end(), NamesSymbol);
}

}  // namespace

absl::StatusOr<ptx::Module> ReadInlinePtx(const llvm::CallInst& call, bool fold) {
  const std::string text = llvm::cast<llvm::InlineAsm>(call.getCalledOperand())->getAsmString();
  absl::StatusOr<ptx::Module> parsed = ptx::ParseInline(text);
  if (!parsed.ok()) {
    ptx::Module symbols = SymbolsFor(text, *call.getModule());
    if (!symbols.variables.empty()) parsed = ptx::ParseInline(text, &symbols);
    if (parsed.ok()) parsed->variables = std::move(symbols.variables);
  }
  HEDDLE_RETURN_IF_ERROR(parsed.status());
  ptx::Module module = *std::move(parsed);
  module.items.push_back({ptx::ModuleItem::Kind::kDefinition, 0});
  HEDDLE_RETURN_IF_ERROR(ArgumentBinder(call, module, fold).Bind());
  return module;
}

bool IsMeeting(const ptx::Instruction& instruction) {
  return IsOneOf(instruction.opcode(), {"shfl", "vote", "match", "activemask", "bar", "barrier", "redux", "elect"});
}

bool IsTextOnlyBarrier(const ptx::Instruction& instruction) {
  if (!IsOneOf(instruction.opcode(), {"bar", "barrier"}) || instruction.Has("warp")) return false;
  if (instruction.Has("arrive") || instruction.Has("cluster")) return true;
  const std::vector<ptx::Operand>& operands = instruction.operands;
  if (instruction.Has("red")) {
    return operands.size() != 3 || operands[1].kind != OperandKind::kInteger || operands[1].bits != 0;
  }
  return std::any_of(operands.begin(), operands.end(),
                     [](const ptx::Operand& at) { return at.kind != OperandKind::kInteger; });
}

bool IsUnknownToLlvm(std::string_view special_register) {
  return IsOneOf(special_register,
                 {"dynamic_smem_size", "total_smem_size", "is_explicit_cluster", "clusterid", "nclusterid",
                  "cluster_ctaid", "cluster_nctaid", "cluster_ctarank", "cluster_nctarank"});
}

bool ReadsUnknownRegister(const ptx::Instruction& instruction) {
  return std::any_of(instruction.operands.begin(), instruction.operands.end(), [](const ptx::Operand& operand) {
    return operand.kind == OperandKind::kSpecial && operand.text.starts_with('%') &&
           IsUnknownToLlvm(operand.text.substr(1));
  });
}

bool NamesVariable(const ptx::Instruction& instruction) {
  return std::any_of(instruction.operands.begin(), instruction.operands.end(), NamesSymbol);
}

bool StaysAsWritten(const ptx::Function& statement) {
  if (!statement.variables.empty() || !statement.labels.empty() || !statement.tables.empty()) return false;
  size_t count = 0;
  bool only_moves = true;
  bool ends = false;
  for (const ptx::Statement& at : statement.body) {
    const ptx::Instruction* instruction = at.instruction();
    if (instruction == nullptr) continue;
    ++count;
    const std::string_view opcode = instruction->opcode();
    if (instruction->guard || IsMeeting(*instruction) || IsOneOf(opcode, {"bra", "brx", "call", "ret"}) ||
        NamesVariable(*instruction)) {
      return false;
    }
    ends = ends || IsOneOf(opcode, {"exit", "trap"});
    only_moves = only_moves && opcode == "mov" && !ReadsUnknownRegister(*instruction);
  }
  return ends ? count == 1 : !only_moves;
}

std::vector<InlineAccess> InlineAccessesOf(const llvm::Instruction& instruction) {
  namespace v1 = ::heddle::trace::v1;
  std::vector<InlineAccess> accesses;
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  if (call == nullptr || !call->isInlineAsm()) return accesses;
  const absl::StatusOr<ptx::Module> module = ReadInlinePtx(*call);
  if (!module.ok()) return accesses;
  for (const ptx::Statement& statement : module->functions[0].body) {
    if (statement.instruction() == nullptr) continue;
    const auto collective = CollectiveOf(module->functions[0], *statement.instruction());
    if (collective != nullptr && collective->operand_size() > 0) {
      accesses.insert(accesses.end(), trace::CountColumns(*collective), {});
      continue;
    }
    const Opcode opcode = ClassifyOpcode(statement.instruction()->Mnemonic());
    if (opcode.space == v1::SPACE_PARAM) continue;
    if (opcode.op == v1::OP_LOAD || opcode.op == v1::OP_STORE || opcode.op == v1::OP_ATOMIC ||
        opcode.op == v1::OP_TEXTURE) {
      const bool is_image = IsOneOf(statement.instruction()->opcode(), {"tex", "tld4", "suld", "sust", "sured"});
      accesses.push_back({opcode.access_bytes, is_image});
    }
  }
  return accesses;
}

}  // namespace heddle::tracegen
