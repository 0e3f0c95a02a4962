// Matrix instructions of machine code: the functions of PTX's, whose fragments are these registers.
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "llvm/IR/DerivedTypes.h"
#include "tracegen/program/machine_source/collective_text.h"
#include "tracegen/program/machine_source/machine_step.h"
#include "tracegen/program/ptx_source/windows.h"

namespace heddle::tracegen {
namespace {

using llvm::Value;
using machine::Operand;
using machine::Register;

class MachineMatrix {
 public:
  MachineMatrix(MachineStepContext& step, const MatrixOperation& operation)
      : step_(step), b_(step.b), operation_(operation) {}

  void Run(llvm::Instruction** access) {
    const bool moves = operation_.is_load() || operation_.is_store();
    if (moves) {
      Value* pointer = MachinePointer(step_);
      arguments_ = {pointer, pointer};
    }
    ReadRegisters();
    llvm::CallInst* call = Call();
    if (moves) *access = call;
    if (operation_.is_store()) return;
    const unsigned results = RegistersWritten(operation_);
    for (unsigned i = 0; i < results; ++i) {
      Put(i, results == 1 ? call : b_.CreateExtractValue(call, i));
    }
  }

 private:
  using Type = MatrixOperation::Type;

  Type ResultType() const { return operation_.kind == MatrixOperation::Kind::kMultiply ? operation_.d : operation_.a; }

  void ReadRegisters() {
    const trace::MatrixRegisters registers = RegistersOf(operation_);
    if (operation_.kind == MatrixOperation::Kind::kMultiply) {
      // Integers and bits say how the elements of A and B lie, which is so in all other products, too.
      Read(0, registers.a, operation_.a, "ROW");
      Read(1, registers.b, operation_.b, "COL");
      Read(2, registers.c, operation_.c, "");
    } else if (!operation_.is_load()) {
      Read(0, registers.a, operation_.a, "");
    }
  }

  void Read(size_t operand, uint32_t count, Type type, std::string_view part) {
    const Operand* at = step_.e.Find('s', operand);
    const bool is_register = at != nullptr && at->is_register(machine::RegisterFile::kGeneral) && at->use.sign == 0 &&
                             !at->use.absolute && (at->use.part.empty() || at->use.part == part);
    if (!is_register) {
      step_.e.Fail("how the registers of a matrix are read");
      return;
    }
    for (uint32_t i = 0; i < count; ++i) arguments_.push_back(Get(at->use.reg, i, RegisterBits(type)));
  }

  // Register `i` of an operand, of 32 bits or a pair.
  Value* Get(const Register& first, uint32_t i, unsigned bits) {
    if (bits == 32) return step_.state.Read(MachineRegisterBehind(first, i));
    Value* low = b_.CreateZExt(step_.state.Read(MachineRegisterBehind(first, 2 * i)), b_.getInt64Ty());
    Value* high = b_.CreateZExt(step_.state.Read(MachineRegisterBehind(first, 2 * i + 1)), b_.getInt64Ty());
    return b_.CreateOr(low, b_.CreateShl(high, 32));
  }

  void Put(uint32_t i, Value* value) {
    const Register& first = step_.e.Find('d')->use.reg;
    if (RegisterBits(ResultType()) == 32) {
      step_.state.Write(MachineRegisterBehind(first, i), value);
      return;
    }
    step_.state.Write(MachineRegisterBehind(first, 2 * i), b_.CreateTrunc(value, b_.getInt32Ty()));
    step_.state.Write(MachineRegisterBehind(first, 2 * i + 1),
                      b_.CreateTrunc(b_.CreateLShr(value, 32), b_.getInt32Ty()));
  }

  llvm::CallInst* Call() {
    const unsigned results = RegistersWritten(operation_);
    llvm::Type* const one = b_.getIntNTy(RegisterBits(ResultType()));
    llvm::Type* result = b_.getVoidTy();
    if (results == 1) result = one;
    if (results > 1) result = llvm::StructType::get(b_.getContext(), std::vector<llvm::Type*>(results, one));
    std::vector<llvm::Type*> types;
    for (const Value* argument : arguments_) types.push_back(argument->getType());
    llvm::Module& module = *b_.GetInsertBlock()->getModule();
    llvm::FunctionCallee callee =
        module.getOrInsertFunction(absl::StrCat(kMatrixFunction, PtxOfMatrix(step_.e.at)),
                                   llvm::FunctionType::get(result, types, /*isVarArg=*/false));
    llvm::CallInst* call = b_.CreateCall(callee, arguments_);
    call->addFnAttr(llvm::Attribute::Convergent);
    call->addFnAttr(llvm::Attribute::NoUnwind);
    return call;
  }

  MachineStepContext& step_;
  llvm::IRBuilder<>& b_;
  const MatrixOperation operation_;
  std::vector<Value*> arguments_;
};

}  // namespace

void LowerMachineMatrix(MachineStepContext& step, llvm::Instruction** access) {
  MachineMatrix(step, *MatrixOperationOf(step.e.at)).Run(access);
}

}  // namespace heddle::tracegen
