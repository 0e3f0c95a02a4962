#include "tools/exchange/accelsim/warp_issues.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace heddle::tools::accelsim {
namespace {

using replay::LaneMask;
using replay::PathStep;
using replay::Position;

class GuardedStack {
 public:
  GuardedStack(std::span<const replay::ThreadPath* const> threads, replay::PieceTable& pieces)
      : threads_(threads), pieces_(pieces), next_(threads.size(), 0) {}

  replay::Alignment Run() {
    LaneMask all = 0;
    for (size_t lane = 0; lane < threads_.size(); ++lane) all |= LaneMask{1} << lane;
    stack_ = {{Position::Exit(), Live(all)}};
    while (!stack_.empty()) Step();
    return std::move(issues_);
  }

 private:
  struct Entry {
    Position rpc;
    LaneMask lanes = 0;
  };

  const PathStep& At(int lane) const {
    const auto thread = static_cast<size_t>(lane);
    return (*threads_[thread])[next_[thread]];
  }

  LaneMask Live(LaneMask lanes) const {
    LaneMask live = 0;
    for (LaneMask left = lanes; left != 0; left &= left - 1) {
      const auto lane = static_cast<size_t>(std::countr_zero(left));
      if (next_[lane] < threads_[lane]->size()) live |= LaneMask{1} << lane;
    }
    return live;
  }

  // Of the lanes, which are live, those that come to this piece next.
  LaneMask ComingTo(uint32_t piece, LaneMask lanes) const {
    LaneMask coming = 0;
    for (LaneMask left = lanes; left != 0; left &= left - 1) {
      const int lane = std::countr_zero(left);
      if (At(lane).piece == piece) coming |= LaneMask{1} << lane;
    }
    return coming;
  }

  void Issue(uint32_t piece, LaneMask lanes) {
    issues_.push_back({piece, lanes});
    for (LaneMask left = lanes; left != 0; left &= left - 1) ++next_[static_cast<size_t>(std::countr_zero(left))];
  }

  void Step() {
    Entry& top = stack_.back();
    const LaneMask live = Live(top.lanes);
    if (live == 0 || pieces_[At(std::countr_zero(live)).piece].at == top.rpc) {
      stack_.pop_back();
      return;
    }
    const PathStep lead = At(std::countr_zero(live));
    const LaneMask together = ComingTo(lead.piece, live);
    if (together != live) {
      // Behind a divergence without a reconvergence point of its own: one path after the other.
      top.lanes = live & ~together;
      const Position rpc = top.rpc;
      stack_.push_back({rpc, together});
      return;
    }
    Issue(lead.piece, live);
    IssueGuarded(lead.piece, live);
    Part(lead.reconvergence, Live(live));
  }

  // The instruction that the end of this piece decides on, if that is a guard.
  void IssueGuarded(uint32_t piece, LaneMask lanes) {
    const trace::Program& program = pieces_.program();
    const replay::PieceTable::Piece& at = pieces_[piece];
    const uint32_t b = program.block_of(at.at.pc());
    const trace::Block& block = program.block(b);
    const bool is_end = at.at.pc() + pieces_.weights()[piece] == block.first + block.count;
    if (!is_end || !program.DecidesGuard(block)) return;
    const uint32_t guarded = pieces_.Of(block.successor, at.at.depth()).first;
    Issue(guarded, ComingTo(guarded, Live(lanes)));
  }

  // Splits the topmost entry, whose live lanes these are, by where they go on.
  void Part(Position rpc, LaneMask live) {
    std::vector<std::pair<uint32_t, LaneMask>> paths;  // by piece
    for (LaneMask left = live; left != 0;) {
      const uint32_t to = At(std::countr_zero(left)).piece;
      const LaneMask lanes = ComingTo(to, left);
      paths.emplace_back(to, lanes);
      left &= ~lanes;
    }
    if (paths.size() < 2) return;
    const Position meet = rpc.is_exit() ? stack_.back().rpc : rpc;
    if (rpc.is_exit()) stack_.pop_back();  // they are on their own until the outer point
    for (const auto& [to, lanes] : paths) {
      if (pieces_[to].at != meet) stack_.push_back({meet, lanes});
    }
  }

  std::span<const replay::ThreadPath* const> threads_;
  replay::PieceTable& pieces_;
  std::vector<size_t> next_;  // step of each thread's path
  std::vector<Entry> stack_;
  replay::Alignment issues_;
};

}  // namespace

replay::Alignment IssuesWithGuards(std::span<const replay::ThreadPath* const> threads, replay::PieceTable& pieces) {
  return GuardedStack(threads, pieces).Run();
}

}  // namespace heddle::tools::accelsim
