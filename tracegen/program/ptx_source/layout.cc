#include "tracegen/program/ptx_source/layout.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "tracegen/program/device_calls.h"
#include "tracegen/program/prepare.h"
#include "tracegen/program/ptx_source/callee.h"
#include "tracegen/program/ptx_source/libdevice.h"
#include "tracegen/program/ptx_source/ptx_error.h"
#include "tracegen/ptx/opcode.h"
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

// A name that says what a register holds, as those of LLVM's text do, with a number that is its own.
std::string CanonicalName(const ptx::Function& function, uint32_t number) {
  const ptx::Type& type = function.RegisterOf(number).type;
  const char* kind = type.kind == ptx::TypeKind::kPredicate ? "%p"
                     : type.bits == 128                     ? "%rq"
                     : type.bits == 64                      ? (type.name == "f64" ? "%fd" : "%rd")
                     : type.bits == 32                      ? (type.name == "f32" ? "%f" : "%r")
                                                            : "%rs";
  return absl::StrCat(kind, number);
}

// Registers that an operand names, in order.
template <typename Visit>
void ForEachRegister(const ptx::Operand& operand, const Visit& visit) {
  if (operand.kind == Kind::kRegister) visit(operand);
  for (const ptx::Operand& element : operand.elements) ForEachRegister(element, visit);
}

