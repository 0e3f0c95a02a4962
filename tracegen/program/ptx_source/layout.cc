#include "tracegen/program/ptx_source/layout.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tracegen/program/ptx_source/callee.h"
#include "tracegen/program/ptx_source/ptx_error.h"
#include "tracegen/program/ptx_source/static_instruction.h"
#include "traces/base/status_macros.h"

namespace heddle::tracegen {
namespace {

namespace v1 = ::heddle::trace::v1;
using ptx::Instruction;
using ptx::StateSpace;
using Kind = ptx::Operand::Kind;
constexpr size_t kMostTargets = 256;  // a decision is recorded as one byte

bool IsOneOf(std::string_view word, std::initializer_list<std::string_view> list) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

class LayoutBuilder {
 public:
  LayoutBuilder(const ptx::Module& module, const ptx::Function& function, PlaceTable& places)
      : module_(module), function_(function), places_(places) {}

  absl::StatusOr<Layout> Build() {
    layout_.flow.name = function_.name;
    layout_.flow.is_kernel = function_.is_kernel;
    for (const ptx::Variable& variable : function_.variables) {
      if (variable.space == StateSpace::kLocal) layout_.flow.local_bytes += variable.Bytes();
    }
    FindTargets();
    FindCalls();
    StartNode();
    // Where the text tells some lines of the source, the others are not known; where it tells none, they are its own.
    static const ptx::Location kUnknown;
    const bool tells_lines = std::any_of(function_.body.begin(), function_.body.end(), [](const ptx::Statement& at) {
      return std::holds_alternative<ptx::Location>(at.what);
    });
    const ptx::Location* loc = tells_lines ? &kUnknown : nullptr;
    for (size_t i = 0; i < function_.body.size(); ++i) {
      const ptx::Statement& statement = function_.body[i];
      if (const auto* place = std::get_if<ptx::LabelPlace>(&statement.what)) AddLabel(place->index);
      if (const auto* location = std::get_if<ptx::Location>(&statement.what)) loc = location;
      if (const Instruction* instruction = statement.instruction(); instruction != nullptr && open_) {
        now_.statement = i;
        now_.line = statement.line;
        now_.id = places_.Add(statement.line, loc);
        HEDDLE_RETURN_IF_ERROR(Add(*instruction));
      }
    }
    EndRun();
    if (open_) AddImplicitReturn();
    for (const auto& [node, way, label] : jumps_) {
      FlowNode& from = layout_.flow.nodes[static_cast<size_t>(node)];
      const int to = node_of_label_[label];
      if (way == kWideWay) {
        from.targets.push_back(to);
      } else {
        from.*way = to;
      }
    }
    return std::move(layout_);
  }

 private:
  using Way = int FlowNode::*;
  static constexpr Way kWideWay = nullptr;

  absl::Status Error(const Instruction& instruction, absl::string_view what) const {
    return PtxError(module_, function_, now_.line, instruction, what);
  }

  TextPlace Place() const { return {module_, function_, now_.line, now_.id}; }

  FlowNode& node() { return layout_.flow.nodes[static_cast<size_t>(current_)]; }

  void StartNode() {
    current_ = static_cast<int>(layout_.flow.nodes.size());
    layout_.flow.nodes.emplace_back().name = absl::StrCat("b", current_);
    layout_.nodes.emplace_back();
    for (const auto& [from, way] : pending_) layout_.flow.nodes[static_cast<size_t>(from)].*way = current_;
    pending_.clear();
    open_ = true;
  }

  // Labels that a branch names.
  void FindTargets() {
    node_of_label_.assign(function_.labels.size(), kNoNode);
    is_target_.assign(function_.labels.size(), false);
    for (const ptx::Statement& statement : function_.body) {
      const Instruction* instruction = statement.instruction();
      if (instruction == nullptr) continue;
      for (const ptx::Operand& operand : instruction->operands) {
        if (operand.kind == Kind::kLabel) is_target_[operand.index] = true;
        if (operand.kind != Kind::kTable || instruction->opcode() == "call") continue;
        for (const uint32_t label : function_.tables[operand.index].labels) is_target_[label] = true;
      }
    }
  }

