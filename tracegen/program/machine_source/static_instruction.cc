#include "tracegen/program/machine_source/static_instruction.h"

#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tracegen/program/machine_source/collective_text.h"
#include "tracegen/program/machine_source/constant_banks.h"
#include "tracegen/ptx/collective.h"
#include "traces/format/program/control_bits.h"

namespace heddle::tracegen {
namespace {

namespace v1 = ::heddle::trace::v1;
using machine::Operand;
using machine::RegisterFile;

v1::Convergence::Role RoleOf(machine::Convergence convergence) {
  switch (convergence) {
    case machine::Convergence::kSet:
      return v1::Convergence::SET;
    case machine::Convergence::kSync:
      return v1::Convergence::SYNC;
    case machine::Convergence::kBreak:
      return v1::Convergence::BREAK;
    case machine::Convergence::kWarpSync:
      return v1::Convergence::WARP_SYNC;
    case machine::Convergence::kYield:
      return v1::Convergence::YIELD;
    case machine::Convergence::kNone:
      break;
  }
  return v1::Convergence::ROLE_UNSPECIFIED;
}

MachineDetail DetailOf(const machine::ProgramInstruction& instruction) {
  MachineDetail detail;
  detail.control = trace::PackControl(instruction.control);
  detail.convergence = RoleOf(instruction.convergence);
  for (const Operand& operand : instruction.text.operands) {
    if (operand.is_register(RegisterFile::kConvergence)) detail.convergence_barrier = operand.use.reg.number;
  }
  return detail;
}

// Numbers of a barrier and of its threads.
void ReadBarrier(const machine::Instruction& instruction, FlowInstruction* flow) {
  size_t numbers = 0;
  for (const Operand& operand : instruction.operands) {
    if (operand.kind != Operand::Kind::kImmediate || numbers == 2) continue;
    (numbers++ == 0 ? flow->barrier_id : flow->barrier_threads) = static_cast<uint32_t>(operand.value);
  }
}

// What a barrier is beyond its numbers, as of the PTX instruction that it stands for; null if it is nothing more.
std::shared_ptr<const v1::Instruction> BarrierOf(const machine::Instruction& instruction) {
  if (instruction.opcode() == "UCGABAR_ARV") return DescribeCollective("barrier.cluster.arrive", {});
  if (instruction.opcode() == "UCGABAR_WAIT") return DescribeCollective("barrier.cluster.wait", {});
  const bool reduces = instruction.Has("RED");
  std::vector<WrittenOperand> written;
  if (reduces) written.push_back({WrittenOperand::Kind::kRegister});
  for (const Operand& operand : instruction.operands) {
    if (operand.kind == Operand::Kind::kImmediate) {
      written.push_back({WrittenOperand::Kind::kConstant, static_cast<uint64_t>(operand.value)});
    } else if (operand.is_register(RegisterFile::kGeneral)) {
      written.push_back({WrittenOperand::Kind::kRegister});
    }
  }
  if (reduces) written.push_back({WrittenOperand::Kind::kPredicate});
  return DescribeCollective(reduces                  ? "barrier.red"
                            : instruction.Has("ARV") ? "barrier.arrive"
                                                     : "barrier.sync",
                            written);
}

// The lanes that a WARPSYNC waits for, where the text has their mask; null if they are all, or a register has it.
std::shared_ptr<const v1::Instruction> MembersOf(const machine::Instruction& instruction) {
  if (instruction.opcode() != "WARPSYNC" || instruction.Has("COLLECTIVE")) return nullptr;
  for (const Operand& operand : instruction.operands) {
    const auto mask = static_cast<uint32_t>(operand.value);
    if (operand.kind != Operand::Kind::kImmediate || mask == ~uint32_t{0}) continue;
    auto members = std::make_shared<v1::Instruction>();
    members->set_members(mask);
    return members;
  }
  return nullptr;
}

// The assembler makes accesses that the whole system sees of volatile ones.
bool IsVolatile(const machine::ProgramInstruction& instruction) {
  return (instruction.op == v1::OP_LOAD || instruction.op == v1::OP_STORE) && instruction.text.Has("STRONG") &&
         instruction.text.Has("SYS");
}

}  // namespace

std::string FlowName(const machine::Register& reg) {
  switch (reg.file) {
    case RegisterFile::kGeneral:
      return absl::StrCat("%r", int{reg.number});
    case RegisterFile::kPredicate:
      return absl::StrCat("%p", int{reg.number});
    case RegisterFile::kUniform:
      return absl::StrCat("%ru", int{reg.number});
    case RegisterFile::kUniformPredicate:
      return absl::StrCat("%pu", int{reg.number});
    case RegisterFile::kConvergence:
      // Of the warp; a thread keeps nothing in it, so it counts as no register.
      return absl::StrCat("%pb", int{reg.number});
  }
  return "";
}

MachineRegister ArchitectureRegister(const machine::Register& reg) {
  static constexpr v1::RegisterFile kFiles[] = {v1::FILE_GENERAL, v1::FILE_PREDICATE, v1::FILE_UNIFORM,
                                                v1::FILE_UNIFORM_PREDICATE, v1::FILE_CONVERGENCE};
  return {kFiles[static_cast<size_t>(reg.file)], reg.number};
}

FlowInstruction StaticMachineInstruction(const machine::ProgramFunction& function,
                                         const machine::ProgramInstruction& instruction, uint32_t id) {
  FlowInstruction flow;
  flow.mnemonic = instruction.text.Mnemonic();
  flow.opcode.op = instruction.op;
  flow.opcode.space = instruction.space;
  flow.opcode.access_bytes = instruction.access_bytes;
  flow.opcode.micro_ops = instruction.op == v1::OP_SFU ? 1 : 0;
  flow.opcode.is_volatile = IsVolatile(instruction);
  flow.id = id;
  flow.is_guarded = instruction.is_guarded && instruction.text.opcode() != "BRA";
  flow.cannot_return = instruction.text.opcode() == "BPT";
  for (const uint32_t number : instruction.dst) flow.dst.push_back(FlowName(function.registers[number - 1]));
  // Those of A, B and C come first, whether the same register is read again or not.
  for (const machine::Register& reg : ProductSources(instruction.text)) flow.src.push_back(FlowName(reg));
  const std::set<std::string> of_product(flow.src.begin(), flow.src.end());
  for (const uint32_t number : instruction.src) {
    std::string name = FlowName(function.registers[number - 1]);
    if (of_product.count(name) == 0) flow.src.push_back(std::move(name));
  }
  if (flow.is_guarded) {
    // What stays in a result's register where the guard is false is read, too.
    for (const std::string& name : flow.dst) flow.src.push_back(name);
  }
  flow.opcode.has_result = !flow.dst.empty();
  for (const Operand& operand : instruction.text.operands) {
    if (operand.kind != Operand::Kind::kSpecial) continue;
    flow.reads_block_index |= absl::StartsWith(operand.text, "SR_CTAID") || operand.text == "SR_CgaCtaId";
    flow.reads_clock |= absl::StrContains(operand.text, "CLOCK") || absl::StrContains(operand.text, "TIMER") ||
                        absl::StrContains(operand.text, "SMID");
  }
  // Constants that are operands are no accesses, wherever the instruction takes them from.
  if (flow.opcode.space == v1::SPACE_CONSTANT && !ReadsMovingConstant(instruction.text)) {
    flow.opcode.space = v1::SPACE_PARAM;
  }
  flow.collective = DescribeMachineCollective(instruction);
  if (flow.opcode.op == v1::OP_BARRIER) {
    flow.collective = BarrierOf(instruction.text);
    if (flow.collective == nullptr) ReadBarrier(instruction.text, &flow);
  }
  if (flow.collective == nullptr) flow.collective = MembersOf(instruction.text);
  flow.machine = std::make_shared<MachineDetail>(DetailOf(instruction));
  return flow;
}

FlowInstruction StaticJoin(uint32_t id) {
  FlowInstruction join;
  join.mnemonic = "nop.join";
  join.opcode.op = v1::OP_MOVE;
  join.opcode.has_result = false;
  join.id = id;
  return join;
}

}  // namespace heddle::tracegen
