#include "tracegen/program/machine_source/machine_layout.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tracegen/machine/forms/pattern.h"
#include "tracegen/machine/meaning/meaning.h"
#include "tracegen/program/machine_source/machine_error.h"
#include "tracegen/program/machine_source/static_instruction.h"
#include "traces/base/status_macros.h"

namespace heddle::tracegen {
namespace {

namespace v1 = ::heddle::trace::v1;
using machine::Effect;
using machine::ProgramBlock;
using machine::ProgramInstruction;
using machine::RegisterUse;

// A predicate among the operands of EXIT, RET and BREAK, which decides like a guard; null if there is none.
const RegisterUse* OwnPredicate(const machine::Instruction& at) {
  const auto places = machine::OperandPlaces(*at.form);
  for (size_t i = 0; i < at.operands.size(); ++i) {
    const RegisterUse& use = at.operands[i].use;
    if (places[at.places[i]].kind == 'q' && (!use.reg.is_constant || use.sign == '!')) return &use;
  }
  return nullptr;
}

bool Calls(const ProgramBlock& block) { return block.terminator == v1::CALL || block.terminator == v1::CALL_INDIRECT; }

constexpr size_t kMostTargets = 256;  // a decision is recorded as one byte

class LayoutBuilder {
 public:
  LayoutBuilder(const machine::MachineProgram& program, uint32_t function, const std::set<uint32_t>& alone,
                MachineLines& lines)
      : program_(program), function_(program.functions[function]), alone_(alone), lines_(lines) {}

  absl::StatusOr<MachineLayout> Build() {
    layout_.flow.name = function_.name;
    layout_.flow.is_kernel = function_.is_kernel;
    for (uint32_t i = 0; i < function_.block_count; ++i) {
      HEDDLE_RETURN_IF_ERROR(Block(function_.first_block + i));
    }
    for (const auto& [from, way, block] : jumps_) {
      FlowNode& node = layout_.flow.nodes[static_cast<size_t>(from)];
      if (way == kWideWay) {
        node.targets.push_back(node_of_block_.at(block));
      } else {
        node.*way = node_of_block_.at(block);
      }
    }
    for (const auto& [detail, block] : meetings_) detail->meeting = node_of_block_.at(block);
    return std::move(layout_);
  }

 private:
  using Way = int FlowNode::*;
  static constexpr Way kWideWay = nullptr;

  FlowNode& node() { return layout_.flow.nodes[static_cast<size_t>(current_)]; }
  MachineNode& steps() { return layout_.nodes[static_cast<size_t>(current_)]; }

  void StartNode() {
    current_ = static_cast<int>(layout_.flow.nodes.size());
    layout_.flow.nodes.emplace_back().name = absl::StrCat("b", current_);
    layout_.nodes.emplace_back();
    for (const auto& [from, way] : pending_) layout_.flow.nodes[static_cast<size_t>(from)].*way = current_;
    pending_.clear();
  }

  absl::Status Block(uint32_t number) {
    const ProgramBlock& block = program_.blocks[number];
    StartNode();
    node_of_block_[number] = current_;
    for (uint32_t i = 0; i < block.instruction_count; ++i) {
      const ProgramInstruction& instruction = program_.instructions[block.first_instruction + i];
      const bool calls = instruction.op == v1::OP_CALL && Calls(block);
      HEDDLE_RETURN_IF_ERROR(Add(instruction, calls));
    }
    const ProgramInstruction& last = program_.instructions[block.first_instruction + block.instruction_count - 1];
    return End(block, last);
  }

  // `calls`: it is a call of a function, and the last one of its block.
  absl::Status Add(const ProgramInstruction& instruction, bool calls) {
    const machine::OpcodeMeaning* meaning = machine::MeaningOf(instruction.text);
    if (meaning == nullptr) return MachineError(function_, instruction, "a machine instruction without a meaning yet");
    const std::string_view op = instruction.text.opcode();
    const bool may_have_own_predicate = op == "EXIT" || op == "RET" || op == "BREAK";
    // What must not happen, or would be recorded, for threads whose guard is false. BREAK does nothing to a thread, but
    // who follows its barriers has to know which threads break away.
    const bool stands_alone = meaning->effect == Effect::kAccesses || meaning->effect == Effect::kMeets ||
                              may_have_own_predicate || op == "BPT" || calls ||
                              alone_.contains(static_cast<uint32_t>(&instruction - program_.instructions.data()));
    const RegisterUse* guard = instruction.is_guarded ? &*instruction.text.guard : nullptr;
    const RegisterUse* second = nullptr;
    if (may_have_own_predicate) {
      const RegisterUse* own = OwnPredicate(instruction.text);
      if (guard != nullptr) {
        second = own;
      } else {
        guard = own;
      }
    }
    if (guard != nullptr && stands_alone) {
      if (second != nullptr || !IsRunOf(*guard)) BeginRun(instruction, *guard, second);
    } else {
      EndRun();
    }
    const uint32_t id = lines_.Add(instruction);
    steps().steps.push_back({&instruction, id, static_cast<uint32_t>(node().instructions.size())});
    node().instructions.push_back(StaticMachineInstruction(function_, instruction, id));
    if (guard != nullptr && stands_alone) node().instructions.back().is_guarded = true;  // by its own predicate as well
    if (instruction.op == v1::OP_ASYNC && node().instructions.back().collective == nullptr) {
      return MachineError(function_, instruction,
                          "an asynchronous instruction that a trace does not have in this form");
    }
    if (instruction.convergence_block != machine::kNoBlock) {
      meetings_.emplace_back(node().instructions.back().machine.get(), instruction.convergence_block);
    }
    if (run_guard_ != nullptr && Writes(instruction, run_guard_->reg)) EndRun();
    return absl::OkStatus();
  }

