#include "tracegen/machine/flow/program.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tracegen/machine/flow/accesses.h"
#include "tracegen/machine/flow/control_flow.h"
#include "tracegen/machine/forms/pattern.h"
#include "traces/base/printable.h"
#include "traces/base/status_macros.h"

namespace heddle::tracegen::machine {
namespace {

using trace::v1::MemorySpace;

struct SpaceOf {
  std::string_view opcode;
  MemorySpace space;
};
constexpr SpaceOf kSpaces[] = {
    {"LD", trace::v1::SPACE_GENERIC},  {"ST", trace::v1::SPACE_GENERIC},   {"ATOM", trace::v1::SPACE_GENERIC},
    {"LDG", trace::v1::SPACE_GLOBAL},  {"STG", trace::v1::SPACE_GLOBAL},   {"ATOMG", trace::v1::SPACE_GLOBAL},
    {"RED", trace::v1::SPACE_GLOBAL},  {"REDG", trace::v1::SPACE_GLOBAL},  {"LDS", trace::v1::SPACE_SHARED},
    {"STS", trace::v1::SPACE_SHARED},  {"ATOMS", trace::v1::SPACE_SHARED}, {"LDL", trace::v1::SPACE_LOCAL},
    {"STL", trace::v1::SPACE_LOCAL},   {"LDC", trace::v1::SPACE_CONSTANT}, {"ULDC", trace::v1::SPACE_CONSTANT},
    {"LDSM", trace::v1::SPACE_SHARED}, {"STSM", trace::v1::SPACE_SHARED},
};
constexpr uint32_t kTileRowBytes = 16;  // of LDSM and STSM, whose address is that of a row

// Code that functions share is in each of them. An assembler shares little.
constexpr uint64_t kMostCopies = 64;

uint32_t AccessBytes(const Instruction& instruction) {
  if (instruction.opcode() == "LDSM" || instruction.opcode() == "STSM") return kTileRowBytes;
  if (instruction.Has("U8") || instruction.Has("S8")) return 1;
  if (instruction.Has("U16") || instruction.Has("S16")) return 2;
  return 4u * RegistersOf(instruction.modifiers);
}

Convergence ConvergenceOf(const Instruction& instruction) {
  const std::string_view opcode = instruction.opcode();
  if (opcode == "BSSY") return Convergence::kSet;
  if (opcode == "BSYNC") return Convergence::kSync;
  if (opcode == "BREAK") return Convergence::kBreak;
  if (opcode == "WARPSYNC" || opcode == "NOP") return Convergence::kWarpSync;
  return opcode == "YIELD" ? Convergence::kYield : Convergence::kNone;
}

bool RegisterLess(const Register& a, const Register& b) {
  return std::pair(a.file, a.number) < std::pair(b.file, b.number);
}

class Builder {
 public:
  Builder(const Cubin& cubin, const Disassembly& disassembly, MachineProgram* program)
      : cubin_(cubin), disassembly_(disassembly), program_(*program) {}

  absl::Status Build() {
    program_.architecture = cubin_.architecture;
    program_.assembler = cubin_.assembler;
    program_.disassembler = disassembly_.disassembler;
    HEDDLE_RETURN_IF_ERROR(MatchSections());
    FindCopyGroups();
    HEDDLE_ASSIGN_OR_RETURN(const FunctionPlaces places, PlacesOfFunctions(cubin_));
    for (uint32_t i = 0; i < cubin_.sections.size(); ++i) {
      HEDDLE_ASSIGN_OR_RETURN(std::vector<Step> steps, FollowSection(cubin_, i, *texts_[i], places));
      steps_.push_back(std::move(steps));
    }
    NameFunctions();
    for (const auto& [place, function] : function_of_) HEDDLE_RETURN_IF_ERROR(Add(place, function));
    return absl::OkStatus();
  }

