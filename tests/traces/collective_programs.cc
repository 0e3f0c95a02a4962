#include "tests/traces/collective_programs.h"

#include <utility>

namespace heddle::trace::testing {
namespace {

// Leaves the registers.
void Become(v1::Instruction& instruction, v1::OpClass op, const char* mnemonic) {
  v1::Instruction fresh;
  fresh.set_op(op);
  fresh.set_mnemonic(mnemonic);
  *fresh.mutable_src() = instruction.src();
  *fresh.mutable_dst() = instruction.dst();
  instruction = std::move(fresh);
}

void AddAddress(v1::Instruction& instruction, v1::MemorySpace space, uint32_t bytes) {
  v1::Operand& operand = *instruction.add_operand();
  operand.set_kind(v1::Operand::ADDRESS);
  operand.set_space(space);
  operand.set_bytes(bytes);
}

void AddConstant(v1::Instruction& instruction, v1::Operand::Kind kind, uint64_t value) {
  v1::Operand& operand = *instruction.add_operand();
  operand.set_kind(kind);
  operand.set_constant(true);
  operand.set_value(value);
}

}  // namespace

void MakeCopy(v1::Instruction& instruction, uint32_t bytes) {
  Become(instruction, v1::OP_ASYNC, "cp.async.cg.shared.global");
  instruction.clear_dst();
  instruction.mutable_async()->set_role(v1::Async::COPY);
  AddAddress(instruction, v1::SPACE_GLOBAL, bytes);
  AddAddress(instruction, v1::SPACE_SHARED, bytes);
}

void MakeGroup(v1::Instruction& instruction, v1::Async::Role role, uint32_t most_pending) {
  Become(instruction, v1::OP_ASYNC, role == v1::Async::COMMIT ? "cp.async.commit_group" : "cp.async.wait_group");
  instruction.clear_dst();
  instruction.clear_src();
  instruction.mutable_async()->set_role(role);
  instruction.mutable_async()->set_most_pending(most_pending);
}

void MakeTransactionBarrier(v1::Instruction& instruction, v1::Async::Role role, uint64_t number) {
  Become(instruction, v1::OP_ASYNC, "mbarrier");
  instruction.clear_dst();
  instruction.mutable_async()->set_role(role);
  AddAddress(instruction, v1::SPACE_SHARED, 8);
  const bool counts = role == v1::Async::BARRIER_INIT || role == v1::Async::BARRIER_ARRIVE;
  if (counts || role == v1::Async::BARRIER_WAIT) AddConstant(instruction, v1::Operand::COUNT, number);
  if (role == v1::Async::BARRIER_EXPECT) AddConstant(instruction, v1::Operand::BYTES, number);
}

void MakeNamedBarrier(v1::Instruction& instruction, v1::BarrierRole role, uint32_t threads) {
  Become(instruction, v1::OP_BARRIER, role == v1::BARRIER_ARRIVE ? "bar.arrive" : "bar.sync");
  instruction.clear_dst();
  instruction.set_barrier_role(role);
  instruction.set_barrier_threads(threads);
  instruction.add_operand()->set_kind(v1::Operand::BARRIER);
  if (threads == 0) instruction.add_operand()->set_kind(v1::Operand::COUNT);
}

void MakeProduct(v1::Instruction& instruction) {
  Become(instruction, v1::OP_TENSOR, "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32");
  v1::Matrix& matrix = *instruction.mutable_matrix();
  matrix.set_role(v1::Matrix::MULTIPLY);
  matrix.set_m(16);
  matrix.set_n(8);
  matrix.set_k(16);
  matrix.set_a(v1::Matrix::F16);
  matrix.set_b(v1::Matrix::F16);
  matrix.set_c(v1::Matrix::F32);
  matrix.set_d(v1::Matrix::F32);
  matrix.set_a_registers(static_cast<uint32_t>(instruction.src_size()));
}

void MakeTiles(v1::Instruction& instruction, v1::Matrix::Role role, uint32_t tiles) {
  const bool loads = role == v1::Matrix::LOAD;
  Become(instruction, loads ? v1::OP_LOAD : v1::OP_STORE, loads ? "ldmatrix.sync.aligned" : "stmatrix.sync.aligned");
  instruction.set_space(v1::SPACE_SHARED);
  instruction.set_access_bytes(16);
  v1::Matrix& matrix = *instruction.mutable_matrix();
  matrix.set_role(role);
  matrix.set_m(8);
  matrix.set_n(8);
  matrix.set_a(v1::Matrix::B16);
  matrix.set_tiles(tiles);
}

void MakeFragment(v1::Instruction& instruction, v1::Matrix::Role role) {
  const bool loads = role == v1::Matrix::LOAD;
  Become(instruction, loads ? v1::OP_LOAD : v1::OP_STORE, loads ? "wmma.load.a.sync" : "wmma.store.d.sync");
  instruction.set_space(v1::SPACE_GLOBAL);
  instruction.set_access_bytes(loads ? 16 : 32);
  v1::Matrix& matrix = *instruction.mutable_matrix();
  matrix.set_role(role);
  matrix.set_m(16);
  matrix.set_n(16);
  matrix.set_k(16);
  matrix.set_a(loads ? v1::Matrix::F16 : v1::Matrix::F32);
}

v1::KernelProgram WithCollectives(v1::KernelProgram program) {
  uint32_t number = 0;
  for (v1::Instruction& instruction : *program.mutable_instruction()) {
    const bool is_memory = instruction.op() == v1::OP_LOAD || instruction.op() == v1::OP_STORE;
    if (!is_memory && instruction.op() != v1::OP_INT_ALU) continue;
    switch (number++ % 9) {
      case 0:
      case 4:
        if (is_memory) MakeCopy(instruction, number % 2 == 0 ? 16 : 4);
        break;
      case 1:
        MakeGroup(instruction, v1::Async::COMMIT);
        break;
      case 2:
        MakeGroup(instruction, v1::Async::WAIT_GROUP, number % 3);
        break;
      case 3:
        MakeNamedBarrier(instruction, v1::BARRIER_ARRIVE, number % 2 * 64);
        break;
      case 5:
        MakeTransactionBarrier(instruction, v1::Async::BARRIER_ARRIVE);
        break;
      case 6:
        if (!is_memory) MakeProduct(instruction);
        break;
      default:
        break;
    }
  }
  return program;
}

}  // namespace heddle::trace::testing
