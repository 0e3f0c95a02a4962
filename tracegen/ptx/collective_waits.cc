#include "tracegen/ptx/collective_waits.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_split.h"
#include "traces/format/program/operands.h"

namespace heddle::tracegen {
namespace {

namespace v1 = ::heddle::trace::v1;
using Kind = WrittenOperand::Kind;

constexpr uint32_t kTransactionBytes = 8;  // of a transaction barrier

class Description {
 public:
  Description(std::string_view mnemonic, std::span<const WrittenOperand> operands)
      : parts_(absl::StrSplit(absl::string_view(mnemonic.data(), mnemonic.size()), '.')), operands_(operands) {}

  std::shared_ptr<v1::Instruction> Make() {
    const absl::string_view opcode = parts_[0];
    bool is_described = false;
    if ((opcode == "bar" || opcode == "barrier") && !Has("warp")) {
      is_described = Has("cluster") ? ClusterBarrier() : Barrier();
    } else if (opcode == "cp" && Has("async") && !Has("bulk")) {
      is_described = Has("mbarrier") ? Role(v1::Async::BARRIER_COPIES, /*address=*/0) : Copy();
    } else if (opcode == "mbarrier") {
      is_described = Transaction();
    }
    return is_described ? std::make_shared<v1::Instruction>(std::move(result_)) : nullptr;
  }

 private:
  bool Has(absl::string_view modifier) const {
    return std::find(parts_.begin() + 1, parts_.end(), modifier) != parts_.end();
  }

  void AddAddress(v1::MemorySpace space, uint32_t bytes) {
    v1::Operand& operand = *result_.add_operand();
    operand.set_kind(v1::Operand::ADDRESS);
    operand.set_space(space);
    operand.set_bytes(bytes);
  }

  // A number that the text gives, or a register holds.
  void AddNumber(v1::Operand::Kind kind, const WrittenOperand& written) {
    v1::Operand& operand = *result_.add_operand();
    operand.set_kind(kind);
    if (written.kind != Kind::kConstant) return;
    operand.set_constant(true);
    operand.set_value(written.value);
  }

  bool Barrier() {
    if (Has("arrive")) result_.set_barrier_role(v1::BARRIER_ARRIVE);
    if (Has("red")) result_.set_barrier_role(v1::BARRIER_REDUCE);
    // A reduction has its result in front of the numbers, and a predicate behind them.
    const size_t around = Has("red") ? 1 : 0;
    if (operands_.size() < 1 + 2 * around) return false;
    const std::span<const WrittenOperand> numbers = operands_.subspan(around, operands_.size() - 2 * around);
    const bool all_constant =
        std::ranges::all_of(numbers, [](const WrittenOperand& at) { return at.kind == Kind::kConstant; });
    const bool is_first = numbers.size() == 1 && numbers[0].value == 0;
    if (all_constant && !Has("arrive") && (!Has("red") || is_first)) return false;
    if (numbers[0].kind == Kind::kConstant) {
      result_.set_barrier_id(static_cast<uint32_t>(numbers[0].value));
    } else {
      AddNumber(v1::Operand::BARRIER, numbers[0]);
    }
    if (numbers.size() < 2) return true;
    if (numbers[1].kind == Kind::kConstant) {
      result_.set_barrier_threads(static_cast<uint32_t>(numbers[1].value));
    } else {
      AddNumber(v1::Operand::COUNT, numbers[1]);
    }
    return true;
  }

  bool ClusterBarrier() {
    result_.set_barrier_role(Has("arrive") ? v1::BARRIER_ARRIVE : v1::BARRIER_WAIT);
    result_.set_barrier_scope(v1::SCOPE_CLUSTER);
    return true;
  }

  bool Copy() {
    v1::Async& async = *result_.mutable_async();
    if (Has("commit_group")) {
      async.set_role(v1::Async::COMMIT);
      return true;
    }
    if (Has("wait_all")) {
      async.set_role(v1::Async::WAIT_ALL);
      return true;
    }
    if (Has("wait_group")) {
      if (operands_.empty() || operands_[0].kind != Kind::kConstant || operands_[0].value > trace::kMostPending)
        return false;
      async.set_role(v1::Async::WAIT_GROUP);
      async.set_most_pending(static_cast<uint32_t>(operands_[0].value));
      return true;
    }
    if (operands_.size() < 3 || operands_[2].kind != Kind::kConstant) return false;
    const uint64_t bytes = operands_[2].value;
    if (bytes != 16 && (Has("cg") || (bytes != 4 && bytes != 8))) return false;
    async.set_role(v1::Async::COPY);
    AddAddress(v1::SPACE_GLOBAL, static_cast<uint32_t>(bytes));
    AddAddress(v1::SPACE_SHARED, static_cast<uint32_t>(bytes));
    // The last operand may be a policy of caches.
    const size_t count = operands_.size() - (Has("L2::cache_hint") ? 1 : 0);
    if (count < 4) return true;
    const WrittenOperand& read = operands_[3];
    if (read.kind == Kind::kConstant && read.value > bytes) return false;
    if (read.kind != Kind::kConstant || read.value != bytes) AddNumber(v1::Operand::BYTES, read);
    return true;
  }

  bool Role(v1::Async::Role role, size_t address) {
    if (operands_.size() <= address) return false;
    result_.mutable_async()->set_role(role);
    AddAddress(Has("shared::cluster")                ? v1::SPACE_CLUSTER_SHARED
               : Has("shared") || Has("shared::cta") ? v1::SPACE_SHARED
                                                     : v1::SPACE_GENERIC,
               kTransactionBytes);
    return true;
  }

  bool RoleWithNumber(v1::Async::Role role, v1::Operand::Kind kind) {
    if (operands_.size() < 2 || !Role(role, 0)) return false;
    AddNumber(kind, operands_[1]);
    return true;
  }

  bool Transaction() {
    if (Has("init")) return RoleWithNumber(v1::Async::BARRIER_INIT, v1::Operand::COUNT);
    if (Has("inval")) return Role(v1::Async::BARRIER_INVALIDATE, 0);
    if (Has("arrive") || Has("arrive_drop")) {
      const bool has_number = operands_.size() > 2;
      if ((Has("expect_tx") && !has_number) || !Role(v1::Async::BARRIER_ARRIVE, 1)) return false;
      if (has_number) AddNumber(Has("expect_tx") ? v1::Operand::BYTES : v1::Operand::COUNT, operands_[2]);
      return true;
    }
    if (Has("expect_tx")) return RoleWithNumber(v1::Async::BARRIER_EXPECT, v1::Operand::BYTES);
    if (!Has("test_wait") && !Has("try_wait")) return false;
    if (!Role(v1::Async::BARRIER_WAIT, 1)) return false;
    result_.add_operand()->set_kind(v1::Operand::COUNT);
    return true;
  }

  const std::vector<absl::string_view> parts_;
  const std::span<const WrittenOperand> operands_;
  v1::Instruction result_;
};

}  // namespace

std::shared_ptr<v1::Instruction> DescribeWaiting(std::string_view mnemonic, std::span<const WrittenOperand> operands) {
  return Description(mnemonic, operands).Make();
}

}  // namespace heddle::tracegen
