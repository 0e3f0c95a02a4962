#include "traces/format/program/operands.h"

#include <algorithm>
#include <span>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "traces/format/program/matrix_shapes.h"

namespace heddle::trace {
namespace {

using v1::Async;
using v1::Instruction;
using v1::Operand;

bool IsSharedSpace(v1::MemorySpace space) {
  return space == v1::SPACE_SHARED || space == v1::SPACE_CLUSTER_SHARED || space == v1::SPACE_GENERIC;
}

bool IsMatrixAccess(const Instruction& instruction) {
  return instruction.has_matrix() && (instruction.op() == v1::OP_LOAD || instruction.op() == v1::OP_STORE);
}

// Machine code waits for the lanes of a mask without a class of its own.
bool IsWarpSync(const Instruction& instruction) {
  return instruction.op() == v1::OP_CONVERGENCE && instruction.convergence().role() == v1::Convergence::WARP_SYNC;
}

// The operands of an instruction, looked at one after the other.
class OperandList {
 public:
  explicit OperandList(const Instruction& instruction) : instruction_(instruction) {}

  // Takes the next operand if it is of that kind.
  const Operand* Take(Operand::Kind kind) {
    if (done() || instruction_.operand(next_).kind() != kind) return nullptr;
    return &instruction_.operand(next_++);
  }
  const Operand* TakeAddress() {
    const Operand* operand = Take(Operand::ADDRESS);
    return operand != nullptr && !operand->constant() ? operand : nullptr;
  }
  void SkipUniform() {
    while (Take(Operand::UNIFORM) != nullptr) {
    }
  }
  bool done() const { return next_ == instruction_.operand_size(); }

