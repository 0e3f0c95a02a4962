#include "replay/analysis/cycle_nest.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace heddle::replay {
namespace {

using trace::Block;
using trace::kNoBlock;
using trace::Program;
namespace v1 = trace::v1;

constexpr uint32_t kNone = ~uint32_t{0};

// Ways between blocks of one function; a call goes on to its continuation.
class FlowGraph {
 public:
  explicit FlowGraph(const Program& program)
      : successors_(program.blocks().size()), predecessors_(program.blocks().size()) {
    for (uint32_t b = 0; b < successors_.size(); ++b) {
      const Block& block = program.block(b);
      if (block.terminator == v1::BRANCH_WIDE) {
        for (const uint32_t to : program.targets().subspan(block.first_target, block.target_count)) Add(b, to);
        continue;
      }
      if (block.successor != kNoBlock) Add(b, block.successor);
      if (block.taken != kNoBlock) Add(b, block.taken);
    }
  }

  const std::vector<uint32_t>& successors(uint32_t block) const { return successors_[block]; }
  const std::vector<uint32_t>& predecessors(uint32_t block) const { return predecessors_[block]; }

 private:
  void Add(uint32_t from, uint32_t to) {
    successors_[from].push_back(to);
    predecessors_[to].push_back(from);
  }

  std::vector<std::vector<uint32_t>> successors_;
  std::vector<std::vector<uint32_t>> predecessors_;
};

// Strongly connected sets of blocks among some of them: Tarjan, "Depth-First Search and Linear Graph Algorithms"
// (1972), without recursion, since a hostile program would exhaust the stack.
class ConnectedSets {
 public:
  ConnectedSets(const FlowGraph& graph, size_t blocks)
      : graph_(graph), number_(blocks, kNone), lowest_(blocks), member_(blocks, 0), on_path_(blocks, 0) {}

  // Those with a way around, each ascending, in no order. `blocks` is a set.
  std::vector<std::vector<uint32_t>> Find(const std::vector<uint32_t>& blocks) {
    found_.clear();
    count_ = 0;
    for (const uint32_t block : blocks) {
      number_[block] = kNone;
      member_[block] = 1;
    }
    for (const uint32_t block : blocks) {
      if (number_[block] == kNone) Visit(block);
    }
    for (const uint32_t block : blocks) member_[block] = 0;
    return std::move(found_);
  }

 private:
  struct Step {
    uint32_t block;
    size_t next = 0;  // of its successors
  };

  void Enter(uint32_t block) {
    number_[block] = lowest_[block] = count_++;
    path_.push_back(block);
    on_path_[block] = 1;
    steps_.push_back({block});
  }

  void Visit(uint32_t root) {
    Enter(root);
    while (!steps_.empty()) {
      const uint32_t block = steps_.back().block;
      if (steps_.back().next < graph_.successors(block).size()) {
        const uint32_t to = graph_.successors(block)[steps_.back().next++];
        if (member_[to] == 0) continue;
        if (number_[to] == kNone) {
          Enter(to);
        } else if (on_path_[to] != 0) {
          lowest_[block] = std::min(lowest_[block], number_[to]);
        }
        continue;
      }
      steps_.pop_back();
      if (!steps_.empty()) {
        uint32_t& above = lowest_[steps_.back().block];
        above = std::min(above, lowest_[block]);
      }
      if (lowest_[block] == number_[block]) TakeSet(block);
    }
  }

  void TakeSet(uint32_t root) {
    std::vector<uint32_t> set;
    uint32_t block = kNone;
    do {
      block = path_.back();
      path_.pop_back();
      on_path_[block] = 0;
      set.push_back(block);
    } while (block != root);
    const std::vector<uint32_t>& next = graph_.successors(root);
    if (set.size() == 1 && std::ranges::find(next, root) == next.end()) return;
    std::ranges::sort(set);
    found_.push_back(std::move(set));
  }

