#include "tracegen/program/machine_source/uniform_values.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tracegen/program/analysis.h"
#include "tracegen/program/link.h"
#include "tracegen/program/machine_source/function_shapes.h"
#include "traces/format/program/operands.h"

namespace heddle::tracegen {
namespace {

namespace v1 = ::heddle::trace::v1;
using machine::Operand;
using machine::ProgramBlock;
using machine::ProgramFunction;
using machine::ProgramInstruction;
using machine::Register;
using machine::RegisterFile;

bool IsUniform(const Register& reg) {
  return reg.file == RegisterFile::kUniform || reg.file == RegisterFile::kUniformPredicate;
}

// By the rules of calls, R1. Its threads begin with the same number, but each with a stack of its own here.
bool IsStackPointer(const Register& reg) { return reg.file == RegisterFile::kGeneral && reg.number == 1; }

// What is known of a register at a place. Numbers from 1 are values that are the same for all threads of the launch.
constexpr int kUnset = 0;  // no way to the place sets it
constexpr int kVaries = -1;

// The assembler puts it above the block's own addresses of shared memory, wherever they are used.
constexpr std::string_view kRankInCluster = "SR_CgaCtaId";
constexpr std::string_view kZero = "SRZ";

// By number of the function's registers, from 1.
using State = std::vector<int>;

// Follows the values of registers through a function.
class UniformFlow {
 public:
  UniformFlow(const MachineContext& in, uint32_t index)
      : in_(in), function_(in.function(index)), program_(in.program()), entry_(function_.block_count) {
    State first(function_.registers.size() + 1, kUnset);
    if (!function_.is_kernel) LoseAll(first);
    Enter(function_.first_block, first);
    while (!due_.empty()) {
      const uint32_t block = due_.back();
      due_.pop_back();
      Follow(block);
    }
  }

  UniformReads TakeReads() { return std::move(reads_); }

 private:
  // Of callers nothing is known but that their threads have the stack at one place.
  void LoseAll(State& state) const {
    for (size_t i = 0; i < function_.registers.size(); ++i) {
      if (!IsStackPointer(function_.registers[i])) state[i + 1] = kVaries;
    }
  }

  void Enter(uint32_t block, const State& state) {
    if (block < function_.first_block || block >= function_.first_block + function_.block_count) return;  // it leaves
    State& known = entry_[block - function_.first_block];
    if (known.empty()) {
      known = state;
      due_.push_back(block);
      return;
    }
    bool grew = false;
    for (size_t i = 0; i < known.size(); ++i) {
      if (state[i] == kUnset || known[i] == state[i] || known[i] == kVaries) continue;
      known[i] = known[i] == kUnset ? state[i] : kVaries;
      grew = true;
    }
    if (grew) due_.push_back(block);
  }

  void Follow(uint32_t number) {
    State state = entry_[number - function_.first_block];
    const ProgramBlock& block = program_.blocks[number];
    for (uint32_t i = 0; i < block.instruction_count; ++i) Run(block.first_instruction + i, state);
    if (block.terminator == v1::CALL_INDIRECT) LoseAll(state);
    for (const uint32_t callee : block.callees) Return(callee, state);
    for (const uint32_t next : block.successors) Enter(next, state);
  }

  // Behind a call: what the callee, or what it calls, has written.
  void Return(uint32_t callee, State& state) const {
    const std::vector<Register>& written = in_.shapes[callee].returned;
    for (size_t i = 0; i < function_.registers.size(); ++i) {
      const Register& reg = function_.registers[i];
      if (!IsStackPointer(reg) && std::ranges::find(written, reg) != written.end()) state[i + 1] = kVaries;
    }
  }

  const Register& RegisterOf(uint32_t number) const { return function_.registers[number - 1]; }

  void Run(uint32_t pc, State& state) {
    const ProgramInstruction& instruction = program_.instructions[pc];
    std::vector<uint32_t> inputs = instruction.src;
    // What stays where the guard is false.
    if (instruction.is_guarded) inputs.insert(inputs.end(), instruction.dst.begin(), instruction.dst.end());
    std::vector<uint32_t> read;
    bool known = IsFunctionOfInputs(instruction);
    bool unset = false;
    for (const uint32_t number : inputs) {
      known &= state[number] != kVaries && RegisterOf(number).file != RegisterFile::kConvergence;
      unset |= state[number] == kUnset && !IsStackPointer(RegisterOf(number));
      if (state[number] != kVaries || !IsUniform(RegisterOf(number))) continue;
      if (std::ranges::find(read, number) == read.end()) read.push_back(number);
    }
    const int value = !known ? kVaries : unset ? kUnset : ValueOf(instruction, inputs, state);
    for (const uint32_t number : instruction.dst) state[number] = value;
    if (read.empty() || WritesUniformOnly(instruction)) return;
    if (instruction.is_guarded && IsArithmetic(instruction.op) && ReadsBesidesGuard(instruction, read)) {
      reads_.alone.insert(pc);
    }
    reads_.registers[pc] = std::move(read);
  }

