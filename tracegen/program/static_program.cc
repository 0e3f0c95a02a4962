#include "tracegen/program/static_program.h"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "tracegen/program/address_space.h"
#include "tracegen/program/analysis.h"
#include "tracegen/program/control_flow.h"
#include "tracegen/program/flow.h"
#include "tracegen/program/kernel_list.h"
#include "tracegen/program/link.h"
#include "tracegen/program/linked_flow.h"
#include "tracegen/program/prepare.h"
#include "tracegen/ptx/ptx_parser.h"
#include "traces/base/status_macros.h"

namespace heddle::tracegen {
namespace {

namespace v1 = ::heddle::trace::v1;

// A function on its way into a program.
struct ProgramFunction {
  const llvm::Function* ir = nullptr;
  FlowFunction flow;
  FunctionLinks links;
  Graph graph;  // over flow.nodes; edges already lead past empty nodes
  GraphOrder order;
  std::vector<bool> dead_ends;  // by node: see FindDeadEnds
  std::vector<int> post_dominators;
  RegisterNeed registers;
  std::vector<std::vector<bool>> hoistable;
  std::vector<uint32_t> block;              // by node: block index in the program
  std::vector<uint32_t> first_instruction;  // by node
};

class ProgramBuilder {
 public:
  ProgramBuilder(const CanonicalModule& module, KernelUnit* unit)
      : module_(module), unit_(*unit), code_(module.index) {}

  absl::Status Build() {
    HEDDLE_RETURN_IF_ERROR(AddFunction(unit_.function->getName().str()));
    for (size_t i = 0; i < functions_.size(); ++i) {
      for (const FlowNode& node : functions_[i].flow.nodes) {
        for (const std::string& callee : node.callees) {
          if (index_.count(callee) > 0) continue;
          HEDDLE_RETURN_IF_ERROR(AddFunction(callee));
        }
      }
    }
    FlowFunction& kernel = functions_[0].flow;
    if (kernel.is_kernel && !IsMachineCode(kernel) && MayReachBarrier()) SeparateReturns(kernel);
    for (ProgramFunction& function : functions_) HEDDLE_RETURN_IF_ERROR(BuildGraph(function));
    FindCallsThatStay();
    for (ProgramFunction& function : functions_) Analyse(function);
    Number();
    for (ProgramFunction& function : functions_) {
      EmitFunction(function);
      EmitLinks(function);
    }
    EmitTotals();
    return absl::OkStatus();
  }

 private:
  absl::Status AddFunction(const std::string& name) {
    ProgramFunction function;
    function.ir = module_.module->getFunction(name);
    HEDDLE_RETURN_IF_ERROR(module_.flows != nullptr ? TakeFlow(name, function) : ReadFlow(name, function));
    index_[name] = static_cast<uint32_t>(functions_.size());
    functions_.push_back(std::move(function));
    return absl::OkStatus();
  }

  absl::Status TakeFlow(const std::string& name, ProgramFunction& function) const {
    const auto found = module_.flows->functions.find(name);
    if (found == module_.flows->functions.end()) {
      return absl::InternalError(absl::StrCat("the PTX has no function ", name));
    }
    function.flow = found->second.flow;
    function.links = found->second.links;
    return absl::OkStatus();
  }

  absl::Status ReadFlow(const std::string& name, ProgramFunction& function) const {
    const PtxFunction* ptx = code_.Find(name);
    if (ptx == nullptr) return absl::InternalError(absl::StrCat("the PTX has no function ", name));
    uint32_t failed = 0;
    absl::StatusOr<FlowFunction> flow = BuildFlow(*ptx, code_.defined, code_.indirect, &failed);
    if (!flow.ok()) {
      return absl::Status(flow.status().code(), absl::StrCat(module_.Where(failed), ": ", flow.status().message()));
    }
    function.flow = *std::move(flow);
    std::set<uint32_t> moved;
    HEDDLE_RETURN_IF_ERROR(
        LinkFunction(module_, *function.ir, function.flow, code_.by_number, &function.links, &moved));
    if (moved.empty()) return absl::OkStatus();
    return absl::InternalError(absl::StrCat(module_.Where(*moved.begin()), ": memory access without link to its PTX"));
  }

