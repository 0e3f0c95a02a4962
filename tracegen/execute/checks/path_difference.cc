#include "tracegen/execute/checks/path_difference.h"

#include <algorithm>

#include "traces/format/chunk/walk.h"

namespace heddle::tracegen {
namespace {

// Decisions that tell who takes them.
class ObservedDecisions {
 public:
  ObservedDecisions(std::span<const uint8_t> decisions, std::vector<std::pair<trace::Pc, uint64_t>>& observed)
      : decisions_(decisions.data(), decisions.size()), observed_(observed) {}
  void set_branch(trace::Pc pc) { branch_ = pc; }
  bool empty() const { return decisions_.empty(); }
  bool two_way(uint32_t& out) {
    if (!decisions_.two_way(out)) return false;
    observed_.emplace_back(branch_, out);
    return true;
  }
  bool wide(uint32_t& out) { return two_way(out); }

 private:
  trace::ByteDecisions decisions_;
  std::vector<std::pair<trace::Pc, uint64_t>>& observed_;
  trace::Pc branch_ = 0;
};

}  // namespace

void PathDifference::Follow(std::span<const uint8_t> decisions, std::span<const uint64_t> addresses, Events& decided,
                            Events& accessed) const {
  decided.clear();
  accessed.clear();
  ObservedDecisions observed(decisions, decided);
  trace::WalkState state;
  uint64_t instructions = 0;
  size_t next = 0;
  trace::Walk(program_, trace::Extent::kRunsToExit, observed, state, ~uint64_t{0}, instructions,
              [&](uint32_t, const trace::Block& block) {
                observed.set_branch(block.first + block.count - 1);
                for (trace::Pc pc : program_.accesses_of(block)) {
                  if (next < addresses.size()) accessed.emplace_back(pc, addresses[next++]);
                }
              });
  const auto by_instruction = [](const auto& a, const auto& b) { return a.first < b.first; };
  std::stable_sort(decided.begin(), decided.end(), by_instruction);
  std::stable_sort(accessed.begin(), accessed.end(), by_instruction);
}

void PathDifference::AddChanges(const Events& events, const Events& others, uint64_t ChangeCount::* count) {
  size_t i = 0;
  size_t j = 0;
  while (i < events.size() || j < others.size()) {
    const trace::Pc pc = j == others.size() || (i < events.size() && events[i].first <= others[j].first)
                             ? events[i].first
                             : others[j].first;
    uint64_t changed = 0;
    while (true) {
      const bool here = i < events.size() && events[i].first == pc;
      const bool there = j < others.size() && others[j].first == pc;
      if (!here && !there) break;
      changed += !here || !there || events[i].second != others[j].second;
      i += here;
      j += there;
    }
    if (changed == 0) continue;
    changes_[pc].*count += changed;
    if (std::find(changed_.begin(), changed_.end(), pc) == changed_.end()) changed_.push_back(pc);
  }
}

void PathDifference::Compare(std::span<const uint8_t> decisions, std::span<const uint64_t> addresses,
                             std::span<const uint8_t> other_decisions, std::span<const uint64_t> other_addresses) {
  if (std::ranges::equal(decisions, other_decisions) && std::ranges::equal(addresses, other_addresses)) return;
  Follow(decisions, addresses, decided_[0], accessed_[0]);
  Follow(other_decisions, other_addresses, decided_[1], accessed_[1]);
  changed_.clear();
  AddChanges(decided_[0], decided_[1], &ChangeCount::decisions);
  AddChanges(accessed_[0], accessed_[1], &ChangeCount::addresses);
  for (const trace::Pc pc : changed_) ++changes_[pc].threads;
}

void PathDifference::CountExecutions(std::span<const uint8_t> decisions, std::vector<uint64_t>& counts) const {
  trace::ByteDecisions taken(decisions.data(), decisions.size());
  trace::WalkState state;
  uint64_t instructions = 0;
  trace::Walk(program_, trace::Extent::kRunsToExit, taken, state, ~uint64_t{0}, instructions,
              [&](uint32_t, const trace::Block& block) {
                for (trace::Pc pc = block.first; pc < block.first + block.count; ++pc) ++counts[pc];
              });
}

}  // namespace heddle::tracegen
