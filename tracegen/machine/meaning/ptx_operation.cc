#include "tracegen/machine/meaning/ptx_operation.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tracegen/ptx/forms/form.h"
#include "tracegen/ptx/forms/type.h"
#include "tracegen/ptx/meaning/emission.h"

namespace heddle::tracegen::machine {
namespace {

using llvm::Value;

// Values in the place of registers: number 0 is the result, the others are the inputs.
class Values final : public ptx::OperandAccess {
 public:
  Values(llvm::IRBuilder<>& b, llvm::ArrayRef<Value*> inputs) : b_(b), inputs_(inputs) {}

  Value* Read(const ptx::Operand& operand, llvm::Type* type) override {
    Value* value = inputs_[operand.index - 1];
    const auto bits = [](llvm::Type* of) {
      return static_cast<unsigned>(of->getPrimitiveSizeInBits().getFixedValue());
    };
    if (bits(value->getType()) != bits(type)) value = b_.CreateZExtOrTrunc(value, b_.getIntNTy(bits(type)));
    return b_.CreateBitCast(value, type);
  }
  void Write(const ptx::Operand&, Value* value, bool) override { result_ = value; }
  Value* ReadCarry() override { return b_.getFalse(); }
  void WriteCarry(Value*) override {}

  Value* result() const { return result_; }

 private:
  llvm::IRBuilder<>& b_;
  llvm::ArrayRef<Value*> inputs_;
  Value* result_ = nullptr;
};

}  // namespace

Value* PtxOperation(Emission& e, std::string_view mnemonic, llvm::ArrayRef<Value*> inputs) {
  const std::vector<std::string> parts = absl::StrSplit(absl::string_view(mnemonic.data(), mnemonic.size()), '.');
  const auto forms = ptx::FormsOf(parts[0]);
  ptx::Instruction at;
  for (size_t i = 1; i < parts.size(); ++i) {
    at.modifiers.push_back({parts[i], ptx::FindType(parts[i]).value_or(ptx::Type())});
  }
  for (uint32_t i = 0; i <= inputs.size(); ++i) {
    ptx::Operand& operand = at.operands.emplace_back();
    operand.kind = ptx::Operand::Kind::kRegister;
    operand.index = i;
    operand.written = i == 0;
  }
  Values values(e.b, inputs);
  if (!forms.empty()) {
    at.form = &forms.front();
    ptx::Emission emission(e.b, at, values);
    ptx::EmitComputation(emission);
  }
  if (values.result() != nullptr) return values.result();
  return e.Fail(absl::StrCat("what PTX calls ", std::string(mnemonic)));
}

}  // namespace heddle::tracegen::machine