  bool IsDevice(const Instruction& call) const {
    const ptx::Function* callee = CalleeOf(module_, call);
    return callee == nullptr || callee->is_defined;
  }

  // Which calls use a parameter variable of the body.
  void FindCalls() {
    for (size_t i = 0; i < function_.body.size(); ++i) {
      const Instruction* call = function_.body[i].instruction();
      if (call == nullptr || call->opcode() != "call") continue;
      for (const size_t list : {0u, 2u}) {
        for (const ptx::Operand& operand : call->operands[list].elements) {
          if (operand.kind == Kind::kSymbol && operand.symbol == ptx::SymbolKind::kLocal) {
            calls_.of_variable[operand.index].push_back(i);
          }
        }
      }
    }
  }

  // The statement of the call that a move of its parameters belongs to.
  std::optional<size_t> CallOf(const Instruction& move) const {
    const std::optional<uint32_t> variable = ParameterVariable(move);
    if (!variable) return std::nullopt;
    const auto found = calls_.of_variable.find(*variable);
    if (found == calls_.of_variable.end()) return std::nullopt;
    const std::vector<size_t>& calls = found->second;
    const auto behind = std::lower_bound(calls.begin(), calls.end(), now_.statement);
    if (move.opcode() == "st") return behind == calls.end() ? std::nullopt : std::optional(*behind);
    return behind == calls.begin() ? std::nullopt : std::optional(*std::prev(behind));
  }

  void AddLabel(uint32_t index) {
    if (!is_target_[index]) return;
    if (run_.guard != nullptr) EndRun();
    if (!open_ || !layout_.nodes[static_cast<size_t>(current_)].steps.empty()) {
      if (open_) pending_.emplace_back(current_, &FlowNode::next);
      StartNode();
    }
    node_of_label_[index] = current_;
  }

  // Whether nothing stands between a branch and the label that it names.
  bool LeadsOn(uint32_t label) const {
    for (size_t i = now_.statement + 1; i < function_.body.size(); ++i) {
      if (function_.body[i].instruction() != nullptr) return false;
      const auto* place = std::get_if<ptx::LabelPlace>(&function_.body[i].what);
      if (place != nullptr && place->index == label) return true;
    }
    return false;
  }

  absl::Status Add(const Instruction& instruction) {
    if (instruction.form->meaning != ptx::Meaning::kKnown) {
      return Error(instruction, "PTX instruction that is not supported");
    }
    const std::string_view op = instruction.opcode();
    if (op == "bra") return AddBranch(instruction);
    const bool ends = IsOneOf(op, {"ret", "exit", "trap"});
    const bool stands_alone = ends || IsOneOf(op, {"brx", "call"}) || HasEffect(instruction);
    if (instruction.guard && stands_alone) {
      if (run_.guard == nullptr || !SameGuard(*instruction.guard)) BeginRun(*instruction.guard);
    } else {
      EndRun();
    }
    if (op == "call") return AddCall(instruction);
    if (op == "brx") return AddWideBranch(instruction);
    HEDDLE_ASSIGN_OR_RETURN(FlowInstruction flow, StaticInstruction(Place(), instruction));
    if (const std::optional<size_t> call = CallOf(instruction);
        call && !IsDevice(*function_.body[*call].instruction())) {
      AddStep(instruction, -1);
      for (std::string& name : flow.src) calls_.sources[*call].push_back(std::move(name));
      if (op == "ld") {
        // Behind the call, whose instruction is there already.
        const auto placed = calls_.placed.find(*call);
        if (placed == calls_.placed.end()) return Error(instruction, "result of a call that comes later");
        FlowInstruction& to = layout_.flow.nodes[placed->second.first].instructions[placed->second.second];
        to.dst.insert(to.dst.end(), flow.dst.begin(), flow.dst.end());
      }
      return absl::OkStatus();
    }
    if (op == "ret") flow.opcode.op = function_.is_kernel ? v1::OP_EXIT : v1::OP_RETURN;
    flow.cannot_return = op == "trap";
    if (op == "ret" && function_.is_kernel) flow.cannot_return = false;
    Append(instruction, std::move(flow));
    if (ends) {
      node().end = op == "ret" && !function_.is_kernel ? FlowEnd::kReturn : FlowEnd::kExit;
      Leave();
    } else if (run_.guard != nullptr && Writes(instruction, run_.guard->index)) {
      EndRun();
    }
    return absl::OkStatus();
  }