 private:
  absl::Status MatchSections() {
    if (disassembly_.architecture != cubin_.architecture) {
      return absl::InvalidArgumentError(absl::StrCat("the disassembly is of ",
                                                     ArchitectureName(disassembly_.architecture), ", the cubin of ",
                                                     ArchitectureName(cubin_.architecture)));
    }
    std::map<std::string_view, const CodeText*> by_name;
    for (const CodeText& text : disassembly_.sections) by_name[text.function] = &text;
    for (const CodeSection& section : cubin_.sections) {
      const auto found = by_name.find(section.function);
      if (found == by_name.end() || found->second->instructions.size() != section.code.size()) {
        return absl::InvalidArgumentError(absl::StrCat("the disassembly does not have the ", section.code.size(),
                                                       " instructions of ", CutText(Printable(section.function), 80),
                                                       ": it is of another cubin"));
      }
      texts_.push_back(found->second);
      code_size_ += section.code.size();
    }
    return absl::OkStatus();
  }

  // LDGDEPBAR raises a barrier of the control bits that goes down when the copies so far are complete.
  void FindCopyGroups() {
    for (uint32_t i = 0; i < cubin_.sections.size(); ++i) {
      for (uint32_t at = 0; at < texts_[i]->instructions.size(); ++at) {
        if (texts_[i]->instructions[at].opcode() != "LDGDEPBAR") continue;
        const absl::StatusOr<Control> control = DecodeControl(cubin_.architecture, cubin_.sections[i].code[at]);
        if (control.ok() && control->write_barrier != Control::kNoBarrier) copy_groups_ |= 1u << control->write_barrier;
      }
    }
  }

  // Whether it waits for groups of copies: DEPBAR of a barrier that LDGDEPBAR raises.
  absl::StatusOr<bool> WaitsForCopies(const Instruction& text) const {
    if (text.opcode() != "DEPBAR") return false;
    const auto names_group = [this](const Operand& operand) {
      if (operand.kind != Operand::Kind::kScoreboard) return false;
      return std::any_of(operand.text.begin(), operand.text.end(),
                         [this](char c) { return c >= '0' && c <= '5' && (copy_groups_ >> (c - '0') & 1) != 0; });
    };
    if (std::none_of(text.operands.begin(), text.operands.end(), names_group)) return false;
    const bool is_plain = text.Has("LE") && text.operands.size() == 2 && text.operands[0].text.starts_with("SB") &&
                          text.operands[1].kind == Operand::Kind::kImmediate;
    if (!is_plain) return absl::UnimplementedError("how it waits for asynchronous copies is not known yet");
    return true;
  }

  // By place in the code; of several symbols at one place, the first names the function.
  void NameFunctions() {
    for (uint32_t i = 0; i < cubin_.sections.size(); ++i) {
      for (const FunctionSymbol& symbol : cubin_.sections[i].functions) {
        const CodePlace place{i, static_cast<uint32_t>(symbol.offset / kInstructionBytes)};
        if (!function_of_.try_emplace(place, static_cast<uint32_t>(program_.functions.size())).second) continue;
        ProgramFunction function;
        function.name = symbol.name;
        function.section = cubin_.sections[i].function;
        function.offset = symbol.offset;
        function.is_kernel = symbol.is_kernel;
        program_.functions.push_back(std::move(function));
      }
    }
  }

  // The instructions that the function reaches without calls, by index.
  static std::set<uint32_t> Reached(const std::vector<Step>& steps, uint32_t entry) {
    std::set<uint32_t> reached = {entry};
    std::vector<uint32_t> work = {entry};
    while (!work.empty()) {
      const uint32_t at = work.back();
      work.pop_back();
      for (const uint32_t next : steps[at].next) {
        if (reached.insert(next).second) work.push_back(next);
      }
      // Where threads meet is a block, even if the code does not lead there.
      if (steps[at].sets_barrier && reached.insert(steps[at].meeting).second) work.push_back(steps[at].meeting);
    }
    return reached;
  }

