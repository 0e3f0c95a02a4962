#include "replay/policies/divergence/shared/convergence_code.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>

namespace heddle::replay {
namespace {

using trace::v1::Convergence;
using trace::v1::Function;
using trace::v1::Instruction;
using Kind = ConvergenceStep::Kind;

// The number of the first register of that file among those that the instruction names.
std::optional<uint8_t> Named(const Function& function, const google::protobuf::RepeatedField<uint32_t>& registers,
                             trace::v1::RegisterFile file) {
  const std::string& files = function.register_file();
  for (const uint32_t number : registers) {
    if (number >= 1 && number <= files.size() && files[number - 1] == static_cast<char>(file)) {
      return static_cast<uint8_t>(function.register_number()[number - 1]);
    }
  }
  return std::nullopt;
}

// The lanes that a WARPSYNC waits for, as far as they are told: 0 in the trace means all of them, unless a register
// holds the mask.
LaneMask MembersOf(const Function& function, const Instruction& instruction) {
  if (instruction.members() != 0) return instruction.members();
  return Named(function, instruction.src(), trace::v1::FILE_GENERAL).has_value() ? 0 : ~LaneMask{0};
}

}  // namespace

ConvergenceCode::ConvergenceCode(const trace::Program& program)
    : program_(program), is_guard_(program.blocks().size()) {
  for (uint32_t b = 0; b < program.blocks().size(); ++b) {
    const trace::Block& block = program.block(b);
    first_step_.push_back(static_cast<uint32_t>(steps_.size()));
    const Function& function = program.proto().function(static_cast<int>(block.function));
    for (Pc pc = block.first; pc < block.first + block.count; ++pc) Add(function, pc);
    if (!program.DecidesGuard(block)) continue;
    const trace::Block& guarded = program.block(block.successor);
    is_guard_[b] = guarded.terminator == trace::v1::EXIT ||
                   (guarded.terminator == trace::v1::FALL_THROUGH && guarded.successor == block.taken);
  }
  first_step_.push_back(static_cast<uint32_t>(steps_.size()));
}

void ConvergenceCode::Add(const Function& function, Pc pc) {
  const Instruction& instruction = program_.instruction(pc);
  ConvergenceStep step;
  step.pc = pc;
  if (instruction.op() == trace::v1::OP_CONVERGENCE) {
    const Convergence& what = instruction.convergence();
    step.barrier = static_cast<uint8_t>(what.barrier());
    switch (what.role()) {
      case Convergence::SET:
        step.kind = Kind::kSet;
        break;
      case Convergence::SYNC:
        step.kind = Kind::kSync;
        break;
      case Convergence::BREAK:
        step.kind = Kind::kBreak;
        break;
      case Convergence::WARP_SYNC:
        // What the assembler leaves where it knows that the warp is together: the machine does nothing there.
        if (instruction.mnemonic() == "NOP") return;
        step.kind = Kind::kWarpSync;
        step.members = MembersOf(function, instruction);
        break;
      case Convergence::YIELD:
        step.kind = Kind::kYield;
        break;
      default:
        return;
    }
    steps_.push_back(step);
    return;
  }
  // A move of a barrier has no class of its own: what it writes and reads tells it.
  const std::optional<uint8_t> written = Named(function, instruction.dst(), trace::v1::FILE_CONVERGENCE);
  const std::optional<uint8_t> read = Named(function, instruction.src(), trace::v1::FILE_CONVERGENCE);
  if (written.has_value() == read.has_value()) return;
  step.kind = written.has_value() ? Kind::kRestore : Kind::kSave;
  step.barrier = written.has_value() ? *written : *read;
  const std::optional<uint8_t> general =
      Named(function, written.has_value() ? instruction.src() : instruction.dst(), trace::v1::FILE_GENERAL);
  if (!general.has_value()) return;
  step.general = *general;
  step.clears = instruction.mnemonic().find(".CLEAR") != std::string::npos;
  steps_.push_back(step);
}

std::span<const ConvergenceStep> ConvergenceCode::StepsOf(uint32_t block, Pc first, Pc last) const {
  size_t begin = first_step_[block];
  size_t end = first_step_[block + 1];
  while (begin < end && steps_[begin].pc < first) ++begin;
  while (begin < end && steps_[end - 1].pc > last) --end;
  return std::span(steps_).subspan(begin, end - begin);
}

Position ConvergenceCode::StopBehind(Position from) const {
  const uint32_t b = program_.block_of(from.pc());
  if (first_step_[b] == first_step_[b + 1]) return Position::Exit();
  const Pc last = program_.block(b).first + program_.block(b).count - 1;
  for (const ConvergenceStep& step : StepsOf(b, from.pc(), last)) {
    if (step.may_hold() && step.pc != last) return Position(step.pc + 1, from.depth());
  }
  return Position::Exit();
}

}  // namespace heddle::replay
