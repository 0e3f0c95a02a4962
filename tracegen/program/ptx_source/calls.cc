// Calls: of functions of the module, through pointers, and of what the device's system and library provide.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "llvm/IR/Constants.h"
#include "tracegen/program/ptx_source/callee.h"
#include "tracegen/program/ptx_source/layout.h"
#include "tracegen/program/ptx_source/libdevice.h"
#include "tracegen/program/ptx_source/signature.h"
#include "tracegen/program/ptx_source/step_context.h"
#include "traces/base/status_macros.h"

namespace heddle::tracegen {
namespace {

using llvm::Value;
using Kind = ptx::Operand::Kind;

class Calls {
 public:
  explicit Calls(StepContext& step) : step_(step), b_(step.b), call_(step.at) {}

  absl::Status Run() {
    const ptx::Module& source = step_.operands.module().source;
    const ptx::Function* callee = CalleeOf(source, call_);
    if (callee == nullptr) return Indirect();
    if (!callee->is_defined) return System(callee->name);
    llvm::Function* function = step_.operands.module().functions[static_cast<size_t>(callee - source.functions.data())];
    return Make(function->getFunctionType(), function);
  }

 private:
  const std::vector<ptx::Operand>& Results() const { return call_.operands[0].elements; }
  const std::vector<ptx::Operand>& Arguments() const { return call_.operands[2].elements; }

  // An argument as a value of the type that it is passed as.
  Value* Argument(size_t i, llvm::Type* type) {
    const ptx::Operand& operand = Arguments()[i];
    if (const ParameterBlock* block = BlockOf(operand)) {
      if (type->isIntegerTy() || type->isArrayTy()) return block->Whole(b_, type);
      const auto bits =
          static_cast<unsigned>(type->isPointerTy() ? 64 : type->getPrimitiveSizeInBits().getFixedValue());
      return AsType(b_, block->Load(b_, 0, bits), type);
    }
    return step_.operands.Read(operand, type);
  }

  void SetResult(size_t i, Value* value) {
    const ptx::Operand& operand = Results()[i];
    if (const ParameterBlock* block = BlockOf(operand)) {
      if (!value->getType()->isArrayTy()) {
        const auto bits = static_cast<unsigned>(
            value->getType()->isPointerTy() ? 64 : value->getType()->getPrimitiveSizeInBits().getFixedValue());
        value = AsType(b_, value, b_.getIntNTy(bits));
      }
      block->SetWhole(b_, value);
    } else {
      step_.operands.Write(operand, value, false);
    }
  }

  const ParameterBlock* BlockOf(const ptx::Operand& operand) const {
    return operand.kind == Kind::kSymbol ? step_.operands.Place(operand).block : nullptr;
  }

  absl::Status Make(llvm::FunctionType* type, Value* callee) {
    llvm::Type* result = type->getReturnType();
    if (Arguments().size() != type->getNumParams()) {
      return absl::InvalidArgumentError(
          absl::StrCat("a call with ", Arguments().size(), " arguments of a function with ", type->getNumParams()));
    }
    auto* record = llvm::dyn_cast<llvm::StructType>(result);
    const size_t results = result->isVoidTy() ? 0 : record != nullptr ? record->getNumElements() : 1;
    if (Results().size() > results) return absl::InvalidArgumentError("a call that takes more results than there are");
    std::vector<Value*> arguments;
    for (unsigned i = 0; i < type->getNumParams(); ++i) {
      Value* argument = Argument(i, type->getParamType(i));
      if (argument->getType() != type->getParamType(i))
        return absl::InvalidArgumentError("an argument of another size");
      arguments.push_back(argument);
    }
    Value* made = b_.CreateCall(type, callee, arguments);
    for (size_t i = 0; i < Results().size(); ++i) {
      SetResult(i, record == nullptr ? made : b_.CreateExtractValue(made, static_cast<unsigned>(i)));
    }
    return absl::OkStatus();
  }

  absl::Status Indirect() {
    const ptx::Operand& list = call_.operands[3];
    if (list.kind != Kind::kTable) return absl::UnimplementedError("a call through a pointer without a prototype");
    const ptx::Table& table = step_.operands.source().tables[list.index];
    llvm::FunctionType* type = nullptr;
    if (table.kind == ptx::Table::Kind::kPrototype) {
      HEDDLE_ASSIGN_OR_RETURN(type, FunctionTypeOf(b_.getContext(), table.returns, table.parameters));
    } else {
      if (table.functions.empty()) return absl::UnimplementedError("a call through a pointer that leads nowhere");
      llvm::Function* first = step_.operands.module().functions[table.functions[0]];
      if (first == nullptr) return absl::UnimplementedError("a call through a pointer of a function without a body");
      type = first->getFunctionType();
    }
    Value* number = step_.operands.Read(call_.operands[1], b_.getInt64Ty());
    return Make(type, b_.CreateIntToPtr(number, b_.getPtrTy()));
  }

  llvm::Type* TypeOf(char letter) const {
    switch (letter) {
      case 'h':
        return b_.getInt16Ty();
      case 'i':
        return b_.getInt32Ty();
      case 'l':
        return b_.getInt64Ty();
      case 'f':
        return b_.getFloatTy();
      case 'd':
        return b_.getDoubleTy();
      case 'p':
        return b_.getPtrTy();
      default:
        return b_.getVoidTy();
    }
  }

  absl::Status System(const std::string& name) {
    std::string_view signature = LibdeviceSignature(name);
    if (name == "vprintf") signature = "ipp";
    if (name == "malloc") signature = "pl";
    if (name == "free") signature = "vp";
    if (name == "__assertfail") signature = "vppipl";
    if (name == "__heddle_resident_grid") signature = "v";
    if (signature.empty()) return absl::UnimplementedError("a function that is not known");
    std::vector<llvm::Type*> types;
    for (const char letter : signature.substr(1)) types.push_back(TypeOf(letter));
    auto* type = llvm::FunctionType::get(TypeOf(signature[0]), types, false);
    llvm::FunctionCallee function = step_.operands.module().module.getOrInsertFunction(name, type);
    return Make(type, function.getCallee());
  }

  StepContext& step_;
  llvm::IRBuilder<>& b_;
  const ptx::Instruction& call_;
};

}  // namespace

absl::Status LowerCall(StepContext& step) { return Calls(step).Run(); }

}  // namespace heddle::tracegen
