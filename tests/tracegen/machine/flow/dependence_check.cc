#include "tests/tracegen/machine/flow/dependence_check.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace heddle::tracegen::machine {
namespace {

// Instructions of variable latency of one unit read their operands, and write their results, in order.
enum Unit : uint8_t { kMemory, kDouble, kOther, kUnits };

Unit UnitOf(const ProgramInstruction& instruction) {
  switch (instruction.op) {
    case trace::v1::OP_LOAD:
    case trace::v1::OP_STORE:
    case trace::v1::OP_ATOMIC:
    case trace::v1::OP_TEXTURE:
      return kMemory;
    case trace::v1::OP_FP64:
      return kDouble;
    default:
      return instruction.text.opcode() == "SHFL" ? kMemory : kOther;
  }
}

// In place of a barrier: the producer set none, so a later one of its unit and kind has to. Loads of shared memory do
// not come behind earlier loads of global memory: each kind covers its own.
constexpr uint8_t kUnprotectedShared = 1u << 6;
constexpr uint8_t kUnprotected = 1u << 7;

uint8_t UnprotectedMark(const ProgramInstruction& instruction) {
  const bool is_shared = instruction.space == trace::v1::SPACE_SHARED || instruction.text.opcode() == "SHFL";
  return is_shared ? kUnprotectedShared : kUnprotected;
}

// By register: barriers that a later instruction has to wait for, as bits.
struct UnitPending {
  std::vector<uint8_t> written;
  std::vector<uint8_t> read;
};

struct Pending {
  UnitPending units[kUnits];

  explicit Pending(size_t registers) {
    for (UnitPending& unit : units) {
      unit.written.resize(registers + 1);
      unit.read.resize(registers + 1);
    }
  }

  void Wait(uint8_t mask) {
    for (UnitPending& unit : units) {
      for (uint8_t& bits : unit.written) bits &= static_cast<uint8_t>(~mask);
      for (uint8_t& bits : unit.read) bits &= static_cast<uint8_t>(~mask);
    }
  }
  // What the unit wrote with this mark, without a barrier, is there when this barrier is down.
  void Protect(Unit unit, uint8_t mark, uint8_t barrier) {
    for (uint8_t& bits : units[unit].written) {
      if ((bits & mark) != 0) bits = static_cast<uint8_t>((bits & ~mark) | barrier);
    }
  }
  bool Merge(const Pending& other) {
    bool grew = false;
    for (size_t unit = 0; unit < kUnits; ++unit) {
      for (auto [mine, its] : {std::pair(&units[unit].written, &other.units[unit].written),
                               std::pair(&units[unit].read, &other.units[unit].read)}) {
        for (size_t i = 0; i < mine->size(); ++i) {
          const uint8_t all = (*mine)[i] | (*its)[i];
          grew |= all != (*mine)[i];
          (*mine)[i] = all;
        }
      }
    }
    return grew;
  }
};

// Barriers that DEPBAR waits for, besides those of its control bits: SB0 and {3,1}.
uint8_t DepbarMask(const Instruction& instruction) {
  uint8_t mask = 0;
  if (instruction.opcode() != "DEPBAR") return mask;
  for (const Operand& operand : instruction.operands) {
    if (operand.kind != Operand::Kind::kScoreboard) continue;
    for (const char c : operand.text) {
      if (c >= '0' && c <= '5') mask |= static_cast<uint8_t>(1u << (c - '0'));
    }
  }
  return mask;
}

// Fewest cycles that the assembler sets between a result of fixed latency and a read of it.
constexpr uint32_t kLeastCycles = 4;
// Of a uniform register, such as between a ULDC and a load by its result.
constexpr uint32_t kLeastUniformCycles = 2;
// On Hopper, beside IMAD.WIDE, which takes the words of its pairs in turn.
constexpr uint32_t kLeastWideCycles = 2;

class FunctionCheck {
 public:
  FunctionCheck(const MachineProgram& program, const ProgramFunction& function, DependenceReport* report)
      : program_(program), function_(function), report_(*report) {}

  void Run() {
    const size_t registers = function_.registers.size();
    std::vector<Pending> at_begin(function_.block_count, Pending(registers));
    std::vector<bool> seen(function_.block_count);
    std::vector<uint32_t> work = {0};
    seen[0] = true;
    while (!work.empty()) {
      const uint32_t number = work.back();
      work.pop_back();
      Pending pending = at_begin[number];
      const ProgramBlock& block = program_.blocks[function_.first_block + number];
      for (uint32_t i = 0; i < block.instruction_count; ++i) {
        Step(program_.instructions[block.first_instruction + i], false, &pending);
      }
      if (!block.callees.empty() || block.terminator == trace::v1::CALL_INDIRECT) pending = Pending(registers);
      for (const uint32_t successor : block.successors) {
        if (successor >= kNoBlock) continue;
        const uint32_t next = successor - function_.first_block;
        if (at_begin[next].Merge(pending) || !seen[next]) work.push_back(next);
        seen[next] = true;
      }
    }
    for (uint32_t number = 0; number < function_.block_count; ++number) {
      if (!seen[number]) continue;
      const ProgramBlock& block = program_.blocks[function_.first_block + number];
      for (uint32_t i = 0; i < block.instruction_count; ++i) {
        Step(program_.instructions[block.first_instruction + i], true, &at_begin[number]);
      }
      CheckStalls(block);
    }
  }

