#include "tools/exchange/accelsim/code_layout.h"

#include <algorithm>
#include <numeric>

namespace heddle::tools::accelsim {
namespace {

using trace::kNoBlock;

// Chains of blocks that stand one behind the other.
class Chains {
 public:
  explicit Chains(const trace::Program& program)
      : behind_(program.blocks().size(), kNoBlock), before_(behind_), root_(behind_.size()), closed_(behind_.size()) {
    std::iota(root_.begin(), root_.end(), 0);
    // A function's entry stands first.
    for (const trace::v1::Function& function : program.proto().function()) closed_[function.first_block()] = true;
  }

  // Puts `second` behind `first` if both are free for it.
  bool Link(uint32_t first, uint32_t second) {
    if (second == kNoBlock || behind_[first] != kNoBlock || before_[second] != kNoBlock || closed_[second])
      return false;
    if (Root(first) == Root(second)) return false;
    root_[Root(second)] = Root(first);
    behind_[first] = second;
    before_[second] = first;
    return true;
  }
  bool Linked(uint32_t first, uint32_t second) const { return second != kNoBlock && behind_[first] == second; }

  // Chain after chain, by the blocks that they begin with.
  std::vector<uint32_t> Order() const {
    std::vector<uint32_t> order;
    order.reserve(behind_.size());
    for (uint32_t head = 0; head < behind_.size(); ++head) {
      if (before_[head] != kNoBlock) continue;
      for (uint32_t block = head; block != kNoBlock; block = behind_[block]) order.push_back(block);
    }
    return order;
  }

 private:
  uint32_t Root(uint32_t block) {
    while (root_[block] != block) block = root_[block] = root_[root_[block]];
    return block;
  }

  std::vector<uint32_t> behind_;
  std::vector<uint32_t> before_;
  std::vector<uint32_t> root_;
  std::vector<bool> closed_;
};

}  // namespace

uint32_t CodeLayout::FallThrough(const trace::Program& program, uint32_t block) const {
  const trace::Block& at = program.block(block);
  return places[block].turned ? at.taken : at.successor;
}

uint32_t CodeLayout::Goal(const trace::Program& program, uint32_t block) const {
  const trace::Block& at = program.block(block);
  return places[block].turned ? at.successor : at.taken;
}

CodeLayout LayOut(const trace::Program& program, const std::vector<bool>& jumps) {
  const auto count = static_cast<uint32_t>(program.blocks().size());
  const auto is_call = [&](const trace::Block& block) {
    return block.terminator == trace::v1::CALL || block.terminator == trace::v1::CALL_INDIRECT;
  };
  const auto is_branch = [](const trace::Block& block) { return block.terminator == trace::v1::BRANCH_CONDITIONAL; };
  Chains chains(program);
  const auto link = [&](bool neighbours, auto&& applies, uint32_t trace::Block::* way) {
    for (uint32_t b = 0; b < count; ++b) {
      const trace::Block& block = program.block(b);
      if (applies(b, block) && (!neighbours || block.*way == b + 1)) chains.Link(b, block.*way);
    }
  };
  for (const bool neighbours : {true, false}) {
    link(
        neighbours, [&](uint32_t b, const trace::Block& block) { return !jumps[b] || is_call(block); },
        &trace::Block::successor);
  }
  const auto branches = [&](uint32_t, const trace::Block& block) { return is_branch(block); };
  for (const bool neighbours : {true, false}) {
    link(neighbours, branches, &trace::Block::successor);
    link(neighbours, branches, &trace::Block::taken);
  }
  CodeLayout layout;
  layout.order = chains.Order();
  layout.places.resize(count);
  uint32_t position = 0;
  for (const uint32_t b : layout.order) {
    const trace::Block& block = program.block(b);
    CodeLayout::Place& place = layout.places[b];
    place.first = position;
    if (is_branch(block)) {
      place.turned = chains.Linked(b, block.taken);
      place.jumps_behind = !place.turned && !chains.Linked(b, block.successor);
    } else {
      place.jumps_behind = !jumps[b] && block.successor != kNoBlock && !chains.Linked(b, block.successor);
    }
    position += block.count + (place.jumps_behind ? 1 : 0);
  }
  return layout;
}

}  // namespace heddle::tools::accelsim