  const FlowGraph& graph_;
  std::vector<uint32_t> number_;  // by block: in the order of the search
  std::vector<uint32_t> lowest_;  // that the search has reached from it
  std::vector<uint8_t> member_;
  std::vector<uint8_t> on_path_;
  std::vector<uint32_t> path_;
  std::vector<Step> steps_;
  std::vector<std::vector<uint32_t>> found_;
  uint32_t count_ = 0;
};

// What belongs to the iterations of a cycle beside its blocks: those on the ways out of it that only the cycle leads
// to, up to where all these ways meet.
std::vector<uint32_t> WaysOut(const Program& program, const FlowGraph& graph, const std::vector<uint32_t>& cycle) {
  enum Place : uint8_t { kElsewhere, kInCycle, kOnWayOut };
  std::vector<Place> place(program.blocks().size(), kElsewhere);
  for (const uint32_t block : cycle) place[block] = kInCycle;
  uint32_t merge = cycle.front();
  while (merge != kNoBlock && place[merge] == kInCycle) merge = program.block(merge).post_dominator;
  std::vector<uint32_t> out;
  std::vector<uint32_t> work = cycle;
  while (!work.empty()) {
    const uint32_t block = work.back();
    work.pop_back();
    for (const uint32_t to : graph.successors(block)) {
      if (to == merge || place[to] != kElsewhere) continue;
      place[to] = kOnWayOut;
      out.push_back(to);
      work.push_back(to);
    }
  }
  // Those that something else leads to, too, are no part of it; nor is what they lead to.
  work = out;
  while (!work.empty()) {
    const uint32_t block = work.back();
    work.pop_back();
    const std::vector<uint32_t>& before = graph.predecessors(block);
    if (place[block] != kOnWayOut ||
        std::ranges::all_of(before, [&](uint32_t from) { return place[from] != kElsewhere; })) {
      continue;
    }
    place[block] = kElsewhere;
    for (const uint32_t to : graph.successors(block)) work.push_back(to);
  }
  std::erase_if(out, [&](uint32_t block) { return place[block] != kOnWayOut; });
  return out;
}

}  // namespace

absl::StatusOr<CycleNest> CycleNest::Create(const Program& program, ConvergenceRule rule) {
  const FlowGraph graph(program);
  const size_t blocks = program.blocks().size();
  ConnectedSets sets(graph, blocks);
  CycleNest nest;
  std::vector<std::vector<uint32_t>> cycles_of(blocks);
  struct Region {
    std::vector<uint32_t> blocks;
    uint32_t depth;
  };
  std::vector<Region> work(1);
  work[0].depth = 0;
  for (uint32_t b = 0; b < blocks; ++b) work[0].blocks.push_back(b);
  // Outer cycles before those inside them, so that lists by block begin with the outermost.
  for (size_t next = 0; next < work.size(); ++next) {
    const Region region = std::move(work[next]);
    for (std::vector<uint32_t>& cycle : sets.Find(region.blocks)) {
      if (region.depth == kMostDepth) {
        return absl::FailedPreconditionError(
            absl::StrCat("kernel ", program.name(), ": cycles of blocks are nested deeper than ", kMostDepth));
      }
      const auto number = static_cast<uint32_t>(nest.headers_.size());
      nest.headers_.push_back(cycle.front());
      for (const uint32_t block : cycle) cycles_of[block].push_back(number);
      if (rule == ConvergenceRule::kConstruct) {
        for (const uint32_t block : WaysOut(program, graph, cycle)) cycles_of[block].push_back(number);
      }
      cycle.erase(cycle.begin());
      if (!cycle.empty()) work.push_back({std::move(cycle), region.depth + 1});
    }
  }
  nest.first_.push_back(0);
  for (const std::vector<uint32_t>& list : cycles_of) {
    nest.cycles_.insert(nest.cycles_.end(), list.begin(), list.end());
    nest.first_.push_back(nest.cycles_.size());
  }
  return nest;
}

}  // namespace heddle::replay
