#include "traces/format/program/post_dominators.h"

#include <algorithm>
#include <utility>
#include <vector>

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

  // Immediate post-dominators as block indices of the program: Lengauer and Tarjan, "A Fast Algorithm for Finding
  // Dominators in a Flowgraph", the simple version, on the reversed graph. (Iterating to a fixed point is simpler
  // still, but takes quadratic time on graphs that a hostile file can have.)
  void Solve(std::vector<uint32_t>& out) {
    NumberNodes();
    const uint32_t reached = static_cast<uint32_t>(order_.size());
    semi_ = number_;
    label_.resize(end_ + 1);
    for (uint32_t v = 0; v <= end_; ++v) label_[v] = v;
    ancestor_.assign(end_ + 1, kNone);
    std::vector<uint32_t> dominator(end_ + 1, kNone);
    std::vector<std::vector<uint32_t>> bucket(end_ + 1);
    for (uint32_t i = reached; i-- > 1;) {
      const uint32_t w = order_[i];
      for (uint32_t v : successors_[w]) {
        if (number_[v] != kNone) semi_[w] = std::min(semi_[w], semi_[Evaluate(v)]);
      }
      bucket[order_[semi_[w]]].push_back(w);
      ancestor_[w] = parent_[w];
      for (uint32_t v : bucket[parent_[w]]) {
        const uint32_t u = Evaluate(v);
        dominator[v] = semi_[u] < semi_[v] ? u : parent_[w];
      }
      bucket[parent_[w]].clear();
    }
    for (uint32_t i = 1; i < reached; ++i) {
      const uint32_t w = order_[i];
      if (dominator[w] != order_[semi_[w]]) dominator[w] = dominator[dominator[w]];
    }
    for (uint32_t b = 0; b < end_; ++b) {
      out[first_ + b] = dominator[b] == kNone || dominator[b] == end_ ? kNoBlock : first_ + dominator[b];
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

  // Blocks that end in a trap, and blocks from which a trap can be reached, but not the end.
  void FindDead() {
    std::vector<std::vector<uint32_t>> sources(end_);
    std::vector<uint32_t> traps, ends;
    for (uint32_t b = 0; b < end_; ++b) {
      const Block& block = program_.block(first_ + b);
      bool trap = false;
      for (Pc pc = block.first; pc < block.first + block.count; ++pc) {
        trap |= (program_.instruction(pc).flags() & v1::FLAG_CANNOT_RETURN) != 0;
      }
      if (trap) {
        traps.push_back(b);
        continue;
      }
      if (block.terminator == v1::RETURN || block.terminator == v1::EXIT) ends.push_back(b);
      ForEachSuccessor(b, [&](uint32_t s) { sources[s].push_back(b); });
    }
    const auto reach_back = [&](std::vector<uint32_t> work) {
      std::vector<bool> reached(end_, false);
      for (uint32_t b : work) reached[b] = true;
      while (!work.empty()) {
        const uint32_t b = work.back();
        work.pop_back();
        for (uint32_t from : sources[b]) {
          if (reached[from]) continue;
          reached[from] = true;
          work.push_back(from);
        }
      }
      return reached;
    };
    const std::vector<bool> ending = reach_back(std::move(ends));
    dead_ = reach_back(std::move(traps));
    for (uint32_t b = 0; b < end_; ++b) dead_[b] = dead_[b] && !ending[b];
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

  // Depth-first numbers of the reversed graph, from the end.
  void NumberNodes() {
    number_.assign(end_ + 1, kNone);
    parent_.assign(end_ + 1, kNone);
    std::vector<std::pair<uint32_t, size_t>> stack{{end_, 0}};
    number_[end_] = 0;
    order_.assign(1, end_);
    while (!stack.empty()) {
      auto& [node, next] = stack.back();
      if (next == predecessors_[node].size()) {
        stack.pop_back();
        continue;
      }
      const uint32_t from = predecessors_[node][next++];
      if (number_[from] != kNone) continue;
      number_[from] = static_cast<uint32_t>(order_.size());
      parent_[from] = node;
      order_.push_back(from);
      stack.push_back({from, 0});
    }
  }

  // The node of least semidominator on the way from `v` up to its root in the forest; compresses the way.
  uint32_t Evaluate(uint32_t v) {
    if (ancestor_[v] == kNone) return label_[v];
    way_.clear();
    for (uint32_t u = v; ancestor_[ancestor_[u]] != kNone; u = ancestor_[u]) way_.push_back(u);
    for (; !way_.empty(); way_.pop_back()) {
      const uint32_t u = way_.back();
      if (semi_[label_[ancestor_[u]]] < semi_[label_[u]]) label_[u] = label_[ancestor_[u]];
      ancestor_[u] = ancestor_[ancestor_[u]];
    }
    return label_[v];
  }

  const Program& program_;
  uint32_t first_;
  uint32_t end_;
  std::vector<bool> dead_;
  std::vector<std::vector<uint32_t>> successors_;
  std::vector<std::vector<uint32_t>> predecessors_;
  std::vector<uint32_t> order_;
  std::vector<uint32_t> number_;
  std::vector<uint32_t> parent_;
  std::vector<uint32_t> semi_;
  std::vector<uint32_t> label_;
  std::vector<uint32_t> ancestor_;
  std::vector<uint32_t> way_;
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
