#include "tracegen/ptx/collective.h"

#include <optional>
#include <vector>

#include "tracegen/matrix/operation.h"
#include "tracegen/ptx/collective_waits.h"

namespace heddle::tracegen {
namespace {

namespace v1 = ::heddle::trace::v1;
using Kind = WrittenOperand::Kind;

}  // namespace

std::shared_ptr<const v1::Instruction> DescribeCollective(std::string_view mnemonic,
                                                          std::span<const WrittenOperand> operands) {
  if (!MayBeCollective(mnemonic)) return nullptr;
  if (const std::optional<MatrixOperation> matrix = ParseMatrixOperation(mnemonic)) {
    auto out = std::make_shared<v1::Instruction>();
    *out->mutable_matrix() = matrix->Describe();
    return out;
  }
  return DescribeWaiting(mnemonic, operands);
}

bool MayBeCollective(std::string_view mnemonic) {
  return mnemonic.starts_with("cp.async.") || mnemonic.starts_with("bar") || mnemonic.starts_with("mbarrier.") ||
         MayBeMatrixOperation(mnemonic);
}

std::shared_ptr<const v1::Instruction> CollectiveOf(const ptx::Function& function,
                                                    const ptx::Instruction& instruction) {
  if (!MayBeCollective(instruction.Mnemonic())) return nullptr;
  std::vector<WrittenOperand> written;
  for (const ptx::Operand& operand : instruction.operands) {
    WrittenOperand& out = written.emplace_back();
    if (operand.kind == ptx::Operand::Kind::kAddress) {
      out.kind = Kind::kAddress;
    } else if (operand.kind == ptx::Operand::Kind::kInteger) {
      out = {Kind::kConstant, operand.bits};
    } else if (operand.kind == ptx::Operand::Kind::kWarpSize) {
      out = {Kind::kConstant, 32};
    } else if (operand.kind == ptx::Operand::Kind::kRegister) {
      const bool is_predicate = function.RegisterOf(operand.index).type.kind == ptx::TypeKind::kPredicate;
      out.kind = is_predicate ? Kind::kPredicate : Kind::kRegister;
    }
  }
  return DescribeCollective(instruction.Mnemonic(), written);
}

}  // namespace heddle::tracegen
