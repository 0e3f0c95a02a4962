#include "tracegen/machine/flow/control_flow.h"

#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "traces/base/printable.h"
#include "traces/base/status_macros.h"

namespace heddle::tracegen::machine {
namespace {

using Kind = Operand::Kind;

// Whether a predicate can be false: a guard, or an operand such as that of BRA P0, 0x40.
bool IsCondition(const RegisterUse& use) { return !use.reg.is_constant || use.sign == '!'; }

bool IsConditional(const Instruction& instruction) {
  if (instruction.guard && IsCondition(*instruction.guard)) return true;
  // Whether the threads of a warp are together is known only when they run.
  if (instruction.Has("DIV") || instruction.Has("CONV")) return true;
  for (const Operand& operand : instruction.operands) {
    const bool is_predicate =
        operand.is_register(RegisterFile::kPredicate) || operand.is_register(RegisterFile::kUniformPredicate);
    if (is_predicate && IsCondition(operand.use)) return true;
  }
  return false;
}

class Follower {
 public:
  Follower(const Cubin& cubin, uint32_t section, const CodeText& text, const FunctionPlaces& functions)
      : cubin_(cubin), section_(section), text_(text), functions_(functions) {}

  absl::StatusOr<std::vector<Step>> Follow() {
    std::vector<Step> steps(text_.instructions.size());
    for (index_ = 0; index_ < steps.size(); ++index_) {
      const absl::Status status = One(text_.instructions[index_], &steps[index_]);
      if (!status.ok()) {
        return absl::Status(status.code(), absl::StrCat(PlaceText(cubin_, section_, index_), ": ", status.message()));
      }
      // Sections end with padding that nothing reaches.
      std::vector<uint32_t>& next = steps[index_].next;
      if (!next.empty() && next.front() >= steps.size()) {
        next.clear();
        steps[index_].runs_out = true;
      }
    }
    return steps;
  }

 private:
  absl::Status One(const Instruction& instruction, Step* step) {
    const std::string_view opcode = instruction.opcode();
    if (opcode == "BRA") return Branch(instruction, step);
    if (opcode == "BRX") return Indirect(instruction, step);
    if (opcode == "CALL") return Call(instruction, step);
    if (opcode == "RET") return Leave(instruction, trace::v1::RETURN, step);
    if (opcode == "EXIT" || opcode == "BPT") return Leave(instruction, trace::v1::EXIT, step);
    if (opcode == "BSSY") {
      step->sets_barrier = true;
      HEDDLE_ASSIGN_OR_RETURN(step->meeting, Target(instruction.operands.back()));
    }
    if (opcode == "BSYNC") {
      step->ends_block = true;
      if (IsConditional(instruction)) return absl::UnimplementedError("a BSYNC under a guard has no form here yet");
    }
    step->next = {index_ + 1};
    return absl::OkStatus();
  }

  absl::StatusOr<uint32_t> IndexOf(int64_t offset) const {
    const uint64_t bytes = text_.instructions.size() * uint64_t{kInstructionBytes};
    if (offset < 0 || static_cast<uint64_t>(offset) >= bytes || offset % kInstructionBytes != 0) {
      return absl::InvalidArgumentError(
          absl::StrFormat("leads to offset %d, where the section has no instruction: the cubin is damaged", offset));
    }
    return static_cast<uint32_t>(offset / kInstructionBytes);
  }

  absl::StatusOr<uint32_t> Target(const Operand& operand) const {
    if (operand.kind == Kind::kImmediate) return IndexOf(operand.value);
    const auto found = functions_.find(operand.text);
    if (found != functions_.end() && found->second.section == section_) return found->second.index;
    return absl::UnimplementedError(
        absl::StrCat("leads to ", CutText(Printable(operand.text), 80), ", which is not in its section"));
  }

  absl::Status Branch(const Instruction& instruction, Step* step) {
    step->ends_block = true;
    HEDDLE_ASSIGN_OR_RETURN(const uint32_t target, Target(instruction.operands.back()));
    if (IsConditional(instruction)) {
      step->terminator = trace::v1::BRANCH_CONDITIONAL;
      step->next = {index_ + 1, target};
    } else {
      step->next = {target};
    }
    return absl::OkStatus();
  }

  absl::Status Indirect(const Instruction& instruction, Step* step) {
    step->ends_block = true;
    if (IsConditional(instruction))
      return absl::UnimplementedError("an indirect branch under a guard is not known yet");
    const CodeSection& code = cubin_.sections[section_];
    const auto table = code.indirect_targets.find(uint64_t{index_} * kInstructionBytes);
    if (table == code.indirect_targets.end() || table->second.empty()) {
      return absl::UnimplementedError("the cubin has no table of targets for this indirect branch");
    }
    step->terminator = trace::v1::BRANCH_WIDE;
    std::set<uint32_t> seen;
    for (const uint64_t offset : table->second) {
      HEDDLE_ASSIGN_OR_RETURN(const uint32_t target, IndexOf(static_cast<int64_t>(offset)));
      if (seen.insert(target).second) step->next.push_back(target);
    }
    if (step->next.size() == 1) step->terminator = trace::v1::FALL_THROUGH;
    return absl::OkStatus();
  }

  absl::Status Call(const Instruction& instruction, Step* step) {
    step->ends_block = true;
    // Without a name behind it, it is a jump: the instruction saves nothing, and there the assembler uses it as one.
    const Operand& callee = instruction.operands.back();
    if (callee.kind == Kind::kImmediate) return Branch(instruction, step);
    step->next = {index_ + 1};
    if (instruction.operands.front().kind == Kind::kRegister) {
      step->terminator = trace::v1::CALL_INDIRECT;
      return absl::OkStatus();
    }
    step->terminator = trace::v1::CALL;
    const auto found = functions_.find(callee.text);
    if (found == functions_.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("calls ", CutText(Printable(callee.text), 80), ", of which the cubin has no code"));
    }
    step->callees = {found->second};
    return absl::OkStatus();
  }