  bool IsRunOf(const RegisterUse& guard) const {
    return run_guard_ != nullptr && guard.reg == run_guard_->reg && guard.sign == run_guard_->sign;
  }

  bool Writes(const ProgramInstruction& instruction, const machine::Register& reg) const {
    return std::any_of(instruction.dst.begin(), instruction.dst.end(),
                       [&](uint32_t number) { return function_.registers[number - 1] == reg; });
  }

  // The node of what stands under a guard begins; the one before it decides.
  void BeginRun(const ProgramInstruction& instruction, const RegisterUse& guard, const RegisterUse* second) {
    EndRun();
    if (node().instructions.empty()) node().instructions.push_back(StaticJoin(lines_.Add(instruction)));
    node().end = FlowEnd::kConditional;
    steps().guard = &guard;
    steps().second_guard = second;
    run_guard_ = &guard;
    run_from_ = current_;
    pending_.emplace_back(current_, &FlowNode::next);
    StartNode();
    steps().under_guard = true;
  }

  // The next node follows the run, and whoever has gone past it.
  void EndRun() {
    if (run_guard_ == nullptr) return;
    run_guard_ = nullptr;
    pending_.emplace_back(current_, &FlowNode::next);
    pending_.emplace_back(run_from_, &FlowNode::taken);
    StartNode();
  }

  absl::Status End(const ProgramBlock& block, const ProgramInstruction& last) {
    const auto jump = [&](Way way, uint32_t to) { jumps_.push_back({current_, way, to}); };
    // A call without a function behind it is a jump, which decides by itself if it has a guard.
    if (last.op == v1::OP_CALL && !Calls(block)) {
      node().instructions.back().opcode.op = v1::OP_BRANCH;
      node().instructions.back().is_guarded = false;
    }
    switch (block.terminator) {
      case v1::FALL_THROUGH:
        EndRun();
        jump(&FlowNode::next, block.successors.at(0));
        return absl::OkStatus();
      case v1::BRANCH_CONDITIONAL:
        if (block.successors.at(1) == machine::kExits || block.successors.at(1) == machine::kReturns) {
          // The guarded EXIT or RET stands alone, and who goes past it comes to the next block.
          node().end = block.successors[1] == machine::kExits ? FlowEnd::kExit : FlowEnd::kReturn;
          run_guard_ = nullptr;
          jumps_.push_back({run_from_, &FlowNode::taken, block.successors[0]});
          return absl::OkStatus();
        }
        node().end = FlowEnd::kConditional;
        jump(&FlowNode::next, block.successors[0]);
        jump(&FlowNode::taken, block.successors[1]);
        return absl::OkStatus();
      case v1::BRANCH_WIDE:
        if (block.successors.size() > kMostTargets) {
          return MachineError(function_, last, "a branch with more targets than a trace tells apart");
        }
        node().end = FlowEnd::kWide;
        for (const uint32_t to : block.successors) {
          jump(kWideWay, to);
          steps().target_offsets.push_back(program_.instructions[program_.blocks[to].first_instruction].offset);
        }
        return absl::OkStatus();
      case v1::CALL:
      case v1::CALL_INDIRECT:
        node().end = FlowEnd::kCall;
        node().indirect = block.terminator == v1::CALL_INDIRECT;
        for (const uint32_t callee : block.callees) node().callees.push_back(program_.functions[callee].name);
        jump(&FlowNode::next, block.successors.at(0));
        // A guarded call stands alone, and who goes past it comes to the next block as well.
        if (run_guard_ != nullptr) jumps_.push_back({run_from_, &FlowNode::taken, block.successors[0]});
        run_guard_ = nullptr;
        return absl::OkStatus();
      case v1::RETURN:
        node().end = FlowEnd::kReturn;
        return absl::OkStatus();
      case v1::EXIT:
        node().end = FlowEnd::kExit;
        return absl::OkStatus();
      default:
        return MachineError(function_, last, "control flow that cannot be executed yet");
    }
  }

  struct Jump {
    int from;
    Way way;
    uint32_t block;
  };

  const machine::MachineProgram& program_;
  const machine::ProgramFunction& function_;
  const std::set<uint32_t>& alone_;
  MachineLines& lines_;
  MachineLayout layout_;
  std::map<uint32_t, int> node_of_block_;
  std::vector<Jump> jumps_;
  std::vector<std::pair<MachineDetail*, uint32_t>> meetings_;  // blocks that instructions name as such
  std::vector<std::pair<int, Way>> pending_;                   // what leads to the node that begins next
  const RegisterUse* run_guard_ = nullptr;                     // of the current node
  int run_from_ = kNoNode;                                     // the node that decides on it
  int current_ = kNoNode;
};

}  // namespace

absl::StatusOr<MachineLayout> LayOutMachine(const machine::MachineProgram& program, uint32_t function,
                                            const std::set<uint32_t>& alone, MachineLines& lines) {
  return LayoutBuilder(program, function, alone, lines).Build();
}

}  // namespace heddle::tracegen