  // Calls of functions that neither return nor end the thread as it asks for: those that trap, or loop for ever.
  void FindCallsThatStay() {
    std::vector<bool> ends(functions_.size(), false);  // functions with a way through
    for (ProgramFunction& function : functions_) function.graph.stays.assign(function.flow.nodes.size(), false);
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t f = 0; f < functions_.size(); ++f) {
        ProgramFunction& function = functions_[f];
        for (size_t i = 0; i < function.flow.nodes.size(); ++i) {
          const FlowNode& node = function.flow.nodes[i];
          if (node.end != FlowEnd::kCall) continue;
          function.graph.stays[i] = std::none_of(node.callees.begin(), node.callees.end(),
                                                 [&](const std::string& callee) { return ends[index_.at(callee)]; });
        }
        if (ends[f] || !ReachesEnd(function.graph)) continue;
        ends[f] = changed = true;
      }
    }
  }

  static void Analyse(ProgramFunction& function) {
    function.order = OrderNodes(function.graph);
    function.dead_ends = FindDeadEnds(function.graph);
    function.graph.stays = function.dead_ends;
    function.post_dominators = PostDominators(function.graph);
    function.registers = CountRegisters(function.flow, function.graph);
    function.hoistable = FindHoistable(function.flow, function.graph);
  }

  // Whether the kernel, or a function that it may call, has a barrier of the thread block.
  bool MayReachBarrier() const {
    for (const ProgramFunction& function : functions_) {
      for (const FlowNode& node : function.flow.nodes) {
        for (const FlowInstruction& instruction : node.instructions) {
          if (instruction.opcode.op == v1::OP_BARRIER) return true;
        }
      }
    }
    return false;
  }

  // Machine code ends its threads where it says so.
  static bool IsMachineCode(const FlowFunction& flow) {
    return std::ranges::any_of(flow.nodes, [](const FlowNode& node) {
      return !node.instructions.empty() && node.instructions.front().machine != nullptr;
    });
  }

  // Gives every branch to a shared `ret` a `ret` of its own, as machine code has it (a predicated exit). All early
  // returns of a PTX kernel share one such block, which would be a reconvergence point: threads that return early would
  // wait there for threads that wait for them at a barrier. Paths and counts stay the same.
  static void SeparateReturns(FlowFunction& flow) {
    const size_t nodes = flow.nodes.size();
    for (size_t i = 0; i < nodes; ++i) {
      if (flow.nodes[i].end != FlowEnd::kConditional) continue;
      for (int FlowNode::* way : {&FlowNode::next, &FlowNode::taken}) {
        const int target = flow.Forward(flow.nodes[i].*way);
        if (target == kNoNode) continue;
        FlowNode copy = flow.nodes[target];
        if (copy.end != FlowEnd::kExit || copy.instructions.size() != 1 || copy.instructions[0].cannot_return) continue;
        copy.name.clear();
        flow.nodes[i].*way = static_cast<int>(flow.nodes.size());
        flow.nodes.push_back(std::move(copy));
      }
    }
  }

  absl::Status BuildGraph(ProgramFunction& function) {
    FlowFunction& flow = function.flow;
    // Node 0 is the entry of every analysis; an empty one takes over what follows it.
    const int entry = flow.Forward(0);
    if (entry == kNoNode) return Endless(function);
    if (entry != 0) {
      // Its own name stays with the (empty) node, which no analysis reaches.
      function.block.clear();
    }
    function.graph.successors.resize(flow.nodes.size());
    function.graph.returns.assign(flow.nodes.size(), false);
    for (size_t i = 0; i < flow.nodes.size(); ++i) {
      FlowNode& node = flow.nodes[i];
      std::vector<int>& to = function.graph.successors[i];
      if (node.instructions.empty() && static_cast<int>(i) != 0) continue;
      if (node.end == FlowEnd::kExit || node.end == FlowEnd::kReturn) {
        function.graph.returns[i] = !node.instructions.empty() && !node.instructions.back().cannot_return;
        continue;
      }
      if (node.end == FlowEnd::kWide) {
        for (const int target : node.targets) to.push_back(flow.Forward(target));
      } else {
        to.push_back(flow.Forward(node.next));
      }
      if (node.end == FlowEnd::kConditional) to.push_back(flow.Forward(node.taken));
      if (std::find(to.begin(), to.end(), kNoNode) != to.end()) return Endless(function);
    }
    return absl::OkStatus();
  }

  absl::Status Endless(const ProgramFunction& function) const {
    return absl::UnimplementedError(absl::StrCat(module_.Where(*function.ir->getEntryBlock().getTerminator()),
                                                 ": an endless loop without a decision in ", function.flow.name));
  }

