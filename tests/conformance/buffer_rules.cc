// The rules of the front end with instruction buffers that an issue log shows by itself.
#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "tests/conformance/rules.h"
#include "tests/reference/reference_units.h"
#include "traces/format/program/control_bits.h"

namespace heddle::replay {
namespace {

namespace v1 = trace::v1;

bool IsAccess(const v1::Instruction& instruction) {
  return instruction.op() == v1::OP_LOAD || instruction.op() == v1::OP_STORE || instruction.op() == v1::OP_ATOMIC ||
         instruction.op() == v1::OP_TEXTURE;
}

LaneMask LanesOf(const IssueEntry& issue) {
  LaneMask mask = 0;
  for (const LoggedLane& lane : issue.lanes) mask |= LaneMask{1} << lane.lane;
  return mask;
}

}  // namespace

std::string CheckDependences(const LoggedLaunch& run) {
  const machine::v1::ExecutionUnits& units = run.machine->core().units();
  const ReferenceUnits timing(run.machine->core());
  struct Thread {
    uint32_t depth = 0;
    std::map<std::pair<uint32_t, uint32_t>, Cycle> written;  // by call depth and register: not before
    std::map<uint32_t, Cycle> raised;                        // by barrier of control bits: up until
  };
  const bool by_control_bits = run.machine->core().dependences() == machine::v1::Core::CONTROL_BITS;
  std::map<std::pair<uint64_t, uint32_t>, Thread> threads;
  for (const IssueEntry& issue : run.issues) {
    const Pc pc = issue.lanes[0].pc;
    const v1::Instruction& instruction = run.program->instruction(pc);
    const UnitNeed need = timing.NeedOf(&instruction, LanesOf(issue));
    // In steps of a cycle an instruction without operands may be a step, and so a cycle, earlier.
    const bool in_steps = units.register_banks() != 0 && units.operand_steps() != 0;
    const uint32_t read_cycles = units.operand_read_cycles() - (in_steps ? 1 : 0);
    const Cycle result = IsAccess(instruction)
                             ? issue.cycle + 1
                             : issue.cycle + read_cycles + need.before_last + need.latency + units.write_back_cycles();
    const trace::Block& block = run.program->block(run.program->block_of(pc));
    const bool ends_block = pc + 1 == block.first + block.count;
    for (const LoggedLane& lane : issue.lanes) {
      Thread& thread = threads[{lane.block, lane.thread}];
      if (by_control_bits) {
        const std::optional<trace::ControlBits> bits = trace::UnpackControl(instruction.control());
        if (!bits.has_value()) continue;
        for (const auto& [barrier, until] : thread.raised) {
          if ((bits->wait_mask >> barrier & 1) == 0 || until <= issue.cycle) continue;
          return issue.Text() + ": barrier " + std::to_string(barrier) + " is up until cycle " + std::to_string(until);
        }
        if (instruction.op() == v1::OP_BARRIER || instruction.op() == v1::OP_FENCE) continue;
        Cycle& until = thread.raised[bits->write_barrier];  // of none, for which nobody can wait
        until = std::max(until, result);
        continue;
      }
      for (const auto* registers : {&instruction.src(), &instruction.dst()}) {
        for (const uint32_t number : *registers) {
          const auto written = thread.written.find({thread.depth, number});
          if (written == thread.written.end() || written->second <= issue.cycle) continue;
          return issue.Text() + ": register " + std::to_string(number) + " is not written before cycle " +
                 std::to_string(written->second);
        }
      }
      for (const uint32_t number : instruction.dst()) thread.written[{thread.depth, number}] = result;
      if (!ends_block) continue;
      if (block.terminator == v1::CALL || block.terminator == v1::CALL_INDIRECT) ++thread.depth;
      if (block.terminator == v1::RETURN) --thread.depth;
    }
  }
  return {};
}

std::string CheckUnits(const LoggedLaunch& run) {
  const machine::v1::Core& core = run.machine->core();
  const ReferenceUnits timing(core);
  struct Unit {
    Cycle until = 0;                 // its input is taken
    const IssueEntry* by = nullptr;  // by whom
  };
  std::map<std::pair<uint32_t, int>, std::vector<Unit>> all_units;  // by SM and class
  std::map<uint32_t, Cycle> memory_until;                           // by SM
  for (const IssueEntry& issue : run.issues) {
    const v1::Instruction& instruction = run.program->instruction(issue.lanes[0].pc);
    if (IsAccess(instruction)) {
      Cycle& until = memory_until[issue.sm];
      if (issue.cycle < until) return issue.Text() + ": the memory stage's input is taken";
      until = issue.cycle + timing.GroupsOf(LanesOf(issue));
      continue;
    }
    const UnitNeed need = timing.NeedOf(&instruction, LanesOf(issue));
    std::vector<Unit>& units = all_units[{issue.sm, need.unit}];
    units.resize(timing.CountOf(need.unit));
    const auto free = std::ranges::min_element(units, {}, &Unit::until);
    if (free == units.end()) return issue.Text() + ": there is no unit of its class";
    if (issue.cycle < free->until) {
      return issue.Text() + ": all units of its class are taken, the first one until cycle " +
             std::to_string(free->until) + " by " + free->by->Text();
    }
    *free = {issue.cycle + need.input_cycles, &issue};
  }
  return {};
}

}  // namespace heddle::replay