 private:
  std::string Place(const ProgramInstruction& instruction) const {
    return absl::StrFormat("%s+0x%x: %s", function_.section, instruction.offset, InstructionText(instruction.text));
  }

  void Violation(const ProgramInstruction& instruction, const char* what, uint32_t reg) {
    report_.violations.push_back(absl::StrCat(Place(instruction), " does not wait for ",
                                              RegisterText(function_.registers[reg - 1]), ", which ", what));
  }

  static bool IsVariable(const ProgramInstruction& instruction) {
    const Latency latency = instruction.text.form->latency;
    return latency == Latency::kVariable ||
           (latency == Latency::kEither && instruction.control.write_barrier != Control::kNoBarrier);
  }

  void Step(const ProgramInstruction& instruction, bool tell, Pending* pending) {
    const Control& control = instruction.control;
    pending->Wait(control.wait_mask | DepbarMask(instruction.text));
    const bool is_variable = IsVariable(instruction);
    const Unit own = UnitOf(instruction);
    for (uint8_t unit = 0; tell && unit < kUnits; ++unit) {
      const UnitPending& others = pending->units[unit];
      for (const uint32_t reg : instruction.src) {
        if (others.written[reg] != 0) Violation(instruction, "was not written yet", reg);
      }
      if (is_variable && unit == own) continue;
      for (const uint32_t reg : instruction.dst) {
        if (others.written[reg] != 0) Violation(instruction, "is still to be written", reg);
        if (others.read[reg] != 0) Violation(instruction, "is still to be read", reg);
      }
    }
    if (!is_variable) return;
    UnitPending& mine = pending->units[own];
    uint8_t write = UnprotectedMark(instruction);
    if (control.write_barrier != Control::kNoBarrier) {
      pending->Protect(own, write, static_cast<uint8_t>(1u << control.write_barrier));
      write = static_cast<uint8_t>(1u << control.write_barrier);
    }
    for (const uint32_t reg : instruction.dst) mine.written[reg] |= write;
    if (control.read_barrier != Control::kNoBarrier) {
      for (const uint32_t reg : instruction.src) {
        if (function_.registers[reg - 1].file != RegisterFile::kGeneral) continue;
        mine.read[reg] |= static_cast<uint8_t>(1u << control.read_barrier);
      }
    }
    if (tell) report_.variable_checked += instruction.dst.size() + instruction.src.size();
  }

  uint32_t LeastCycles(const ProgramInstruction& producer, const ProgramInstruction& reader, uint32_t reg) const {
    const RegisterFile file = function_.registers[reg - 1].file;
    if (file == RegisterFile::kUniform || file == RegisterFile::kUniformPredicate) return kLeastUniformCycles;
    const bool is_wide = producer.text.Has("WIDE") || reader.text.Has("WIDE");
    return is_wide && program_.architecture == Architecture::kSm90 ? kLeastWideCycles : kLeastCycles;
  }

  void CheckStalls(const ProgramBlock& block) {
    struct Result {
      uint32_t cycle = 0;
      const ProgramInstruction* producer = nullptr;
    };
    std::map<uint32_t, Result> results;
    uint32_t cycle = 0;
    for (uint32_t i = 0; i < block.instruction_count; ++i) {
      const ProgramInstruction& instruction = program_.instructions[block.first_instruction + i];
      for (const uint32_t reg : instruction.src) {
        const auto found = results.find(reg);
        if (found == results.end()) continue;
        const uint32_t apart = cycle - found->second.cycle;
        ++report_.fixed_checked;
        const std::string opcode(found->second.producer->text.opcode());
        const auto [fewest, is_new] = report_.fewest_cycles.try_emplace(opcode, apart);
        fewest->second = std::min(fewest->second, apart);
        if (apart < LeastCycles(*found->second.producer, instruction, reg)) {
          report_.violations.push_back(absl::StrCat(Place(instruction), " comes ", apart, " cycles behind ",
                                                    InstructionText(found->second.producer->text)));
        }
      }
      for (const uint32_t reg : instruction.dst) {
        if (IsVariable(instruction)) {
          results.erase(reg);
        } else {
          results[reg] = {cycle, &instruction};
        }
      }
      cycle += std::max<uint32_t>(instruction.control.stall, 1);
    }
  }

  const MachineProgram& program_;
  const ProgramFunction& function_;
  DependenceReport& report_;
};

}  // namespace

void CheckDependences(const MachineProgram& program, DependenceReport* report) {
  for (const ProgramFunction& function : program.functions) FunctionCheck(program, function, report).Run();
}

}  // namespace heddle::tracegen::machine