  void Number() {
    uint32_t block = 0, instruction = 0;
    for (ProgramFunction& function : functions_) {
      function.block.assign(function.flow.nodes.size(), 0);
      function.first_instruction.assign(function.flow.nodes.size(), 0);
      for (int node : function.order.nodes) {
        if (function.flow.nodes[node].instructions.empty()) continue;
        function.block[node] = block++;
        function.first_instruction[node] = instruction;
        instruction += static_cast<uint32_t>(function.flow.nodes[node].instructions.size());
      }
    }
  }

  void EmitFunction(ProgramFunction& function) {
    v1::KernelProgram& program = unit_.program;
    v1::Function* out = program.add_function();
    out->set_name(llvm::demangle(function.flow.name));
    out->set_first_block(static_cast<uint32_t>(program.block_size()));
    out->set_register_count(function.registers.most);
    std::map<std::string, uint32_t> registers;
    auto number = [&](const std::string& name) {
      return registers.emplace(name, static_cast<uint32_t>(registers.size()) + 1).first->second;
    };
    for (int index : function.order.nodes) {
      const FlowNode& node = function.flow.nodes[index];
      if (node.instructions.empty()) continue;
      v1::BasicBlock* block = program.add_block();
      block->set_first_instruction(function.first_instruction[index]);
      block->set_instruction_count(static_cast<uint32_t>(node.instructions.size()));
      block->set_loop_depth(function.order.depth[index]);
      const int dominator = function.post_dominators[index];
      block->set_immediate_post_dominator(dominator == kFunctionEnd ? 0 : function.block[dominator] + 1);
      for (int to : function.graph.successors[index]) block->add_successor(function.block[to]);
      switch (node.end) {
        case FlowEnd::kFallThrough:
          block->set_terminator(v1::FALL_THROUGH);
          break;
        case FlowEnd::kConditional:
          block->set_terminator(v1::BRANCH_CONDITIONAL);
          break;
        case FlowEnd::kWide:
          block->set_terminator(v1::BRANCH_WIDE);
          break;
        case FlowEnd::kCall:
          block->set_terminator(node.indirect ? v1::CALL_INDIRECT : v1::CALL);
          for (const std::string& callee : node.callees) block->add_callee(index_.at(callee));
          break;
        case FlowEnd::kReturn:
          block->set_terminator(v1::RETURN);
          break;
        case FlowEnd::kExit:
          block->set_terminator(v1::EXIT);
          break;
      }
      for (size_t i = 0; i < node.instructions.size(); ++i) {
        EmitInstruction(function, node, index, i, number);
      }
    }
    out->set_block_count(static_cast<uint32_t>(program.block_size()) - out->first_block());
    if (module_.flows == nullptr) return;
    std::string& widths = *out->mutable_register_bits();
    widths.resize(registers.size());
    for (const auto& [name, at] : registers) widths[at - 1] = static_cast<char>(RegisterBits(name));
    if (module_.flows->level != v1::LEVEL_MACHINE) return;
    TellMachineRegisters(module_.flows->functions.at(function.ir->getName().str()), registers, out);
  }

  void EmitMachineDetail(const ProgramFunction& function, const MachineDetail& detail, v1::Instruction* out) const {
    out->set_control(detail.control);
    if (detail.convergence == v1::Convergence::ROLE_UNSPECIFIED) return;
    v1::Convergence& convergence = *out->mutable_convergence();
    convergence.set_role(detail.convergence);
    convergence.set_barrier(detail.convergence_barrier);
    if (detail.meeting == kNoNode) return;
    // Where no path of the function leads there, the program has no such block.
    const int meeting = function.flow.Forward(detail.meeting);
    const std::vector<int>& nodes = function.order.nodes;
    if (meeting == kNoNode || std::find(nodes.begin(), nodes.end(), meeting) == nodes.end()) return;
    convergence.set_block(function.block[meeting] + 1);
  }