  static std::set<uint32_t> Leaders(const std::vector<Step>& steps, const std::set<uint32_t>& reached, uint32_t entry) {
    std::set<uint32_t> leaders = {entry};
    for (const uint32_t at : reached) {
      const Step& step = steps[at];
      if (step.ends_block) leaders.insert(step.next.begin(), step.next.end());
      if (step.sets_barrier) leaders.insert(step.meeting);
    }
    return leaders;
  }

  absl::Status Add(const CodePlace& place, uint32_t number) {
    std::vector<Step>& steps = steps_[place.section];
    LinkSyncs(*texts_[place.section], place.index, &steps);
    const std::set<uint32_t> reached = Reached(steps, place.index);
    if (program_.instructions.size() + reached.size() > kMostCopies * code_size_) {
      return absl::ResourceExhaustedError(absl::StrCat(
          PlaceText(cubin_, place.section, place.index), ": the functions of the cubin share so much code ",
          "that it would be kept more than ", kMostCopies, " times: the cubin is damaged"));
    }
    const std::set<uint32_t> leaders = Leaders(steps, reached, place.index);
    ProgramFunction& function = program_.functions[number];
    // The entry is the first block, whatever stands in front of it in the code.
    std::vector<uint32_t> order = {place.index};
    for (const uint32_t leader : leaders) {
      if (leader != place.index) order.push_back(leader);
    }
    function.first_block = static_cast<uint32_t>(program_.blocks.size());
    function.block_count = static_cast<uint32_t>(order.size());
    std::map<uint32_t, uint32_t> block_of;
    for (const uint32_t leader : order) {
      block_of[leader] = function.first_block + static_cast<uint32_t>(block_of.size());
    }
    const size_t first_instruction = program_.instructions.size();
    std::vector<Accesses> accesses;
    for (const uint32_t leader : order) {
      HEDDLE_RETURN_IF_ERROR(AddBlock(place.section, leader, leaders, steps, block_of, &accesses));
    }
    NumberRegisters(accesses, first_instruction, &function);
    return absl::OkStatus();
  }

  absl::Status AddBlock(uint32_t section, uint32_t leader, const std::set<uint32_t>& leaders,
                        const std::vector<Step>& steps, const std::map<uint32_t, uint32_t>& block_of,
                        std::vector<Accesses>* accesses) {
    ProgramBlock block;
    block.first_instruction = static_cast<uint32_t>(program_.instructions.size());
    uint32_t at = leader;
    while (true) {
      HEDDLE_RETURN_IF_ERROR(AddInstruction(section, at, steps[at], block_of, accesses));
      if (steps[at].ends_block || leaders.contains(at + 1)) break;
      ++at;
    }
    block.instruction_count = static_cast<uint32_t>(program_.instructions.size()) - block.first_instruction;
    const Step& step = steps[at];
    block.terminator = step.terminator;
    for (const uint32_t next : step.next) block.successors.push_back(block_of.at(next));
    // Unconditional ends have no successor; only a decision needs to name them.
    if (step.terminator == trace::v1::BRANCH_CONDITIONAL && step.returns) block.successors.push_back(kReturns);
    if (step.terminator == trace::v1::BRANCH_CONDITIONAL && step.exits) block.successors.push_back(kExits);
    for (const CodePlace& callee : step.callees) block.callees.push_back(function_of_.at(callee));
    program_.blocks.push_back(std::move(block));
    return absl::OkStatus();
  }