 private:
  const Instruction& instruction_;
  int next_ = 0;
};

std::string BrokenOperand(const Operand& operand) {
  if (!Operand::Kind_IsValid(operand.kind()) || operand.kind() == Operand::KIND_UNSPECIFIED) {
    return absl::StrCat("an operand of unknown kind ", static_cast<int>(operand.kind()));
  }
  const bool is_address = operand.kind() == Operand::ADDRESS;
  if (is_address && (!v1::MemorySpace_IsValid(operand.space()) || operand.space() == v1::SPACE_NONE ||
                     operand.bytes() == 0 || operand.bytes() > kMaxAccessBytes)) {
    return absl::StrCat("an operand that is an address needs a space, and 1 to ", kMaxAccessBytes, " bytes");
  }
  if (!is_address && (operand.space() != v1::SPACE_NONE || operand.bytes() != 0)) {
    return "only operands that are addresses have a space and bytes";
  }
  if (!operand.constant() && operand.value() != 0) return "an operand with a value is not constant";
  return "";
}

std::string BrokenBarrier(const Instruction& instruction, OperandList& operands) {
  if (!v1::BarrierRole_IsValid(instruction.barrier_role()) || !v1::BarrierScope_IsValid(instruction.barrier_scope())) {
    return "a barrier of unknown role or scope";
  }
  const Operand* number = operands.Take(Operand::BARRIER);
  const Operand* count = operands.Take(Operand::COUNT);
  if (number != nullptr && instruction.barrier_id() != 0) return "a barrier's number is told twice";
  if (count != nullptr && instruction.barrier_threads() != 0) return "a barrier's count is told twice";
  if (number != nullptr && number->constant() && number->value() >= kMaxBarriers) {
    return absl::StrCat("the number of a barrier is not below ", kMaxBarriers);
  }
  const bool is_cluster = instruction.barrier_scope() == v1::SCOPE_CLUSTER;
  if (is_cluster && (number != nullptr || count != nullptr || instruction.barrier_id() != 0 ||
                     instruction.barrier_threads() != 0 || instruction.barrier_role() == v1::BARRIER_REDUCE)) {
    return "a cluster's barrier has no number, no count and no result";
  }
  if (!is_cluster && instruction.barrier_role() == v1::BARRIER_WAIT) {
    return "only at a cluster's barrier threads wait without arriving";
  }
  if (!is_cluster && instruction.barrier_role() == v1::BARRIER_ARRIVE && count == nullptr &&
      instruction.barrier_threads() == 0) {
    return "an arrival at a barrier needs a count";
  }
  return "";
}

std::string BrokenCopy(OperandList& operands) {
  const Operand* from = operands.TakeAddress();
  const Operand* to = operands.TakeAddress();
  if (from == nullptr || to == nullptr) return "an asynchronous copy needs two addresses, its source and destination";
  if (to->space() != v1::SPACE_SHARED && to->space() != v1::SPACE_CLUSTER_SHARED) {
    return "an asynchronous copy ends in shared memory";
  }
  if (operands.Take(Operand::BYTES) == nullptr && from->bytes() != to->bytes()) {
    return "source and destination of an asynchronous copy differ in bytes";
  }
  return "";
}

std::string BrokenTransactionBarrier(Async::Role role, OperandList& operands) {
  const Operand* place = operands.TakeAddress();
  if (place == nullptr || !IsSharedSpace(place->space())) {
    return "a transaction barrier needs its address in shared memory";
  }
  const Operand* count = operands.Take(Operand::COUNT);
  const Operand* bytes = operands.Take(Operand::BYTES);
  const bool may_count = role == Async::BARRIER_INIT || role == Async::BARRIER_ARRIVE || role == Async::BARRIER_WAIT;
  const bool may_expect = role == Async::BARRIER_EXPECT || role == Async::BARRIER_ARRIVE;
  if ((count != nullptr && !may_count) || (bytes != nullptr && !may_expect)) {
    return "an operand that this use of a transaction barrier does not have";
  }
  if (role == Async::BARRIER_INIT && count == nullptr) return "a transaction barrier begins with a count";
  if (role == Async::BARRIER_WAIT && count == nullptr) return "a wait for a transaction barrier counts phases";
  if (role == Async::BARRIER_EXPECT && bytes == nullptr) return "a transaction barrier expects a number of bytes";
  return "";
}

std::string BrokenAsync(const Instruction& instruction, OperandList& operands) {
  const Async::Role role = instruction.async().role();
  if (!Async::Role_IsValid(role) || role == Async::ROLE_UNSPECIFIED) {
    return absl::StrCat("an asynchronous instruction of unknown role ", static_cast<int>(role));
  }
  const uint32_t pending = instruction.async().most_pending();
  if (pending > kMostPending) return absl::StrCat("most_pending is above ", kMostPending);
  if (pending != 0 && role != Async::WAIT_GROUP) return "only WAIT_GROUP has most_pending";
  if (role == Async::COPY) return BrokenCopy(operands);
  if (role == Async::COMMIT || role == Async::WAIT_GROUP || role == Async::WAIT_ALL) return "";
  return BrokenTransactionBarrier(role, operands);
}

std::string BrokenMemory(const Instruction& instruction, OperandList& operands) {
  const Operand* address = operands.TakeAddress();
  const bool records = (instruction.flags() & v1::FLAG_NO_ADDRESS) == 0;
  if (!records || address == nullptr || address->space() != instruction.space() ||
      address->bytes() != instruction.access_bytes()) {
    return "the first operand of a memory instruction is its address";
  }
  return "";
}

std::string BrokenOperandsOf(const Instruction& instruction) {
  if (instruction.operand_size() > static_cast<int>(kMaxOperands)) {
    return absl::StrCat("more than ", kMaxOperands, " operands");
  }
  for (const Operand& operand : instruction.operand()) {
    if (std::string rule = BrokenOperand(operand); !rule.empty()) return rule;
  }
  OperandList operands(instruction);
  std::string rule;
  switch (instruction.op()) {
    case v1::OP_BARRIER:
      rule = BrokenBarrier(instruction, operands);
      break;
    case v1::OP_ASYNC:
      rule = BrokenAsync(instruction, operands);
      break;
    case v1::OP_LOAD:
    case v1::OP_STORE:
    case v1::OP_ATOMIC:
    case v1::OP_TEXTURE:
      if (instruction.operand_size() > 0) rule = BrokenMemory(instruction, operands);
      if (IsMatrixAccess(instruction)) operands.Take(Operand::MEMBERS);
      break;
    case v1::OP_WARP:
    case v1::OP_TENSOR:
      operands.Take(Operand::MEMBERS);
      break;
    case v1::OP_CONVERGENCE:
      if (IsWarpSync(instruction)) operands.Take(Operand::MEMBERS);
      break;
    default:
      break;
  }
  if (!rule.empty()) return rule;
  operands.SkipUniform();
  return operands.done() ? "" : "an operand that the instruction cannot have";
}

std::string BrokenMatrix(const Instruction& instruction) {
  const v1::Matrix& matrix = instruction.matrix();
  const v1::OpClass wanted = matrix.role() == v1::Matrix::LOAD    ? v1::OP_LOAD
                             : matrix.role() == v1::Matrix::STORE ? v1::OP_STORE
                                                                  : v1::OP_TENSOR;
  if (instruction.op() != wanted) return "the role of its matrix does not go with its class";
  if (!IsMatrixInstruction(matrix)) return "a matrix of a shape, role or types that there are not";
  const uint64_t registers = uint64_t{matrix.a_registers()} + matrix.b_registers() + matrix.c_registers();
  if (registers > static_cast<uint64_t>(instruction.src_size())) {
    return absl::StrCat("its matrices have ", registers, " registers, it reads ", instruction.src_size());
  }
  if (registers != 0 && matrix.role() != v1::Matrix::MULTIPLY) return "only products tell whose registers are whose";
  return "";
}

}  // namespace

uint32_t CountColumns(const Instruction& instruction) {
  if (instruction.operand_size() == 0) return Program::HasAddress(instruction) ? 1 : 0;
  return static_cast<uint32_t>(
      std::ranges::count_if(instruction.operand(), [](const Operand& operand) { return !operand.constant(); }));
}

std::vector<Column> ColumnsOf(const Program& program) {
  const std::span<const Pc> accesses = program.accesses();
  std::vector<Column> columns(accesses.size());
  for (uint32_t c = 0; c < accesses.size(); ++c) {
    const Instruction& instruction = program.instruction(accesses[c]);
    Column& column = columns[c];
    column.instruction = accesses[c];
    column.slot = SlotOf(program, c);
    column.space = instruction.space();
    column.bytes = instruction.access_bytes();
    column.access = instruction.op();
    if (instruction.operand_size() == 0) continue;
    column.operand = OperandOf(program, c);
    const Operand& operand = instruction.operand(static_cast<int>(column.operand));
    column.kind = operand.kind();
    column.space = operand.space();
    column.bytes = operand.bytes();
    if (column.kind != Operand::ADDRESS) {
      column.access = v1::OP_UNKNOWN;
    } else if (instruction.op() == v1::OP_ASYNC) {
      column.access = instruction.async().role() != Async::COPY ? v1::OP_ATOMIC
                      : column.operand == 0                     ? v1::OP_LOAD
                                                                : v1::OP_STORE;
    }
  }
  return columns;
}

uint32_t OperandOf(const Program& program, uint32_t column) {
  const std::span<const Pc> accesses = program.accesses();
  const Pc pc = accesses[column];
  const Instruction& instruction = program.instruction(pc);
  if (instruction.operand_size() == 0) return 0;
  uint32_t before = 0;  // columns of the instruction in front of it
  while (before < column && accesses[column - before - 1] == pc) ++before;
  uint32_t operand = 0;
  while (instruction.operand(static_cast<int>(operand)).constant() || before-- > 0) ++operand;
  return operand;
}

uint32_t FindColumn(const Program& program, Pc instruction, uint32_t operand) {
  const std::span<const Pc> accesses = program.accesses();
  const auto none = static_cast<uint32_t>(accesses.size());
  auto column = static_cast<uint32_t>(std::ranges::lower_bound(accesses, instruction) - accesses.begin());
  for (; column < none && accesses[column] == instruction; ++column) {
    if (OperandOf(program, column) == operand) return column;
  }
  return none;
}

Pc SlotOf(const Program& program, uint32_t column) {
  const std::span<const Pc> accesses = program.accesses();
  const bool is_first = column == 0 || accesses[column - 1] != accesses[column];
  return is_first ? accesses[column] : program.instruction_count() + column;
}

uint32_t SlotCount(const Program& program) {
  const std::span<const Pc> accesses = program.accesses();
  const bool any = std::ranges::adjacent_find(accesses) != accesses.end();
  return program.instruction_count() + (any ? static_cast<uint32_t>(accesses.size()) : 0);
}

std::string BrokenOperandRule(const Instruction& instruction) {
  if (!IsCollective(instruction)) return "";
  if (instruction.op() != v1::OP_BARRIER &&
      (instruction.barrier_role() != v1::BARRIER_SYNC || instruction.barrier_scope() != v1::SCOPE_BLOCK)) {
    return "only barriers have barrier_role and barrier_scope";
  }
  if (instruction.op() != v1::OP_ASYNC && instruction.has_async()) return "only class OP_ASYNC has async";
  const bool meets = instruction.op() == v1::OP_WARP || instruction.op() == v1::OP_TENSOR ||
                     IsMatrixAccess(instruction) || IsWarpSync(instruction);
  if (instruction.members() != 0 && !meets) return "only instructions of several lanes have members";
  if (instruction.has_matrix()) {
    if (std::string rule = BrokenMatrix(instruction); !rule.empty()) return rule;
  }
  return BrokenOperandsOf(instruction);
}

bool IsCollective(const Instruction& instruction) {
  return instruction.op() == v1::OP_ASYNC || instruction.operand_size() > 0 || instruction.has_async() ||
         instruction.has_matrix() || instruction.members() != 0 || instruction.barrier_role() != v1::BARRIER_SYNC ||
         instruction.barrier_scope() != v1::SCOPE_BLOCK || instruction.space() == v1::SPACE_CLUSTER_SHARED;
}

bool SynchronizesWarp(const Instruction& instruction) {
  if (instruction.async().role() == Async::BARRIER_WAIT || IsWarpSync(instruction)) return true;
  return instruction.op() == v1::OP_WARP && absl::StrContains(instruction.mnemonic(), "sync");
}

bool IsUnusualBarrier(const Instruction& instruction) {
  return instruction.op() == v1::OP_BARRIER &&
         (instruction.barrier_role() != v1::BARRIER_SYNC || instruction.barrier_scope() != v1::SCOPE_BLOCK);
}

}  // namespace heddle::trace
