#include "tracegen/program/analysis.h"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "llvm/ADT/BitVector.h"
#include "tracegen/ptx/ptx_parser.h"

namespace heddle::tracegen {
namespace {

namespace v1 = ::heddle::trace::v1;

// Dense numbers for the virtual registers of a function.
class RegisterTable {
 public:
  explicit RegisterTable(const FlowFunction& flow) {
    for (const FlowNode& node : flow.nodes) {
      for (const FlowInstruction& instruction : node.instructions) {
        for (const std::string& name : instruction.dst) Add(name);
        for (const std::string& name : instruction.src) Add(name);
      }
    }
  }
  uint32_t size() const { return static_cast<uint32_t>(words_.size()); }
  uint32_t Number(const std::string& name) const { return numbers_.at(name); }
  uint32_t Words(uint32_t number) const { return words_[number]; }

 private:
  void Add(const std::string& name) {
    if (numbers_.emplace(name, size()).second) words_.push_back(RegisterWords(name));
  }
  std::unordered_map<std::string, uint32_t> numbers_;
  std::vector<uint32_t> words_;
};

uint32_t CountWords(const llvm::BitVector& live, const RegisterTable& table) {
  uint32_t words = 0;
  for (unsigned number : live.set_bits()) words += table.Words(number);
  return words;
}

bool OnlyComputes(const FlowInstruction& instruction) {
  if (IsArithmetic(instruction.opcode.op)) return !instruction.reads_block_index && !instruction.reads_clock;
  return instruction.opcode.op == v1::OP_LOAD && instruction.opcode.space == v1::SPACE_PARAM;
}

}  // namespace

bool IsArithmetic(v1::OpClass op) {
  switch (op) {
    case v1::OP_MOVE:
    case v1::OP_INT_ALU:
    case v1::OP_INT_MUL:
    case v1::OP_INT_DIV:
    case v1::OP_FP32:
    case v1::OP_FP64:
    case v1::OP_FP_DIV:
    case v1::OP_SFU:
    case v1::OP_CONVERT:
      return true;
    default:
      return false;
  }
}

RegisterNeed CountRegisters(const FlowFunction& flow, const Graph& graph) {
  const RegisterTable table(flow);
  const size_t count = flow.nodes.size();
  std::vector<llvm::BitVector> live_in(count, llvm::BitVector(table.size()));
  RegisterNeed need;
  need.live_over_call.assign(count, 0);
  auto live_out = [&](size_t node) {
    llvm::BitVector live(table.size());
    for (int to : graph.successors[node]) live |= live_in[to];
    return live;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t node = count; node-- > 0;) {
      llvm::BitVector live = live_out(node);
      const std::vector<FlowInstruction>& instructions = flow.nodes[node].instructions;
      for (size_t i = instructions.size(); i-- > 0;) {
        for (const std::string& name : instructions[i].dst) live.reset(table.Number(name));
        for (const std::string& name : instructions[i].src) live.set(table.Number(name));
      }
      if (live != live_in[node]) {
        live_in[node] = live;
        changed = true;
      }
    }
  }
  for (size_t node = 0; node < count; ++node) {
    llvm::BitVector live = live_out(node);
    if (flow.nodes[node].end == FlowEnd::kCall) need.live_over_call[node] = CountWords(live, table);
    const std::vector<FlowInstruction>& instructions = flow.nodes[node].instructions;
    for (size_t i = instructions.size(); i-- > 0;) {
      // A result that nobody reads still needs a place to go to.
      for (const std::string& name : instructions[i].dst) live.set(table.Number(name));
      need.most = std::max(need.most, CountWords(live, table));
      for (const std::string& name : instructions[i].dst) live.reset(table.Number(name));
      for (const std::string& name : instructions[i].src) live.set(table.Number(name));
    }
    need.most = std::max(need.most, CountWords(live, table));
  }
  return need;
}

std::vector<std::vector<bool>> FindHoistable(const FlowFunction& flow, const Graph& graph) {
  const RegisterTable table(flow);
  const size_t count = flow.nodes.size();
  const std::vector<std::vector<int>> deciders = ControlDependence(graph, PostDominators(graph));
  std::vector<bool> differs(table.size(), false);  // registers that depend on the block
  std::vector<bool> undecided(count, false);       // nodes whose execution depends on the block
  std::vector<bool> branch_differs(count, false);
  for (bool changed = true; changed;) {
    changed = false;
    auto mark = [&](std::vector<bool>& marks, size_t at) {
      if (marks[at]) return;
      marks[at] = true;
      changed = true;
    };
    for (size_t node = 0; node < count; ++node) {
      for (int decider : deciders[node]) {
        if (branch_differs[decider] || undecided[decider]) mark(undecided, node);
      }
      for (const FlowInstruction& instruction : flow.nodes[node].instructions) {
        bool same = OnlyComputes(instruction) && !undecided[node];
        // Parameter moves of a device function read its caller's values; those behind a call its results.
        if (instruction.mnemonic.starts_with("ld.param") && !flow.is_kernel) same = false;
        if (instruction.mnemonic.starts_with("ld.param") && instruction.opcode.op == v1::OP_MOVE) same = false;
        for (const std::string& name : instruction.src) same = same && !differs[table.Number(name)];
        if (same) continue;
        for (const std::string& name : instruction.dst) mark(differs, table.Number(name));
        if (instruction.opcode.op == v1::OP_BRANCH) {
          for (const std::string& name : instruction.src) {
            if (differs[table.Number(name)]) mark(branch_differs, node);
          }
        }
      }
    }
  }
  std::vector<std::vector<bool>> result(count);
  for (size_t node = 0; node < count; ++node) {
    for (const FlowInstruction& instruction : flow.nodes[node].instructions) {
      bool same = OnlyComputes(instruction) && !undecided[node];
      for (const std::string& name : instruction.src) same = same && !differs[table.Number(name)];
      for (const std::string& name : instruction.dst) same = same && !differs[table.Number(name)];
      result[node].push_back(same && !instruction.dst.empty());
    }
  }
  return result;
}

}  // namespace heddle::tracegen