  template <typename Number>
  void EmitInstruction(const ProgramFunction& function, const FlowNode& node, int index, size_t i, Number& number) {
    const FlowInstruction& from = node.instructions[i];
    v1::Instruction* out = unit_.program.add_instruction();
    out->set_op(from.opcode.op);
    // Results first: numbers then follow the text.
    for (const std::string& name : from.dst) out->add_dst(number(name));
    for (const std::string& name : from.src) out->add_src(number(name));
    out->set_space(from.opcode.space);
    out->set_access_bytes(from.opcode.access_bytes);
    out->set_micro_ops(from.opcode.micro_ops);
    out->set_barrier_id(from.barrier_id);
    out->set_barrier_threads(from.barrier_threads);
    const bool ours = module_.made_volatile.count(from.id) > 0;
    out->set_mnemonic(ours ? absl::StrReplaceAll(from.mnemonic, {{".volatile", ""}}) : from.mnemonic);
    uint32_t flags = 0;
    if (from.opcode.is_volatile && !ours) flags |= v1::FLAG_VOLATILE;
    const bool last = i + 1 == node.instructions.size();
    if (from.is_guarded) flags |= v1::FLAG_GUARDED;
    if (from.cannot_return || (last && function.dead_ends[index])) flags |= v1::FLAG_CANNOT_RETURN;
    if (function.hoistable[index][i]) flags |= v1::FLAG_HOISTABLE;
    if (from.opcode.space != v1::SPACE_NONE && CountColumns(from, code_.by_number) == 0) flags |= v1::FLAG_NO_ADDRESS;
    if (node.end == FlowEnd::kConditional && last && IsUniform(function, node)) flags |= v1::FLAG_UNIFORM;
    out->set_flags(flags);
    if (from.collective != nullptr) out->MergeFrom(*from.collective);
    if (from.machine != nullptr) EmitMachineDetail(function, *from.machine, out);
    if (from.id > 0 && from.id <= module_.lines.size()) {
      out->set_source_file(module_.lines[from.id - 1].file);
      out->set_source_line(module_.lines[from.id - 1].line);
    }
    const bool meets_warp =
        from.opcode.op == v1::OP_WARP || out->has_matrix() || out->convergence().role() == v1::Convergence::WARP_SYNC;
    if (meets_warp) unit_.program.set_uses_warp_operations(true);
  }

  bool IsUniform(const ProgramFunction& function, const FlowNode& node) const {
    for (const llvm::BasicBlock& block : *function.ir) {
      if (block.getName() == llvm::StringRef(node.name)) return module_.uniform.count(&block) > 0;
    }
    return false;
  }

  void EmitLinks(const ProgramFunction& function) {
    for (const auto& entry : function.links.blocks) unit_.links.blocks[entry.first] = entry.second;
    for (const auto& entry : function.links.edges) unit_.links.edges[entry.first] = entry.second;
    for (const auto& entry : function.links.accesses) {
      llvm::SmallVector<AccessLink, 2>& out = unit_.links.accesses[entry.first];
      for (const FlowAccess& access : entry.second) {
        out.push_back({function.first_instruction[access.node] + access.instruction, access.position, access.offset});
      }
    }
  }

  // Registers and local memory of a function with the deepest calls below it; recursion counts once.
  std::pair<uint32_t, uint64_t> Deepest(uint32_t index, std::set<uint32_t>& active) const {
    const ProgramFunction& function = functions_[index];
    uint32_t registers = function.registers.most;
    uint64_t local = 0;
    active.insert(index);
    for (size_t node = 0; node < function.flow.nodes.size(); ++node) {
      if (function.flow.nodes[node].end != FlowEnd::kCall) continue;
      for (const std::string& name : function.flow.nodes[node].callees) {
        const uint32_t callee = index_.at(name);
        if (active.count(callee) > 0) continue;
        const auto [below, bytes] = Deepest(callee, active);
        registers = std::max(registers, function.registers.live_over_call[node] + below);
        local = std::max(local, bytes);
      }
    }
    active.erase(index);
    return {registers, local + function.flow.local_bytes};
  }

  // Shared variables that a function of the kernel names.
  uint64_t StaticSharedBytes() const {
    uint64_t bytes = 0;
    for (const llvm::GlobalVariable& variable : module_.module->globals()) {
      if (variable.getAddressSpace() != kSharedSpace || variable.isDeclaration()) continue;
      bool used = false;
      std::vector<const llvm::User*> users(variable.user_begin(), variable.user_end());
      std::set<const llvm::User*> seen;
      while (!users.empty() && !used) {
        const llvm::User* user = users.back();
        users.pop_back();
        if (!seen.insert(user).second) continue;
        if (auto* instruction = llvm::dyn_cast<llvm::Instruction>(user)) {
          used = index_.count(instruction->getFunction()->getName().str()) > 0;
        } else {
          users.insert(users.end(), user->user_begin(), user->user_end());
        }
      }
      if (!used) continue;
      const llvm::DataLayout& layout = module_.module->getDataLayout();
      const uint64_t align = layout.getPreferredAlign(&variable).value();
      const uint64_t least = variable.getAlign() ? variable.getAlign()->value() : align;
      bytes = (bytes + least - 1) / least * least + layout.getTypeAllocSize(variable.getValueType());
    }
    return bytes;
  }