  // What must not happen, or would be recorded, for threads whose guard is false.
  bool HasEffect(const Instruction& instruction) const {
    const std::string_view op = instruction.opcode();
    if (IsOneOf(op, {"ld", "ldu", "st"})) {
      return !(instruction.Space() == StateSpace::kParam);
    }
    return IsOneOf(op, {"atom", "red", "tex", "tld4", "suld", "sust", "sured", "bar", "barrier", "shfl", "vote",
                        "match", "redux", "activemask", "elect"}) ||
           instruction.form->op == v1::OP_TENSOR || instruction.form->op == v1::OP_ASYNC;
  }

  bool SameGuard(const ptx::Operand& guard) const {
    return run_.guard != nullptr && guard.index == run_.guard->index && guard.negated == run_.guard->negated;
  }

  static bool Writes(const Instruction& instruction, uint32_t number) {
    bool writes = false;
    for (const ptx::Operand& operand : instruction.operands) {
      ForEachRegister(operand, [&](const ptx::Operand& at) { writes |= at.written && at.index == number; });
    }
    return writes;
  }

  // The node of what stands under a guard begins; the one before it decides.
  void BeginRun(const ptx::Operand& guard) {
    EndRun();
    if (node().instructions.empty()) {
      FlowInstruction join;
      join.mnemonic = "nop.join";
      join.opcode.op = v1::OP_MOVE;
      join.opcode.has_result = false;
      join.id = now_.id;
      node().instructions.push_back(std::move(join));
    }
    node().end = FlowEnd::kConditional;
    layout_.nodes[static_cast<size_t>(current_)].guard = &guard;
    run_.guard = &guard;
    run_.from = current_;
    pending_.emplace_back(current_, &FlowNode::next);
    StartNode();
    layout_.nodes[static_cast<size_t>(current_)].under_guard = true;
  }

  void EndRun() {
    if (run_.guard == nullptr) return;
    run_.guard = nullptr;
    if (open_) pending_.emplace_back(current_, &FlowNode::next);
    pending_.emplace_back(run_.from, &FlowNode::taken);
    StartNode();
  }

  // Control does not go on behind the current node, unless past a guard.
  void Leave() {
    open_ = false;
    EndRun();
  }

  void AddStep(const Instruction& instruction, int flow_index) {
    layout_.nodes[static_cast<size_t>(current_)].steps.push_back({&instruction, now_.line, now_.id, flow_index});
  }

  void Append(const Instruction& instruction, FlowInstruction flow) {
    AddStep(instruction, static_cast<int>(node().instructions.size()));
    node().instructions.push_back(std::move(flow));
  }

  absl::Status AddBranch(const Instruction& branch) {
    EndRun();
    const uint32_t label = branch.operands[0].index;
    if (!branch.guard && LeadsOn(label)) return absl::OkStatus();
    HEDDLE_ASSIGN_OR_RETURN(FlowInstruction flow, StaticInstruction(Place(), branch));
    Append(branch, std::move(flow));
    if (!branch.guard) {
      jumps_.push_back({current_, &FlowNode::next, label});
      open_ = false;
      return absl::OkStatus();
    }
    node().end = FlowEnd::kConditional;
    jumps_.push_back({current_, &FlowNode::taken, label});
    pending_.emplace_back(current_, &FlowNode::next);
    StartNode();
    return absl::OkStatus();
  }