  // Of its guard threads record how they decide.
  bool ReadsBesidesGuard(const ProgramInstruction& instruction, const std::vector<uint32_t>& read) const {
    return std::ranges::any_of(read,
                               [&](uint32_t number) { return !(RegisterOf(number) == instruction.text.guard->reg); });
  }

  // Whether it is work of the uniform datapath.
  bool WritesUniformOnly(const ProgramInstruction& instruction) const {
    return !instruction.dst.empty() &&
           std::ranges::all_of(instruction.dst, [this](uint32_t number) { return IsUniform(RegisterOf(number)); });
  }

  // Whether registers, constant banks and numbers in the text are all that its results come from.
  static bool IsFunctionOfInputs(const ProgramInstruction& instruction) {
    const auto differs = [](const Operand& operand) {
      return (operand.kind == Operand::Kind::kSpecial && operand.text != kRankInCluster && operand.text != kZero) ||
             operand.kind == Operand::Kind::kAllPredicates;
    };
    if (std::ranges::any_of(instruction.text.operands, differs)) return false;
    const std::string_view opcode = instruction.text.opcode();
    switch (instruction.op) {
      case v1::OP_LOAD:
        return opcode == "LDC" || opcode == "ULDC";
      case v1::OP_MOVE:
      case v1::OP_INT_ALU:
      case v1::OP_INT_MUL:
      case v1::OP_FP32:
      case v1::OP_CONVERT:
        return opcode != "LEPC" && opcode != "B2R";
      default:
        return false;
    }
  }

  // Instructions of one text and equal inputs give equal results, wherever they stand.
  int ValueOf(const ProgramInstruction& instruction, const std::vector<uint32_t>& inputs, const State& state) {
    std::pair<std::string, std::vector<int>> key{machine::InstructionText(instruction.text), {}};
    for (const uint32_t number : inputs) key.second.push_back(state[number]);
    return values_.try_emplace(std::move(key), static_cast<int>(values_.size()) + 1).first->second;
  }

  const MachineContext& in_;
  const ProgramFunction& function_;
  const machine::MachineProgram& program_;
  std::vector<State> entry_;  // by block of the function; empty for those that nothing has led to
  std::vector<uint32_t> due_;
  std::map<std::pair<std::string, std::vector<int>>, int> values_;
  UniformReads reads_;
};

// Whether the instruction can have operands of this kind where replays know what to do with them.
bool MayRecord(const FlowInstruction& instruction, bool under_guard) {
  // A guarded instruction with something recorded stands alone for the threads whose guard holds.
  if (instruction.collective != nullptr || (instruction.is_guarded && !under_guard)) return false;
  static const auto& nobody = *new std::vector<const llvm::Instruction*>();
  if (IsArithmetic(instruction.opcode.op)) return true;
  switch (instruction.opcode.op) {
    case v1::OP_LOAD:
    case v1::OP_STORE:
    case v1::OP_ATOMIC:
      return CountColumns(instruction, nobody) == 1;
    case v1::OP_BRANCH:
    case v1::OP_WARP:
      return true;
    default:
      return false;
  }
}

// The operands of a memory instruction begin with its address.
std::shared_ptr<const v1::Instruction> OperandsFor(const FlowInstruction& instruction, size_t registers) {
  auto operands = std::make_shared<v1::Instruction>();
  if (instruction.opcode.space != v1::SPACE_NONE) {
    v1::Operand& address = *operands->add_operand();
    address.set_kind(v1::Operand::ADDRESS);
    address.set_space(instruction.opcode.space);
    address.set_bytes(instruction.opcode.access_bytes);
  }
  for (size_t i = 0; i < registers; ++i) operands->add_operand()->set_kind(v1::Operand::UNIFORM);
  return operands;
}

}  // namespace

UniformReads FindUniformReads(const MachineContext& in, uint32_t function) {
  return UniformFlow(in, function).TakeReads();
}

void RecordUniformValues(const MachineContext& in, uint32_t function, const UniformReads& reads,
                         MachineLayout& layout) {
  const ProgramInstruction* const first = in.program().instructions.data();
  const std::vector<Register>& registers = in.function(function).registers;
  for (size_t n = 0; n < layout.nodes.size(); ++n) {
    for (MachineStep& step : layout.nodes[n].steps) {
      const auto found = reads.registers.find(static_cast<uint32_t>(step.instruction - first));
      FlowInstruction& instruction = layout.flow.nodes[n].instructions[step.flow_index];
      if (found == reads.registers.end() || !MayRecord(instruction, layout.nodes[n].under_guard)) continue;
      for (const uint32_t number : found->second) {
        const Register& reg = registers[number - 1];
        // Whoever is in a block for a guard has decided on it in front.
        if (layout.nodes[n].under_guard && step.instruction->text.guard && reg == step.instruction->text.guard->reg) {
          continue;
        }
        if (step.uniform.size() + 1 < trace::kMaxOperands) step.uniform.push_back(reg);
      }
      if (!step.uniform.empty()) instruction.collective = OperandsFor(instruction, step.uniform.size());
    }
  }
}

}  // namespace heddle::tracegen
