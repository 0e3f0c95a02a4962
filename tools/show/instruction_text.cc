#include "tools/show/instruction_text.h"

#include <algorithm>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "traces/format/program/control_bits.h"
#include "traces/format/program/machine_code.h"

namespace heddle::tools {

std::string SourcePlace(const trace::v1::FileHeader& header, const trace::v1::Instruction& instruction) {
  const int file = static_cast<int>(instruction.source_file()) - 1;
  if (file < 0 || file >= header.source_file_size() || instruction.source_line() == 0) return "-";
  return absl::StrCat(header.source_file(file), ":", instruction.source_line());
}

std::string InstructionText(const trace::Program& program, trace::Pc pc) {
  const trace::v1::Instruction& instruction = program.instruction(pc);
  const trace::v1::Function& function =
      program.proto().function(static_cast<int>(program.block(program.block_of(pc)).function));
  std::string text =
      instruction.mnemonic().empty() ? trace::v1::OpClass_Name(instruction.op()) : instruction.mnemonic();
  if ((instruction.flags() & trace::v1::FLAG_GUARDED) != 0) text.insert(0, "@");
  const auto registers = [&](const google::protobuf::RepeatedField<uint32_t>& numbers) {
    for (uint32_t number : numbers) absl::StrAppend(&text, " ", trace::RegisterName(function, number));
  };
  registers(instruction.dst());
  if (instruction.src_size() > 0) absl::StrAppend(&text, " <-");
  registers(instruction.src());
  if (instruction.op() == trace::v1::OP_BARRIER) {
    const bool told = std::ranges::any_of(instruction.operand(), [](const trace::v1::Operand& operand) {
      return operand.kind() == trace::v1::Operand::BARRIER;
    });
    if (!told) absl::StrAppend(&text, " barrier ", instruction.barrier_id());
    if (instruction.barrier_threads() != 0) absl::StrAppend(&text, " of ", instruction.barrier_threads(), " threads");
  }
  // What the text gives; the rest is recorded thread by thread.
  for (const trace::v1::Operand& operand : instruction.operand()) {
    if (!operand.constant()) continue;
    absl::StrAppend(&text, " ", absl::AsciiStrToLower(trace::v1::Operand::Kind_Name(operand.kind())), " ",
                    operand.value());
  }
  if (instruction.members() != 0) absl::StrAppend(&text, " members 0x", absl::Hex(instruction.members()));
  if (const trace::v1::Convergence& what = instruction.convergence(); what.block() != 0) {
    absl::StrAppend(&text, " to meet at block ", what.block() - 1);
  }
  return text;
}

std::string ControlBitsText(const trace::v1::Instruction& instruction) {
  const std::optional<trace::ControlBits> bits = trace::UnpackControl(instruction.control());
  return bits.has_value() ? trace::ControlText(*bits) : "-";
}

std::string BlockEndText(const trace::Program& program, uint32_t number) {
  const trace::Block& block = program.block(number);
  const trace::v1::BasicBlock& proto = program.proto().block(static_cast<int>(number));
  std::vector<std::string> callees;
  for (uint32_t callee : proto.callee()) callees.push_back(program.proto().function(static_cast<int>(callee)).name());
  const trace::v1::Instruction& last = program.instruction(block.first + block.count - 1);
  const bool stays = (last.flags() & trace::v1::FLAG_CANNOT_RETURN) != 0;
  std::string text;
  switch (block.terminator) {
    case trace::v1::BRANCH_CONDITIONAL:
      text = absl::StrCat("goes on at block ", block.successor, ", or at ", block.taken,
                          program.DecidesGuard(block) ? " if its guard is false" : " if the branch is taken");
      break;
    case trace::v1::BRANCH_WIDE:
      text = absl::StrCat("goes on at one of blocks ", absl::StrJoin(proto.successor(), ", "));
      break;
    case trace::v1::CALL:
    case trace::v1::CALL_INDIRECT:
      text = absl::StrCat("calls ", absl::StrJoin(callees, " or "), ", then goes on at block ", block.successor);
      break;
    case trace::v1::RETURN:
      text = "returns";
      break;
    case trace::v1::EXIT:
      text = stays ? "traps, or is never reached" : "exits";
      break;
    default:
      text = absl::StrCat("goes on at block ", block.successor);
      break;
  }
  const bool branches = block.terminator == trace::v1::BRANCH_CONDITIONAL || block.terminator == trace::v1::BRANCH_WIDE;
  if (branches) {
    absl::StrAppend(&text, "; paths meet again at ",
                    block.post_dominator == trace::kNoBlock ? "the end of the function"
                                                            : absl::StrCat("block ", block.post_dominator));
  }
  if (stays && block.terminator != trace::v1::EXIT) absl::StrAppend(&text, "; never comes to an end");
  if (block.loop_depth > 0) absl::StrAppend(&text, "; loop depth ", block.loop_depth);
  return text;
}

}  // namespace heddle::tools