template <typename Visit>
void ForEachSpecial(const ptx::Operand& operand, const Visit& visit) {
  if (operand.kind == Kind::kSpecial) visit(operand.text);
  for (const ptx::Operand& element : operand.elements) ForEachSpecial(element, visit);
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

  // The body's parameter variable that an access is about, if it is one.
  std::optional<uint32_t> ParameterVariable(const Instruction& instruction) const {
    if (!IsOneOf(instruction.opcode(), {"ld", "st"}) || instruction.Space() != StateSpace::kParam) return std::nullopt;
    const ptx::Operand& address = instruction.operands[instruction.opcode() == "ld" ? 1 : 0];
    if (address.elements.empty() || address.elements[0].kind != Kind::kSymbol ||
        address.elements[0].symbol != ptx::SymbolKind::kLocal) {
      return std::nullopt;
    }
    return address.elements[0].index;
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
    HEDDLE_ASSIGN_OR_RETURN(FlowInstruction flow, MakeFlow(instruction));
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
           instruction.form->op == v1::OP_TENSOR;
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
    HEDDLE_ASSIGN_OR_RETURN(FlowInstruction flow, MakeFlow(branch));
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
    HEDDLE_ASSIGN_OR_RETURN(FlowInstruction flow, MakeFlow(branch));
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
    FlowInstruction flow;
    flow.mnemonic = call.Mnemonic();
    flow.opcode = ClassifyOpcode(flow.mnemonic);
    flow.id = now_.id;
    for (const size_t list : {2u, 0u}) {  // arguments and results that are registers (PTX before 2.0)
      ForEachRegister(call.operands[list], [&](const ptx::Operand& operand) {
        (operand.written ? flow.dst : flow.src).push_back(CanonicalName(function_, operand.index));
      });
    }
    if (callee == nullptr || callee->is_defined) {
      if (callee != nullptr && callee->is_kernel) return Error(call, "a kernel calls a kernel");
      if (callee == nullptr) flow.src.push_back(CanonicalName(function_, call.operands[1].index));
      if (call.guard) flow.src.push_back(CanonicalName(function_, call.guard->index));
      Append(call, std::move(flow));
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
    const std::string& name = callee->name;
    flow.mnemonic = absl::StrCat("call.", name);
    flow.opcode = Opcode{};
    flow.opcode.has_result = false;
    if (IsFailureCall(name)) {
      flow.opcode.op = v1::OP_EXIT;
      flow.cannot_return = true;
    } else {
      std::optional<uint32_t> micro_ops = MathMicroOps(name);
      if (!micro_ops) micro_ops = SystemCallMicroOps(name);
      if (!micro_ops && !LibdeviceSignature(name).empty()) micro_ops = 1;
      if (!micro_ops) return Error(call, ExplainUndefined(name));
      flow.opcode.op = v1::OP_SFU;
      flow.opcode.micro_ops = *micro_ops;
    }
    for (std::string& source : calls_.sources[now_.statement]) flow.src.push_back(std::move(source));
    if (call.guard) flow.src.push_back(CanonicalName(function_, call.guard->index));
    Append(call, std::move(flow));
    calls_.placed[now_.statement] = {static_cast<size_t>(current_), node().instructions.size() - 1};
    if (IsFailureCall(name)) {
      node().end = FlowEnd::kExit;
      Leave();
    }
    return absl::OkStatus();
  }

  void AddImplicitReturn() {
    FlowInstruction flow;
    flow.mnemonic = "ret";
    flow.opcode.op = function_.is_kernel ? v1::OP_EXIT : v1::OP_RETURN;
    flow.opcode.has_result = false;
    now_.id = flow.id = places_.Add(function_.end_line, nullptr);
    node().end = function_.is_kernel ? FlowEnd::kExit : FlowEnd::kReturn;
    node().instructions.push_back(std::move(flow));
    open_ = false;
  }

  absl::StatusOr<FlowInstruction> MakeFlow(const Instruction& instruction) {
    FlowInstruction flow;
    flow.mnemonic = instruction.Mnemonic();
    flow.opcode = ClassifyOpcode(absl::StrReplaceAll(
        flow.mnemonic, {{"::cta", ""}, {"::cluster", ""}, {"::entry", ""}, {"::func", ""}, {"::gpu", ""}}));
    if (flow.opcode.op == v1::OP_UNKNOWN) flow.opcode.op = instruction.form->op;
    if (flow.opcode.op == v1::OP_UNKNOWN) return Error(instruction, "PTX instruction that is not known");
    flow.id = now_.id;
    for (const ptx::Operand& operand : instruction.operands) {
      ForEachRegister(operand, [&](const ptx::Operand& at) {
        (at.written ? flow.dst : flow.src).push_back(CanonicalName(function_, at.index));
      });
      ForEachSpecial(operand, [&](std::string_view name) {
        if (name == "%ctaid") flow.reads_block_index = true;
        if (name.starts_with("%clock") || name.starts_with("%globaltimer") || name == "%smid") flow.reads_clock = true;
      });
    }
    if (instruction.guard) {
      flow.src.push_back(CanonicalName(function_, instruction.guard->index));
      // What stays in a result's register where the guard is false is read, too.
      for (const std::string& name : flow.dst) flow.src.push_back(name);
    }
    if (flow.opcode.op == v1::OP_BARRIER) HEDDLE_RETURN_IF_ERROR(ReadBarrier(instruction, &flow));
    if (flow.opcode.space == v1::SPACE_PARAM && (flow.opcode.op == v1::OP_LOAD || flow.opcode.op == v1::OP_STORE) &&
        (!function_.is_kernel || ParameterVariable(instruction))) {
      // Parameters of device functions are registers to any assembler.
      flow.opcode.op = v1::OP_MOVE;
      flow.opcode.space = v1::SPACE_NONE;
      flow.opcode.access_bytes = 0;
    }
    return flow;
  }

  absl::Status ReadBarrier(const Instruction& instruction, FlowInstruction* flow) const {
    if (instruction.Has("arrive")) return Error(instruction, "barrier arrival without waiting");
    size_t numbers = 0;
    for (const ptx::Operand& operand : instruction.operands) {
      if (operand.written) continue;
      if (operand.kind == Kind::kRegister) {
        if (function_.RegisterOf(operand.index).type.kind == ptx::TypeKind::kPredicate) continue;
        return Error(instruction, "barrier whose number or thread count is not a constant");
      }
      if (operand.kind != Kind::kInteger || numbers == 2) continue;
      (numbers++ == 0 ? flow->barrier_id : flow->barrier_threads) = static_cast<uint32_t>(operand.bits);
    }
    return absl::OkStatus();
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
