#include "tracegen/ptx/collective.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "tracegen/matrix/operation.h"

namespace heddle::tracegen {
namespace {

namespace v1 = ::heddle::trace::v1;
using Described = std::shared_ptr<v1::Instruction>;
using Kind = WrittenOperand::Kind;

void AddAddress(v1::MemorySpace space, uint64_t bytes, v1::Instruction& out) {
  v1::Operand& operand = *out.add_operand();
  operand.set_kind(v1::Operand::ADDRESS);
  operand.set_space(space);
  operand.set_bytes(static_cast<uint32_t>(bytes));
}

// A number that the text gives, or that a register holds.
void AddNumber(v1::Operand::Kind kind, const WrittenOperand& written, v1::Instruction& out) {
  v1::Operand& operand = *out.add_operand();
  operand.set_kind(kind);
  if (written.kind != Kind::kConstant) return;
  operand.set_constant(true);
  operand.set_value(written.value);
}

// cp.async.ca.shared.global [to], [from], bytes{, bytes of the source}; cp.async.commit_group, wait_group N, wait_all.
Described DescribeCopy(std::string_view mnemonic, std::span<const WrittenOperand> operands) {
  auto out = std::make_shared<v1::Instruction>();
  v1::Async& async = *out->mutable_async();
  if (mnemonic.starts_with("cp.async.commit_group")) {
    async.set_role(v1::Async::COMMIT);
  } else if (mnemonic.starts_with("cp.async.wait_all")) {
    async.set_role(v1::Async::WAIT_ALL);
  } else if (mnemonic.starts_with("cp.async.wait_group")) {
    async.set_role(v1::Async::WAIT_GROUP);
    if (!operands.empty()) async.set_most_pending(static_cast<uint32_t>(operands[0].value));
  } else if (operands.size() >= 3 && operands[2].kind == Kind::kConstant) {
    async.set_role(v1::Async::COPY);
    AddAddress(v1::SPACE_GLOBAL, operands[2].value, *out);
    AddAddress(v1::SPACE_SHARED, operands[2].value, *out);
    const bool has_size = operands.size() >= 4 && mnemonic.find("L2::cache_hint") == std::string_view::npos;
    const bool is_size = has_size && (operands[3].kind == Kind::kRegister || operands[3].kind == Kind::kConstant);
    if (is_size) AddNumber(v1::Operand::BYTES, operands[3], *out);
  } else {
    return nullptr;
  }
  return out;
}

}  // namespace

std::shared_ptr<const v1::Instruction> DescribeCollective(std::string_view mnemonic,
                                                          std::span<const WrittenOperand> operands) {
  if (!MayBeCollective(mnemonic)) return nullptr;
  const bool copies = mnemonic.starts_with("cp.async.") && !mnemonic.starts_with("cp.async.bulk") &&
                      !mnemonic.starts_with("cp.async.mbarrier");
  if (copies) return DescribeCopy(mnemonic, operands);
  if (const std::optional<MatrixOperation> matrix = ParseMatrixOperation(mnemonic)) {
    auto out = std::make_shared<v1::Instruction>();
    *out->mutable_matrix() = matrix->Describe();
    return out;
  }
  return nullptr;
}

bool MayBeCollective(std::string_view mnemonic) {
  return mnemonic.starts_with("cp.async.") || MayBeMatrixOperation(mnemonic);
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
    } else if (operand.kind == ptx::Operand::Kind::kRegister) {
      const bool is_predicate = function.RegisterOf(operand.index).type.kind == ptx::TypeKind::kPredicate;
      out.kind = is_predicate ? Kind::kPredicate : Kind::kRegister;
    }
  }
  return DescribeCollective(instruction.Mnemonic(), written);
}

uint32_t CountColumns(const v1::Instruction& collective) {
  return static_cast<uint32_t>(
      std::ranges::count_if(collective.operand(), [](const v1::Operand& operand) { return !operand.constant(); }));
}

}  // namespace heddle::tracegen
