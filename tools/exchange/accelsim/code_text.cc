#include "tools/exchange/accelsim/code_text.h"

#include <algorithm>
#include <charconv>
#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tools/exchange/accelsim/code_layout.h"
#include "tools/exchange/accelsim/kernel_file.h"
#include "tools/exchange/accelsim/machine_operands.h"
#include "tools/exchange/accelsim/sass.h"
#include "traces/base/status_macros.h"
#include "traces/format/program/operands.h"

namespace heddle::tools::accelsim {
namespace {

using trace::Pc;
using trace::v1::Instruction;

constexpr uint32_t kVolta = 70;  // whose opcodes sass.h gives
// Most operands that Accel-Sim's reader takes (MAX_DST and MAX_SRC in trace_parser.h).
constexpr size_t kMostDst = 1;
constexpr size_t kMostSrc = 4;
// What the assembler has no instruction for, see docs/reference/format.md.
constexpr char kJoin[] = "nop.join";

// Where the trace has what stands elsewhere in the code; nothing if branches of the code's own are in between.
std::string MovedText(const trace::Program& program, const CodeLayout& layout) {
  std::vector<KernelHeader::Moved> runs;
  const auto add = [&](uint32_t b) {
    const trace::Block& block = program.block(b);
    if (!runs.empty() && runs.back().place + runs.back().count == block.first) {
      runs.back().count += block.count;
    } else {
      runs.push_back({layout.places[b].first, block.count, block.first});
    }
  };
  for (const uint32_t b : layout.order) {
    if (layout.places[b].jumps_behind) return "";
    add(b);
  }
  std::string text;
  if (runs.size() < 2) return text;
  constexpr size_t kRunsPerLine = 1000;
  for (size_t i = 0; i < runs.size(); ++i) {
    if (i % kRunsPerLine == 0) absl::StrAppend(&text, i == 0 ? "-" : "\n-", kMovedHeader, " =");
    absl::StrAppend(&text, " ", runs[i].first, " ", runs[i].count, " ", runs[i].place);
  }
  return text + "\n";
}

std::string PcText(uint64_t position) { return absl::StrCat(absl::Hex(position * kOurPcBytes, absl::kZeroPad4), " "); }

// " COUNT R1 R2 ...", as many as the format holds.
std::string RegistersText(const std::vector<uint32_t>& registers, size_t most, uint64_t& lost) {
  const size_t count = std::min(registers.size(), most);
  lost += registers.size() - count;
  std::string text = absl::StrCat(" ", count);
  for (size_t i = 0; i < count; ++i) absl::StrAppend(&text, " R", registers[i]);
  return text;
}

// Of PTX, registers keep their numbers.
TracedOperands VirtualOperands(const Instruction& instruction) {
  const auto numbers = [](const google::protobuf::RepeatedField<uint32_t>& registers) {
    std::vector<uint32_t> found;
    for (const uint32_t counted : registers) {
      const uint32_t number = counted - 1;
      found.push_back(number < kZeroRegister ? number : number + 1);
    }
    return found;
  };
  return {numbers(instruction.dst()), numbers(instruction.src())};
}

class CodeWriter {
 public:
  CodeWriter(const trace::Program& program, const WindowBases& windows)
      : program_(program), windows_(windows), is_machine_(program.proto().level() == trace::v1::LEVEL_MACHINE) {}

  absl::StatusOr<CodeText> Write() {
    text_.binary_version = kVolta;
    if (is_machine_) HEDDLE_RETURN_IF_ERROR(FindVersion());
    HEDDLE_RETURN_IF_ERROR(LayOutBlocks());
    text_.jumps_behind.resize(program_.blocks().size());
    for (const trace::v1::Function& function : program_.proto().function()) {
      for (uint32_t b = 0; b < function.block_count(); ++b) {
        HEDDLE_RETURN_IF_ERROR(AddBlock(function, function.first_block() + b));
      }
    }
    if (is_machine_) {
      FindMeetingPlaces();
      AddGuarded();
    }
    return std::move(text_);
  }

 private:
  bool IsJoin(Pc pc) const { return is_machine_ && program_.instruction(pc).mnemonic() == kJoin; }