  // A number that the kernel is annotated with; 0 if it is not.
  uint64_t Annotation(llvm::StringRef key) const {
    const llvm::NamedMDNode* list = module_.module->getNamedMetadata("nvvm.annotations");
    if (list == nullptr) return 0;
    for (const llvm::MDNode* node : list->operands()) {
      if (llvm::mdconst::dyn_extract_or_null<llvm::Function>(node->getOperand(0)) != unit_.function) continue;
      for (unsigned i = 1; i + 1 < node->getNumOperands(); i += 2) {
        const auto* name = llvm::dyn_cast<llvm::MDString>(node->getOperand(i));
        const auto* value = llvm::mdconst::dyn_extract_or_null<llvm::ConstantInt>(node->getOperand(i + 1));
        if (name != nullptr && name->getString() == key && value != nullptr) return value->getLimitedValue();
      }
    }
    return 0;
  }

  // What given PTX asks for: .maxnreg, and .minnctapersm, whose blocks share the registers of a multiprocessor (65,536,
  // in steps of 8 per thread).
  void BoundRegisters() {
    constexpr uint64_t kRegisters = 65536, kStep = 8, kMost = 255;
    v1::KernelProgram& program = unit_.program;
    uint64_t bound = kMost;
    if (const uint64_t most = Annotation("maxnreg"); most != 0) {
      bound = std::min(bound, most);
      program.set_registers_requested(static_cast<uint32_t>(bound));
    }
    if (const uint64_t blocks = Annotation("minctasm"); blocks != 0) {
      uint64_t threads = 1;
      for (const char* key : {"tidx", "tidy", "tidz"}) {
        const uint64_t either = std::max(Annotation(absl::StrCat("maxn", key)), Annotation(absl::StrCat("reqn", key)));
        threads *= std::clamp<uint64_t>(either, 1, 1024);
      }
      bound = std::min(bound, std::max(kRegisters / threads / std::min(blocks, kRegisters) / kStep * kStep, kStep));
    }
    program.set_register_count(std::min(program.register_count(), static_cast<uint32_t>(bound)));
  }

  void EmitTotals() {
    v1::KernelProgram& program = unit_.program;
    program.set_name(llvm::demangle(unit_.function->getName().str()));
    std::set<uint32_t> active;
    const auto [registers, local] = Deepest(0, active);
    program.set_register_count(registers);
    if (module_.flows != nullptr) BoundRegisters();
    program.set_local_bytes(static_cast<uint32_t>(local));
    program.set_static_shared_bytes(static_cast<uint32_t>(StaticSharedBytes()));
    program.set_ptx_sha256(code_.ptx_sha256);
    // Of our own PTX the trace's header tells all this.
    if (module_.flows == nullptr) return;
    const LinkedFlow& kernel = module_.flows->functions.at(unit_.function->getName().str());
    if (kernel.registers != 0) program.set_register_count(kernel.registers);
    program.set_level(module_.flows->level);
    program.set_producer(module_.producer);
    program.set_isa_version(module_.isa_version);
    program.set_target(module_.target);
  }

  const CanonicalModule& module_;
  KernelUnit& unit_;
  const CodeIndex& code_;
  std::deque<ProgramFunction> functions_;  // grows while its elements are read
  std::map<std::string, uint32_t> index_;
};

}  // namespace

absl::StatusOr<KernelUnit> ReadKernel(const CanonicalModule& module, const std::string& kernel) {
  KernelUnit unit;
  std::vector<std::string> known;
  for (const KernelName& name : ListKernels(module)) {
    known.push_back(name.name);
    if (name.mangled == kernel) {
      unit.function = module.module->getFunction(name.mangled);
      break;
    }
    if (name.name != kernel && llvm::demangle(name.mangled) != kernel) continue;
    if (unit.function != nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat("there are several kernels '", kernel, "'; write the mangled name, such as ", name.mangled));
    }
    unit.function = module.module->getFunction(name.mangled);
  }
  if (unit.function == nullptr) {
    return absl::NotFoundError(
        absl::StrCat("there is no kernel '", kernel, "'; the file has: ", absl::StrJoin(known, ", ")));
  }
  HEDDLE_RETURN_IF_ERROR(ProgramBuilder(module, &unit).Build());
  return unit;
}

}  // namespace heddle::tracegen