  absl::Status AddInstruction(uint32_t section, uint32_t index, const Step& step,
                              const std::map<uint32_t, uint32_t>& block_of, std::vector<Accesses>* accesses) {
    const Instruction& text = texts_[section]->instructions[index];
    const auto at_place = [&](const absl::Status& status) {
      return absl::Status(status.code(), absl::StrCat(PlaceText(cubin_, section, index), ": ", status.message()));
    };
    if (step.runs_out) {
      return at_place(absl::InvalidArgumentError("the code runs past its end: the cubin is damaged"));
    }
    absl::StatusOr<Accesses> registers = AccessesOf(text);
    if (!registers.ok()) return at_place(registers.status());
    absl::StatusOr<Control> control = DecodeControl(cubin_.architecture, cubin_.sections[section].code[index]);
    if (!control.ok()) return at_place(control.status());
    ProgramInstruction instruction;
    instruction.text = text;
    instruction.control = *control;
    instruction.offset = uint64_t{index} * kInstructionBytes;
    const absl::StatusOr<bool> waits_for_copies = WaitsForCopies(text);
    if (!waits_for_copies.ok()) return at_place(waits_for_copies.status());
    instruction.op = *waits_for_copies ? trace::v1::OP_ASYNC : text.form->op;
    for (const SpaceOf& entry : kSpaces) {
      if (entry.opcode != text.opcode()) continue;
      instruction.space = entry.space;
      instruction.access_bytes = AccessBytes(text);
    }
    instruction.is_guarded = text.guard && (!text.guard->reg.is_constant || text.guard->sign == '!');
    instruction.convergence = ConvergenceOf(text);
    if (step.sets_barrier) instruction.convergence_block = block_of.at(step.meeting);
    AddLine(cubin_.sections[section], &instruction);
    program_.instructions.push_back(std::move(instruction));
    accesses->push_back(*std::move(registers));
    return absl::OkStatus();
  }

  void AddLine(const CodeSection& section, ProgramInstruction* instruction) {
    const auto after = std::upper_bound(section.lines.begin(), section.lines.end(), instruction->offset,
                                        [](uint64_t offset, const LineRow& row) { return offset < row.offset; });
    if (after == section.lines.begin()) return;
    const LineRow& row = *(after - 1);
    instruction->source_line = row.line;
    if (row.file.empty()) return;
    const auto [found, is_new] = files_.try_emplace(row.file, static_cast<uint32_t>(program_.source_files.size()) + 1);
    if (is_new) program_.source_files.push_back(row.file);
    instruction->source_file = found->second;
  }

  void NumberRegisters(const std::vector<Accesses>& accesses, size_t first_instruction, ProgramFunction* function) {
    std::vector<Register>& all = function->registers;
    for (const Accesses& one : accesses) {
      all.insert(all.end(), one.written.begin(), one.written.end());
      all.insert(all.end(), one.read.begin(), one.read.end());
    }
    std::sort(all.begin(), all.end(), RegisterLess);
    all.erase(std::unique(all.begin(), all.end()), all.end());
    const auto numbers = [&](const std::vector<Register>& registers) {
      std::vector<uint32_t> found;
      for (const Register& reg : registers) {
        found.push_back(
            static_cast<uint32_t>(std::lower_bound(all.begin(), all.end(), reg, RegisterLess) - all.begin()) + 1);
      }
      return found;
    };
    for (size_t i = 0; i < accesses.size(); ++i) {
      program_.instructions[first_instruction + i].dst = numbers(accesses[i].written);
      program_.instructions[first_instruction + i].src = numbers(accesses[i].read);
    }
  }

  const Cubin& cubin_;
  const Disassembly& disassembly_;
  MachineProgram& program_;
  std::vector<const CodeText*> texts_;    // by section of the cubin
  uint64_t code_size_ = 0;                // in instructions, of all sections
  uint32_t copy_groups_ = 0;              // barriers of the control bits, one bit each
  std::vector<std::vector<Step>> steps_;  // by section of the cubin
  std::map<CodePlace, uint32_t> function_of_;
  std::map<std::string, uint32_t> files_;
};

}  // namespace

const ProgramFunction* MachineProgram::Find(std::string_view function) const {
  for (const ProgramFunction& one : functions) {
    if (one.name == function) return &one;
  }
  return nullptr;
}

absl::StatusOr<MachineProgram> BuildProgram(const Cubin& cubin, const Disassembly& disassembly) {
  MachineProgram program;
  HEDDLE_RETURN_IF_ERROR(Builder(cubin, disassembly, &program).Build());
  return program;
}

}  // namespace heddle::tracegen::machine