  absl::Status FindVersion() {
    constexpr absl::string_view kPrefix = "sm_";
    absl::string_view target = program_.proto().target();
    uint32_t version = 0;
    if (target.substr(0, kPrefix.size()) == kPrefix) {
      const absl::string_view digits = target.substr(kPrefix.size());
      std::from_chars(digits.data(), digits.data() + digits.size(), version);
    }
    if (version != 75 && version != 80 && version != 86) {
      return absl::UnimplementedError(
          absl::StrCat("is machine code of ", target.empty() ? "an unknown card" : target,
                       ", whose opcodes Accel-Sim does not know; capture with --arch sm_75, sm_80 or sm_86"));
    }
    text_.binary_version = version;
    return absl::OkStatus();
  }

  absl::StatusOr<std::string> OpcodeOf(Pc pc) const {
    const Instruction& instruction = program_.instruction(pc);
    if (is_machine_) return instruction.mnemonic();
    if (instruction.op() == trace::v1::OP_BRANCH &&
        program_.block(program_.block_of(pc)).terminator == trace::v1::BRANCH_WIDE) {
      return "BRX";  // import takes the immediate of a BRA for where it leads
    }
    absl::StatusOr<std::string> opcode = SassOf(instruction);
    if (opcode.ok()) return opcode;
    return absl::UnimplementedError(
        absl::StrCat("instruction ", pc, " (", instruction.mnemonic(), "): ", opcode.status().message()));
  }

  absl::Status LayOutBlocks() {
    for (const trace::Block& block : program_.blocks()) {
      const absl::StatusOr<std::string> last = OpcodeOf(block.first + block.count - 1);
      const absl::StatusOr<SassClass> what = last.ok() ? ClassifySass(*last) : last.status();
      jumps_.push_back(what.ok() && what->jumps);
    }
    layout_ = LayOut(program_, jumps_);
    if (!is_machine_) {
      text_.header = MovedText(program_, layout_);
      return absl::OkStatus();
    }
    uint32_t position = 0;
    for (const uint32_t b : layout_.order) {
      const trace::Block& block = program_.block(b);
      layout_.places[b].first = position;
      position += static_cast<uint32_t>(CountOf(block)) + (layout_.places[b].jumps_behind ? 1 : 0);
    }
    return absl::OkStatus();
  }

  uint64_t Place(uint32_t block) const { return uint64_t{layout_.places[block].first} * kOurPcBytes; }

  absl::Status AddBlock(const trace::v1::Function& function, uint32_t b) {
    const trace::Block& block = program_.block(b);
    uint32_t position = layout_.places[b].first;
    for (Pc pc = block.first; pc < block.first + block.count; ++pc) {
      HEDDLE_ASSIGN_OR_RETURN(const std::string opcode, OpcodeOf(pc));
      Line& line = text_.lines.emplace_back();
      line.pc = PcText(position);
      line.is_left_out = IsJoin(pc);
      position += line.is_left_out ? 0 : 1;
      AddOperands(function, pc, opcode, line);
      AddAddresses(program_.instruction(pc), opcode, line);
    }
    HEDDLE_RETURN_IF_ERROR(EndBlock(b, block));
    if (!layout_.places[b].jumps_behind) return absl::OkStatus();
    Line& jump = text_.jumps_behind[b].emplace();
    jump.pc = PcText(position);
    jump.operands = " 0 BRA 0 0";
    jump.immediate = Place(layout_.FallThrough(program_, b));
    return absl::OkStatus();
  }

  void AddOperands(const trace::v1::Function& function, Pc pc, const std::string& opcode, Line& line) {
    const Instruction& instruction = program_.instruction(pc);
    const bool are_named = is_machine_ && !function.register_file().empty();
    const TracedOperands operands = are_named ? OperandsOf(function, instruction) : VirtualOperands(instruction);
    absl::StrAppend(&line.operands, RegistersText(operands.dst, kMostDst, text_.lost_registers), " ", opcode,
                    RegistersText(operands.src, kMostSrc, text_.lost_registers));
  }

  void AddAddresses(const Instruction& instruction, const std::string& opcode, Line& line) const {
    line.columns = trace::CountColumns(instruction);
    if (instruction.op() == trace::v1::OP_BARRIER) {
      // The tracer writes an instruction's last number: the threads, if the barrier is of some.
      line.immediate = instruction.barrier_threads() != 0 ? instruction.barrier_threads() : instruction.barrier_id();
    }
    if (instruction.async().role() == trace::v1::Async::WAIT_GROUP) line.immediate = instruction.async().most_pending();
    if (instruction.async().role() == trace::v1::Async::COPY) {
      line.addresses = {{1, windows_.shared}, {0, 0}};  // the tracer has the place in shared memory first
    } else if (trace::Program::HasAddress(instruction) && !(is_machine_ && IsConstant(instruction))) {
      line.addresses = {{0, is_machine_ ? BaseOf(instruction.space()) : 0}};
    }
    const uint32_t width = is_machine_ ? TracedWidth(opcode) : instruction.access_bytes();
    absl::StrAppend(&line.operands, " ", line.addresses.empty() ? 0 : width);
  }