  absl::Status Leave(const Instruction& instruction, trace::v1::Terminator terminator, Step* step) {
    step->ends_block = true;
    step->terminator = terminator;
    if (IsConditional(instruction)) {
      step->terminator = trace::v1::BRANCH_CONDITIONAL;
      step->next = {index_ + 1};
    }
    step->returns = terminator == trace::v1::RETURN;
    step->exits = terminator == trace::v1::EXIT;
    return absl::OkStatus();
  }

  const Cubin& cubin_;
  uint32_t section_;
  const CodeText& text_;
  const FunctionPlaces& functions_;
  uint32_t index_ = 0;
};

// By convergence barrier: where the BSSYs that may have set it last say that threads meet.
using Meetings = std::map<uint8_t, std::set<uint32_t>>;

bool IsGuarded(const Instruction& instruction) { return instruction.guard && IsCondition(*instruction.guard); }

// Follows the code with what each barrier may hold.
class SyncLinker {
 public:
  SyncLinker(const CodeText& text, std::vector<Step>* steps) : text_(text), steps_(steps) {}

  void Link(uint32_t entry) {
    work_ = {entry};
    before_[entry];
    while (!work_.empty()) {
      const uint32_t at = work_.back();
      work_.pop_back();
      One(at);
    }
  }

 private:
  void One(uint32_t at) {
    Meetings meetings = before_[at];
    const Instruction& instruction = text_.instructions[at];
    Step& step = (*steps_)[at];
    std::vector<uint32_t> next = step.next;
    if (instruction.opcode() == "BSYNC") {
      const std::set<uint32_t>& found = meetings[instruction.operands[0].use.reg.number];
      // The set only grows, so the last visit has it whole.
      next.assign(found.begin(), found.end());
      if (next.empty() && !step.runs_out) next = {at + 1};
      step.next = next;
      step.terminator = next.size() > 1 ? trace::v1::BRANCH_WIDE : trace::v1::FALL_THROUGH;
    } else if (step.sets_barrier) {
      std::set<uint32_t>& of_barrier = meetings[instruction.operands[0].use.reg.number];
      if (!IsGuarded(instruction)) of_barrier.clear();
      of_barrier.insert(step.meeting);
    } else if (instruction.opcode() == "BMOV") {
      Move(instruction, at, &meetings);
    }
    for (const uint32_t to : next) {
      const auto [place, is_new] = before_.try_emplace(to);
      bool grew = is_new;
      for (const auto& [barrier, targets] : meetings) {
        for (const uint32_t target : targets) grew |= place->second[barrier].insert(target).second;
      }
      if (grew) work_.push_back(to);
    }
  }

  // From or to a general register. What any register holds is what any barrier gave, or what a caller had.
  void Move(const Instruction& instruction, uint32_t at, Meetings* meetings) {
    const bool restores = instruction.operands[0].is_register(RegisterFile::kConvergence);
    const Operand& barrier = instruction.operands[restores ? 0 : 1];
    if (!barrier.is_register(RegisterFile::kConvergence)) return;
    std::set<uint32_t>& of_barrier = (*meetings)[barrier.use.reg.number];
    if (restores) {
      restores_.insert(at);
      if (!IsGuarded(instruction)) of_barrier.clear();
      of_barrier.insert(saved_.begin(), saved_.end());
      return;
    }
    const size_t known = saved_.size();
    saved_.insert(of_barrier.begin(), of_barrier.end());
    if (saved_.size() > known) work_.insert(work_.end(), restores_.begin(), restores_.end());
    if (instruction.Has("CLEAR") && !IsGuarded(instruction)) of_barrier.clear();
  }

  const CodeText& text_;
  std::vector<Step>* const steps_;
  std::map<uint32_t, Meetings> before_;
  std::vector<uint32_t> work_;
  std::set<uint32_t> saved_;     // targets that general registers may hold
  std::set<uint32_t> restores_;  // places that take them from there
};

}  // namespace

std::string PlaceText(const Cubin& cubin, uint32_t section, uint32_t index) {
  return absl::StrFormat("%s+0x%x", CutText(Printable(cubin.sections[section].function), 80),
                         uint64_t{index} * kInstructionBytes);
}

absl::StatusOr<FunctionPlaces> PlacesOfFunctions(const Cubin& cubin) {
  FunctionPlaces places;
  for (uint32_t i = 0; i < cubin.sections.size(); ++i) {
    for (const FunctionSymbol& function : cubin.sections[i].functions) {
      const CodePlace place{i, static_cast<uint32_t>(function.offset / kInstructionBytes)};
      if (!places.emplace(function.name, place).second) {
        return absl::InvalidArgumentError(
            absl::StrCat("cubin: function ", CutText(Printable(function.name), 80), " is there twice"));
      }
    }
  }
  return places;
}

absl::StatusOr<std::vector<Step>> FollowSection(const Cubin& cubin, uint32_t section, const CodeText& text,
                                                const FunctionPlaces& functions) {
  return Follower(cubin, section, text, functions).Follow();
}

void LinkSyncs(const CodeText& text, uint32_t entry, std::vector<Step>* steps) { SyncLinker(text, steps).Link(entry); }

}  // namespace heddle::tracegen::machine