  absl::Status AddWideBranch(const Instruction& branch) {
    const auto table = std::find_if(branch.operands.begin(), branch.operands.end(),
                                    [](const ptx::Operand& operand) { return operand.kind == Kind::kTable; });
    if (table == branch.operands.end()) return Error(branch, "a branch without a table of targets");
    const std::vector<uint32_t>& labels = function_.tables[table->index].labels;
    if (labels.empty() || labels.size() > kMostTargets) {
      return Error(branch,
                   absl::StrCat("a branch with ", labels.size(), " targets; a trace tells ", kMostTargets, " apart"));
    }
    HEDDLE_ASSIGN_OR_RETURN(FlowInstruction flow, StaticInstruction(Place(), branch));
    Append(branch, std::move(flow));
    if (labels.size() == 1) {
      jumps_.push_back({current_, &FlowNode::next, labels[0]});
    } else {
      node().end = FlowEnd::kWide;
      for (const uint32_t label : labels) jumps_.push_back({current_, kWideWay, label});
    }
    Leave();
    return absl::OkStatus();
  }

  absl::Status AddCall(const Instruction& call) {
    const ptx::Function* callee = CalleeOf(module_, call);
    return callee == nullptr || callee->is_defined ? AddDeviceCall(call, callee) : AddLibraryCall(call, *callee);
  }

  // `callee` is null for a call of what is in a register.
  absl::Status AddDeviceCall(const Instruction& call, const ptx::Function* callee) {
    if (callee != nullptr && callee->is_kernel) return Error(call, "a kernel calls a kernel");
    Append(call, StaticCall(Place(), call, callee));
    node().end = FlowEnd::kCall;
    node().indirect = callee == nullptr;
    if (callee != nullptr) node().callees = {callee->name};
    if (run_.guard != nullptr) {
      EndRun();
    } else {
      pending_.emplace_back(current_, &FlowNode::next);
      StartNode();
    }
    return absl::OkStatus();
  }

  absl::Status AddLibraryCall(const Instruction& call, const ptx::Function& callee) {
    HEDDLE_ASSIGN_OR_RETURN(FlowInstruction flow, StaticLibraryCall(Place(), call, callee));
    for (std::string& source : calls_.sources[now_.statement]) flow.src.push_back(std::move(source));
    if (call.guard) flow.src.push_back(CanonicalName(function_, call.guard->index));
    const bool ends = flow.opcode.op == v1::OP_EXIT;
    Append(call, std::move(flow));
    calls_.placed[now_.statement] = {static_cast<size_t>(current_), node().instructions.size() - 1};
    if (ends) {
      node().end = FlowEnd::kExit;
      Leave();
    }
    return absl::OkStatus();
  }

  void AddImplicitReturn() {
    now_.id = places_.Add(function_.end_line, nullptr);
    node().end = function_.is_kernel ? FlowEnd::kExit : FlowEnd::kReturn;
    node().instructions.push_back(StaticReturn(function_, now_.id));
    open_ = false;
  }

  struct Jump {
    int node;
    Way way;
    uint32_t label;
  };
  // Moves of parameters that are part of calls.
  struct CallMoves {
    std::map<uint32_t, std::vector<size_t>> of_variable;  // by variable of the body: statements of calls
    std::map<size_t, std::vector<std::string>> sources;   // by statement of a call: registers that its moves read
    std::map<size_t, std::pair<size_t, size_t>> placed;   // by statement: node and instruction
  };
  // The guard of the current node, and the node that decides on it.
  struct GuardRun {
    const ptx::Operand* guard = nullptr;
    int from = kNoNode;
  };
  // Where the text is read.
  struct Position {
    size_t statement = 0;
    uint32_t line = 0;
    uint32_t id = 0;
  };

  const ptx::Module& module_;
  const ptx::Function& function_;
  PlaceTable& places_;
  Layout layout_;
  std::vector<bool> is_target_;
  std::vector<int> node_of_label_;
  CallMoves calls_;
  std::vector<Jump> jumps_;
  std::vector<std::pair<int, Way>> pending_;  // what leads to the node that begins next
  GuardRun run_;
  int current_ = kNoNode;
  bool open_ = false;  // control comes to the end of the current node
  Position now_;
};

}  // namespace

absl::StatusOr<Layout> LayOut(const ptx::Module& module, const ptx::Function& function, PlaceTable& places) {
  return LayoutBuilder(module, function, places).Build();
}

}  // namespace heddle::tracegen
