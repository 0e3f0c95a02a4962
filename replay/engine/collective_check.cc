#include "replay/engine/collective_check.h"

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "replay/core/issue_table.h"
#include "traces/base/status_macros.h"
#include "traces/format/program/instruction_place.h"
#include "traces/format/program/matrix_shapes.h"
#include "traces/format/program/operands.h"

namespace heddle::replay {
namespace {

using trace::v1::Async;
using trace::v1::Instruction;
using trace::v1::Operand;

bool HasRecorded(const Instruction& instruction, Operand::Kind kind) {
  for (const Operand& operand : instruction.operand()) {
    if (operand.kind() == kind && !operand.constant()) return true;
  }
  return false;
}

// Whether the machine has rates of products, but none for the elements of this one.
bool LacksElements(const machine::v1::Core& core, const Instruction& instruction) {
  if (core.front_end() != machine::v1::Core::IBUFFER || core.units().tensor_timing_size() == 0) return false;
  if (instruction.matrix().role() != trace::v1::Matrix::MULTIPLY) return false;
  return FindTensorTiming(core.units(), ElementsOf(instruction.matrix())) == nullptr;
}

// What about the instruction no replay knows; empty if there is nothing.
std::string NotKnown(const Instruction& instruction) {
  if (instruction.op() == trace::v1::OP_BARRIER) return "";
  if (instruction.op() == trace::v1::OP_ASYNC) {
    const bool is_copy = instruction.async().role() == Async::COPY;
    if (is_copy && instruction.operand(0).space() != trace::v1::SPACE_GLOBAL) {
      return "asynchronous copies that do not begin in global memory";
    }
    if (is_copy && instruction.operand(1).space() != trace::v1::SPACE_SHARED) {
      return "asynchronous copies that do not end in shared memory";
    }
    for (const Operand& operand : instruction.operand()) {
      if (!is_copy && operand.kind() == Operand::BYTES) return "bytes that a transaction barrier expects";
    }
    return HasRecorded(instruction, Operand::UNIFORM) ? "values of uniform registers at asynchronous instructions" : "";
  }
  if (instruction.has_matrix() && instruction.members() != 0 && instruction.members() != ~uint32_t{0}) {
    return "matrix instructions of some threads of a warp";
  }
  if (HasRecorded(instruction, Operand::MEMBERS)) return "masks of lanes that registers hold";
  if (instruction.has_matrix() && HasRecorded(instruction, Operand::UNIFORM)) {
    return "values of uniform registers at matrix instructions";
  }
  return "";
}

}  // namespace

absl::Status CheckCollectives(const trace::TraceReader& reader, const trace::LaunchView& launch,
                              const ReplayOptions& options) {
  const trace::Program& program = *launch.program;
  for (trace::Pc pc = 0; pc < program.instruction_count(); ++pc) {
    const Instruction& instruction = program.instruction(pc);
    const bool meets = instruction.has_matrix();
    if (!meets && !trace::IsCollective(instruction)) continue;
    const auto place = [&] { return trace::InstructionPlace(reader.header(), program, pc); };
    if (const std::string what = NotKnown(instruction); !what.empty()) {
      return absl::UnimplementedError(absl::StrCat(what, " cannot be replayed yet: ", place()));
    }
    if (LacksElements(options.machine.core(), instruction)) {
      return absl::FailedPreconditionError(absl::StrCat(
          "machine ", options.machine.name(), " has no products of these elements: ", instruction.mnemonic(), ", ",
          place(), "; use a machine that has them, or add them to core.units.tensor_timing"));
    }
    if (!meets || options.force_regrouping) continue;
    if (options.machine.core().warp_size() < trace::kMatrixThreads) {
      return absl::FailedPreconditionError(
          absl::StrCat("the ", trace::kMatrixThreads, " threads of a matrix instruction must be ",
                       "together, and the machine's warps have ", options.machine.core().warp_size(), ": ", place()));
    }
  }
  return absl::OkStatus();
}

}  // namespace heddle::replay
