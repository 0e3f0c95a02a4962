#include "tracegen/program/ptx_source/statement.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "llvm/IR/InlineAsm.h"
#include "tracegen/ptx/inline_ptx.h"
#include "tracegen/ptx/syntax/print_parts.h"

namespace heddle::tracegen {
namespace {

using Kind = ptx::Operand::Kind;

class StatementText {
 public:
  explicit StatementText(StepContext& step)
      : step_(step), b_(step.b), parts_(step.operands.module().source, step.operands.source()) {}

  bool Make() {
    // Outputs are numbered first.
    for (const ptx::Operand& operand : step_.at.operands) Count(operand);
    std::string text = step_.at.Mnemonic();
    for (size_t i = 0; i < step_.at.operands.size(); ++i) {
      absl::StrAppend(&text, i == 0 ? " " : ", ", OperandText(step_.at.operands[i]));
    }
    absl::StrAppend(&text, ";");
    if (failed_) return false;
    std::vector<llvm::Type*> results;
    std::vector<std::string> constraints;
    for (const auto& [operand, code] : outputs_) {
      results.push_back(TypeOf(code));
      constraints.push_back(absl::StrCat("=", std::string(1, code)));
    }
    std::vector<llvm::Value*> arguments;
    for (const auto& [value, code] : inputs_) {
      arguments.push_back(value);
      constraints.push_back(std::string(1, code));
    }
    llvm::Type* result = results.empty()       ? b_.getVoidTy()
                         : results.size() == 1 ? results[0]
                                               : llvm::StructType::get(b_.getContext(), results);
    constraints.emplace_back("~{memory}");
    llvm::CallInst* call = EmitStatement(b_, text, constraints, result, arguments);
    for (unsigned i = 0; i < outputs_.size(); ++i) {
      llvm::Value* value = outputs_.size() == 1 ? call : b_.CreateExtractValue(call, i);
      step_.operands.Write(*outputs_[i].first, value, false);
    }
    return true;
  }

 private:
  // The letter that stands for registers of this type.
  char CodeOf(const ptx::Operand& operand) {
    const ptx::RegisterDeclaration& declaration = step_.operands.source().RegisterOf(operand.index);
    if (declaration.vector > 1 && operand.selector.empty()) failed_ = true;
    const ptx::Type& type = declaration.type;
    if (type.kind == ptx::TypeKind::kPredicate) return 'b';
    if (type.bits == 64) return type.name == "f64" ? 'd' : 'l';
    if (type.bits == 32) return type.name == "f32" ? 'f' : 'r';
    if (type.bits == 128) return 'q';
    return 'h';
  }

  llvm::Type* TypeOf(char code) {
    switch (code) {
      case 'b':
        return b_.getInt1Ty();
      case 'h':
        return b_.getInt16Ty();
      case 'r':
        return b_.getInt32Ty();
      case 'f':
        return b_.getFloatTy();
      case 'd':
        return b_.getDoubleTy();
      case 'q':
        return b_.getInt128Ty();
      default:
        return b_.getInt64Ty();
    }
  }

  void Count(const ptx::Operand& operand) {
    if (operand.kind == Kind::kRegister && operand.written) ++output_count_;
    for (const ptx::Operand& element : operand.elements) Count(element);
  }

  std::string RegisterText(const ptx::Operand& operand) {
    const char code = CodeOf(operand);
    // A component of a vector is a value like any other; what a video instruction takes of a word stays in the text.
    const bool is_component = step_.operands.source().RegisterOf(operand.index).vector > 1;
    size_t number = 0;
    if (operand.written) {
      number = outputs_.size();
      outputs_.emplace_back(&operand, code);
    } else {
      number = output_count_ + inputs_.size();
      ptx::Operand plain = operand;  // its signs stay in the text
      plain.negated = plain.minus = false;
      inputs_.emplace_back(step_.operands.Read(plain, TypeOf(code)), code);
    }
    std::string text = absl::StrCat(operand.negated ? "!" : "", operand.minus ? "-" : "", "$", number);
    if (!operand.selector.empty() && !is_component) {
      absl::StrAppend(&text, ".", absl::string_view(operand.selector.data(), operand.selector.size()));
    }
    return text;
  }

  std::string ListText(const ptx::Operand& operand, const char* open, const char* between, const char* close) {
    std::vector<std::string> elements;
    for (const ptx::Operand& element : operand.elements) elements.push_back(OperandText(element));
    return absl::StrCat(open, absl::StrJoin(elements, between), close);
  }

  std::string OperandText(const ptx::Operand& operand) {
    switch (operand.kind) {
      case Kind::kRegister:
        return RegisterText(operand);
      case Kind::kVector:
        return ListText(operand, "{", ", ", "}");
      case Kind::kPair:
        return ListText(operand, "", "|", "");
      case Kind::kAddress:
        break;
      default:
        return parts_.OperandText(operand);
    }
    std::string text = absl::StrCat("[", OperandText(operand.elements[0]));
    if (operand.offset != 0) absl::StrAppend(&text, "+", operand.offset);
    for (size_t i = 1; i < operand.elements.size(); ++i) {
      absl::StrAppend(&text, ", ", OperandText(operand.elements[i]));
    }
    return text + "]";
  }

  StepContext& step_;
  llvm::IRBuilder<>& b_;
  const ptx::Parts parts_;
  size_t output_count_ = 0;
  std::vector<std::pair<const ptx::Operand*, char>> outputs_;
  std::vector<std::pair<llvm::Value*, char>> inputs_;
  bool failed_ = false;
};

}  // namespace

bool BecomesStatement(const ptx::Instruction& instruction) {
  if (ReadsUnknownRegister(instruction)) return true;
  const std::string_view opcode = instruction.opcode();
  for (const std::string_view other : {"bra", "brx", "ret", "exit", "trap", "call", "mov", "addc", "subc", "madc"}) {
    if (opcode == other) return false;
  }
  return (!IsMeeting(instruction) || IsTextOnlyBarrier(instruction)) && !instruction.Has("cc") &&
         !NamesVariable(instruction);
}

bool LowerAsStatement(StepContext& step) { return StatementText(step).Make(); }

llvm::CallInst* EmitStatement(llvm::IRBuilder<>& builder, const std::string& text,
                              const std::vector<std::string>& constraints, llvm::Type* result,
                              llvm::ArrayRef<llvm::Value*> arguments) {
  std::vector<llvm::Type*> types;
  for (const llvm::Value* argument : arguments) types.push_back(argument->getType());
  llvm::FunctionType* type = llvm::FunctionType::get(result, types, /*isVarArg=*/false);
  llvm::CallInst* call = builder.CreateCall(
      llvm::InlineAsm::get(type, text, absl::StrJoin(constraints, ","), /*hasSideEffects=*/true), arguments);
  call->addFnAttr(llvm::Attribute::Convergent);
  call->addFnAttr(llvm::Attribute::NoUnwind);
  return call;
}

}  // namespace heddle::tracegen
