#include <algorithm>
#include <vector>

#include "traces/format/check.h"

namespace heddle::trace {
namespace {

// Post-dominators of one function. Nodes are its blocks, numbered from 0, and the end as the last node.
class FunctionGraph {
 public:
  FunctionGraph(const Program& program, uint32_t first, uint32_t count)
      : program_(program), first_(first), end_(count) {
    successors_.resize(count + 1);
    predecessors_.resize(count + 1);
    FindDead();
    for (uint32_t b = 0; b < count; ++b) {
      if (dead_[b]) continue;
      const Block& block = program_.block(first_ + b);
      if (block.terminator == v1::RETURN || block.terminator == v1::EXIT) AddEdge(b, end_);
      ForEachSuccessor(b, [&](uint32_t s) {
        if (!dead_[s]) AddEdge(b, s);
      });
    }
    ConnectEndlessLoops();
  }

  // Immediate post-dominators as block indices of the program (Cooper, Harvey and Kennedy, "A Simple, Fast Dominance
  // Algorithm", run on the reversed graph).
  void Solve(std::vector<uint32_t>& out) {
    const std::vector<uint32_t> order = ReversedPostOrder();
    std::vector<uint32_t> number(end_ + 1, kNone);
    for (uint32_t i = 0; i < order.size(); ++i) number[order[i]] = i;
    std::vector<uint32_t> parent(end_ + 1, kNone);
    parent[end_] = end_;
    const auto intersect = [&](uint32_t a, uint32_t b) {
      while (a != b) {
        while (number[a] > number[b]) a = parent[a];
        while (number[b] > number[a]) b = parent[b];
      }
      return a;
    };
    for (bool changed = true; changed;) {
      changed = false;
      for (uint32_t node : order) {
        if (node == end_) continue;
        uint32_t common = kNone;
        for (uint32_t s : successors_[node]) {
          if (number[s] == kNone || parent[s] == kNone) continue;
          common = common == kNone ? s : intersect(common, s);
        }
        if (common != parent[node]) {
          parent[node] = common;
          changed = true;
        }
      }
    }
    for (uint32_t b = 0; b < end_; ++b) {
      out[first_ + b] = parent[b] == kNone || parent[b] == end_ ? kNoBlock : first_ + parent[b];
    }
  }

 private:
  static constexpr uint32_t kNone = ~uint32_t{0};

  template <typename Visit>
  void ForEachSuccessor(uint32_t b, Visit&& visit) const {
    const Block& block = program_.block(first_ + b);
    if (block.terminator == v1::BRANCH_WIDE) {
      for (uint32_t t : program_.targets().subspan(block.first_target, block.target_count)) visit(t - first_);
      return;
    }
    if (block.successor != kNoBlock) visit(block.successor - first_);
    if (block.taken != kNoBlock) visit(block.taken - first_);
  }

  void AddEdge(uint32_t from, uint32_t to) {
    successors_[from].push_back(to);
    predecessors_[to].push_back(from);
  }

  // Blocks that end in a trap, and blocks that lead to nothing else.
  void FindDead() {
    dead_.assign(end_, false);
    std::vector<uint32_t> left(end_, 0);
    std::vector<std::vector<uint32_t>> callers(end_);
    std::vector<uint32_t> work;
    for (uint32_t b = 0; b < end_; ++b) {
      ForEachSuccessor(b, [&](uint32_t s) {
        ++left[b];
        callers[s].push_back(b);
      });
      const Block& block = program_.block(first_ + b);
      for (Pc pc = block.first; pc < block.first + block.count; ++pc) {
        if (program_.instruction(pc).flags() & v1::FLAG_CANNOT_RETURN) dead_[b] = true;
      }
      if (dead_[b]) work.push_back(b);
    }
    while (!work.empty()) {
      const uint32_t b = work.back();
      work.pop_back();
      for (uint32_t from : callers[b]) {
        if (--left[from] == 0 && !dead_[from]) {
          dead_[from] = true;
          work.push_back(from);
        }
      }
    }
  }

  // While blocks are left that never reach the end, the one with the highest index gets an edge to it. Blocks stand in
  // reverse post-order, so that is the latch of an endless loop.
  void ConnectEndlessLoops() {
    std::vector<bool> reaches(end_ + 1, false);
    std::vector<uint32_t> work{end_};
    reaches[end_] = true;
    for (uint32_t next = end_;;) {
      while (!work.empty()) {
        const uint32_t node = work.back();
        work.pop_back();
        for (uint32_t from : predecessors_[node]) {
          if (!reaches[from]) {
            reaches[from] = true;
            work.push_back(from);
          }
        }
      }
      while (next > 0 && (reaches[next - 1] || dead_[next - 1])) --next;
      if (next == 0) return;
      AddEdge(next - 1, end_);
      reaches[next - 1] = true;
      work.push_back(next - 1);
    }
  }

  // Reverse post-order of the reversed graph, from the end.
  std::vector<uint32_t> ReversedPostOrder() const {
    std::vector<uint32_t> order;
    std::vector<bool> seen(end_ + 1, false);
    std::vector<std::pair<uint32_t, size_t>> stack{{end_, 0}};
    seen[end_] = true;
    while (!stack.empty()) {
      auto& [node, next] = stack.back();
      if (next == predecessors_[node].size()) {
        order.push_back(node);
        stack.pop_back();
        continue;
      }
      const uint32_t from = predecessors_[node][next++];
      if (!seen[from]) {
        seen[from] = true;
        stack.push_back({from, 0});
      }
    }
    std::reverse(order.begin(), order.end());
    return order;
  }

  const Program& program_;
  uint32_t first_;
  uint32_t end_;
  std::vector<bool> dead_;
  std::vector<std::vector<uint32_t>> successors_;
  std::vector<std::vector<uint32_t>> predecessors_;
};

}  // namespace

std::vector<uint32_t> ComputePostDominators(const Program& program) {
  std::vector<uint32_t> out(program.blocks().size(), kNoBlock);
  for (const v1::Function& function : program.proto().function()) {
    FunctionGraph(program, function.first_block(), function.block_count()).Solve(out);
  }
  return out;
}

}  // namespace heddle::trace