  uint64_t BaseOf(trace::v1::MemorySpace space) const {
    if (space == trace::v1::SPACE_SHARED) return windows_.shared;
    return space == trace::v1::SPACE_LOCAL ? windows_.local : 0;
  }

  // To the tracer a place in a constant bank is no address.
  static bool IsConstant(const Instruction& instruction) {
    return instruction.space() == trace::v1::SPACE_CONSTANT || instruction.space() == trace::v1::SPACE_PARAM;
  }

  absl::Status EndBlock(uint32_t b, const trace::Block& block) {
    Line& last = text_.lines.back();
    if (block.terminator == trace::v1::BRANCH_CONDITIONAL) {
      if (is_machine_ && program_.DecidesGuard(block)) return absl::OkStatus();
      if (!jumps_[b]) {
        return absl::UnimplementedError(absl::StrCat("basic block ", b, " branches without a branch at its end"));
      }
      last.falls_to = program_.block(layout_.FallThrough(program_, b)).first;
      last.immediate = Place(layout_.Goal(program_, b));
    } else if (block.terminator == trace::v1::CALL) {
      last.immediate = Place(program_.targets()[block.first_target]);
    } else if (block.terminator == trace::v1::FALL_THROUGH && jumps_[b]) {
      last.immediate = Place(block.successor);
    }
    return absl::OkStatus();
  }

  void FindMeetingPlaces() {
    for (const trace::v1::Function& function : program_.proto().function()) {
      const Pc first = program_.block(function.first_block()).first;
      const trace::Block& last = program_.block(function.first_block() + function.block_count() - 1);
      for (Pc pc = first; pc < last.first + last.count; ++pc) {
        const uint32_t meeting = program_.instruction(pc).convergence().block();
        if (meeting != 0) text_.lines[pc].immediate = Place(meeting - 1);
      }
    }
  }

  // Instructions that a thread may pass or fall through, for import: their predicates are not in the lines.
  void AddGuarded() {
    std::vector<bool> is_passed(program_.blocks().size(), false);
    for (const trace::Block& block : program_.blocks()) {
      if (program_.DecidesGuard(block)) is_passed[block.successor] = true;
    }
    std::vector<KernelHeader::Run> runs;
    for (uint32_t b = 0; b < program_.blocks().size(); ++b) {
      const trace::Block& block = program_.block(b);
      const auto all = static_cast<uint32_t>(CountOf(block));
      const uint32_t first = layout_.places[b].first;
      if (is_passed[b]) {
        runs.push_back({first, all});
        continue;
      }
      for (Pc pc = block.first; pc < block.first + block.count; ++pc) {
        text_.guarded_computing += program_.IsGuarded(pc) ? 1 : 0;
      }
      if (block.terminator == trace::v1::BRANCH_CONDITIONAL && jumps_[b]) runs.push_back({first + all - 1, 0});
    }
    std::ranges::sort(runs, {}, &KernelHeader::Run::first);
    constexpr size_t kPerLine = 1000;
    for (size_t i = 0; i < runs.size(); ++i) {
      if (i % kPerLine == 0) absl::StrAppend(&text_.header, i == 0 ? "-" : "\n-", kGuardedHeader, " =");
      absl::StrAppend(&text_.header, " ", runs[i].first, " ", runs[i].count);
    }
    if (!runs.empty()) text_.header += '\n';
  }

  // Instructions of the block in the code.
  uint64_t CountOf(const trace::Block& block) const {
    uint64_t count = 0;
    for (Pc pc = block.first; pc < block.first + block.count; ++pc) count += IsJoin(pc) ? 0 : 1;
    return count;
  }

  const trace::Program& program_;
  const WindowBases windows_;
  const bool is_machine_;
  std::vector<bool> jumps_;  // by block: its last instruction can go on anywhere
  CodeLayout layout_;
  CodeText text_;
};

}  // namespace

absl::StatusOr<CodeText> TextOf(const trace::Program& program, const WindowBases& windows) {
  return CodeWriter(program, windows).Write();
}

}  // namespace heddle::tools::accelsim
