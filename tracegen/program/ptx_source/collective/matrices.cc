// Matrix instructions: wmma, mma, ldmatrix, stmatrix, movmatrix (PTX ISA: Warp Level Matrix Instructions).
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tracegen/matrix/operation.h"
#include "tracegen/program/ptx_source/step_context.h"
#include "tracegen/program/ptx_source/windows.h"

namespace heddle::tracegen {
namespace {

using llvm::Value;
using Kind = ptx::Operand::Kind;

class MatrixStep {
 public:
  MatrixStep(StepContext& step, const MatrixOperation& operation)
      : step_(step), b_(step.b), at_(step.at), operation_(operation) {}

  bool Run(llvm::Instruction** access) {
    const bool moves = operation_.is_load() || operation_.is_store();
    if (moves && !PlaceInMemory()) return false;
    // Operands are: results, then what is read; of loads and stores, the address in the place of what they lack.
    std::vector<size_t> read;
    if (operation_.kind == MatrixOperation::Kind::kMultiply) {
      read = {1, 2, 3};
    } else if (!operation_.is_load()) {
      read = {1};
    }
    if (!ReadRegisters(read)) return false;
    std::vector<const ptx::Operand*> results;
    if (!operation_.is_store()) results = Elements(at_.operands[0]);
    if (results.size() != RegistersWritten(operation_)) return false;
    const unsigned bits = RegisterBits(ResultType());
    llvm::Type* type = b_.getVoidTy();
    if (results.size() == 1) type = b_.getIntNTy(bits);
    if (results.size() > 1) {
      type = llvm::StructType::get(b_.getContext(), std::vector<llvm::Type*>(results.size(), b_.getIntNTy(bits)));
    }
    llvm::CallInst* call = Call(type);
    if (moves) *access = call;
    for (unsigned i = 0; i < results.size(); ++i) {
      step_.operands.Write(*results[i], results.size() == 1 ? call : b_.CreateExtractValue(call, i), false);
    }
    return true;
  }

 private:
  static std::vector<const ptx::Operand*> Elements(const ptx::Operand& operand) {
    if (operand.kind != Kind::kVector) return {&operand};
    std::vector<const ptx::Operand*> elements;
    for (const ptx::Operand& element : operand.elements) elements.push_back(&element);
    return elements;
  }

  MatrixOperation::Type ResultType() const {
    return operation_.kind == MatrixOperation::Kind::kMultiply ? operation_.d : operation_.a;
  }

  // The thread's share, the address that it hands in and, for fragments, the stride.
  bool PlaceInMemory() {
    const ptx::Operand& address = at_.operands[operation_.is_load() ? 1 : 0];
    if (address.kind != Kind::kAddress || address.elements.size() != 1) return false;
    Value* pointer = step_.operands.Pointer(address, at_.Space());
    if (pointer == nullptr) return false;
    if (operation_.form != trace::MatrixForm::kFragments) {
      arguments_ = {pointer, pointer};
      return true;
    }
    Value* stride = at_.operands.size() > 2 ? step_.e.In32(2) : b_.getInt32(operation_.line());
    arguments_ = {Share(pointer, stride), pointer, stride};
    return true;
  }

  // Where that of the running lane begins.
  Value* Share(Value* pointer, Value* stride) {
    Value* share_bytes = b_.getInt32(operation_.share_bytes());
    Value* shares = b_.getInt32(operation_.shares_of_line());
    Value* bits = b_.getInt64(trace::MatrixElementBits(operation_.a));
    Value* lane = step_.e.Intrinsic("llvm.nvvm.read.ptx.sreg.laneid", {});
    Value* line = b_.CreateZExt(b_.CreateUDiv(lane, shares), b_.getInt64Ty());
    Value* within = b_.CreateZExt(b_.CreateMul(b_.CreateURem(lane, shares), share_bytes), b_.getInt64Ty());
    Value* lines = b_.CreateMul(b_.CreateMul(line, b_.CreateZExt(stride, b_.getInt64Ty())), bits);
    return b_.CreatePtrAdd(pointer, b_.CreateAdd(b_.CreateLShr(lines, 3), within));
  }

  bool ReadRegisters(const std::vector<size_t>& operands) {
    const trace::MatrixRegisters registers = RegistersOf(operation_);
    const uint32_t expected[] = {registers.a, registers.b, registers.c};
    const MatrixOperation::Type types[] = {operation_.a, operation_.b, operation_.c};
    for (size_t i = 0; i < operands.size(); ++i) {
      if (operands[i] >= at_.operands.size()) return false;
      const std::vector<const ptx::Operand*> elements = Elements(at_.operands[operands[i]]);
      if (elements.size() != expected[i]) return false;
      for (const ptx::Operand* element : elements) {
        if (element->kind != Kind::kRegister) return false;
        arguments_.push_back(step_.operands.Read(*element, b_.getIntNTy(RegisterBits(types[i]))));
      }
    }
    return true;
  }

  llvm::CallInst* Call(llvm::Type* result) {
    std::vector<llvm::Type*> types;
    for (const Value* argument : arguments_) types.push_back(argument->getType());
    llvm::FunctionCallee callee = step_.operands.module().module.getOrInsertFunction(
        absl::StrCat(kMatrixFunction, at_.Mnemonic()), llvm::FunctionType::get(result, types, false));
    llvm::CallInst* call = b_.CreateCall(callee, arguments_);
    call->addFnAttr(llvm::Attribute::Convergent);
    call->addFnAttr(llvm::Attribute::NoUnwind);
    return call;
  }

  StepContext& step_;
  llvm::IRBuilder<>& b_;
  const ptx::Instruction& at_;
  const MatrixOperation operation_;
  std::vector<Value*> arguments_;
};

}  // namespace

bool LowerMatrix(StepContext& step, llvm::Instruction** access) {
  const std::optional<MatrixOperation> operation = ParseMatrixOperation(step.at.Mnemonic());
  if (!operation || step.at.operands.empty()) return false;
  return MatrixStep(step, *operation).Run(access);
}

}  // namespace heddle::tracegen
