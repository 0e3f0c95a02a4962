#include "replay/analysis/warp_paths.h"

#include <algorithm>
#include <bit>
#include <cstddef>

#include "replay/seams/lane_mask.h"

namespace heddle::replay {

PieceTable::PieceTable(const trace::Program& program) : program_(program), cuts_(program.blocks().size()) {
  for (size_t b = 0; b < cuts_.size(); ++b) {
    const trace::Block& block = program.block(static_cast<uint32_t>(b));
    cuts_[b].push_back(0);
    for (uint32_t i = 0; i < block.count; ++i) {
      if (program.instruction(block.first + i).op() != trace::v1::OP_BARRIER) continue;
      if (cuts_[b].back() != i) cuts_[b].push_back(i);
      if (i + 1 < block.count) cuts_[b].push_back(i + 1);
    }
  }
}

std::pair<uint32_t, uint32_t> PieceTable::Of(uint32_t block, uint32_t depth) {
  const std::vector<uint32_t>& cuts = cuts_[block];
  const auto [it, made] = first_.try_emplace(uint64_t{depth} << 32 | block, static_cast<uint32_t>(pieces_.size()));
  if (made) {
    const trace::Block& all = program_.block(block);
    for (size_t i = 0; i < cuts.size(); ++i) {
      const Pc pc = all.first + cuts[i];
      pieces_.push_back({Position(pc, depth), program_.instruction(pc).op() == trace::v1::OP_BARRIER});
      weights_.push_back((i + 1 < cuts.size() ? cuts[i + 1] : all.count) - cuts[i]);
    }
  }
  return {it->second, it->second + static_cast<uint32_t>(cuts.size())};
}

namespace {

Position Reconvergence(const trace::Program& program, const trace::Block& block, const std::vector<uint32_t>& calls) {
  const uint32_t depth = static_cast<uint32_t>(calls.size());
  switch (block.terminator) {
    case trace::v1::CALL_INDIRECT:
      return Position(program.block(block.successor).first, depth);
    case trace::v1::BRANCH_CONDITIONAL:
    case trace::v1::BRANCH_WIDE:
      if (block.post_dominator != trace::kNoBlock) return Position(program.block(block.post_dominator).first, depth);
      if (calls.empty()) return Position::Exit();
      return Position(program.block(program.block(calls.back()).successor).first, depth - 1);
    default:
      return Position::Exit();
  }
}

}  // namespace

void AppendBlock(uint32_t block, const std::vector<uint32_t>& calls, PieceTable& pieces, ThreadPath& path) {
  const auto [first, end] = pieces.Of(block, static_cast<uint32_t>(calls.size()));
  for (uint32_t piece = first; piece < end; ++piece) path.push_back({piece, Position::Exit()});
  path.back().reconvergence = Reconvergence(pieces.program(), pieces.program().block(block), calls);
}

uint64_t NeverReconverging(std::span<const ThreadPath* const> threads, const std::vector<uint32_t>& weights) {
  // Sorted, the longest common beginning of a path with an earlier one is that with its neighbour.
  std::vector<const ThreadPath*> sorted(threads.begin(), threads.end());
  const auto less = [](const PathStep& a, const PathStep& b) { return a.piece < b.piece; };
  std::ranges::sort(sorted, [&](const ThreadPath* a, const ThreadPath* b) {
    return std::ranges::lexicographical_compare(*a, *b, less);
  });
  uint64_t issues = 0;
  for (size_t t = 0; t < sorted.size(); ++t) {
    const ThreadPath& path = *sorted[t];
    size_t shared = 0;
    if (t > 0) {
      const ThreadPath& before = *sorted[t - 1];
      const size_t shorter = std::min(path.size(), before.size());
      while (shared < shorter && path[shared].piece == before[shared].piece) ++shared;
    }
    for (; shared < path.size(); ++shared) issues += weights[path[shared].piece];
  }
  return issues;
}

Alignment ReconvergingAtPostDominators(std::span<const ThreadPath* const> threads, const PieceTable& pieces) {
  struct Entry {
    Position rpc;
    LaneMask lanes = 0;
  };
  std::vector<size_t> next(threads.size(), 0);
  const auto at = [&](int lane) -> const PathStep& { return (*threads[lane])[next[lane]]; };
  const auto ended = [&](int lane) { return next[lane] == threads[lane]->size(); };
  LaneMask all = 0;
  for (size_t lane = 0; lane < threads.size(); ++lane) {
    if (!threads[lane]->empty()) all |= LaneMask{1} << lane;
  }
  Alignment issues;
  std::vector<Entry> stack = {{Position::Exit(), all}};
  while (!stack.empty()) {
    Entry& top = stack.back();
    LaneMask live = 0;
    ForEachLane(top.lanes, [&](int lane) { live |= ended(lane) ? 0 : LaneMask{1} << lane; });
    if (live == 0 || pieces[at(std::countr_zero(live)).piece].at == top.rpc) {
      stack.pop_back();
      continue;
    }
    const int lead = std::countr_zero(live);
    const uint32_t piece = at(lead).piece;
    LaneMask together = 0;
    ForEachLane(live, [&](int lane) { together |= at(lane).piece == piece ? LaneMask{1} << lane : 0; });
    if (together != live) {
      // Behind a divergence without a reconvergence point of its own: one path after the other.
      top.lanes = live & ~together;
      stack.push_back({top.rpc, together});
      continue;
    }
    const Position rpc = at(lead).reconvergence;
    issues.push_back({piece, live});
    ForEachLane(live, [&](int lane) { ++next[lane]; });
    std::vector<std::pair<uint32_t, LaneMask>> paths;  // by piece
    ForEachLane(live, [&](int lane) {
      if (ended(lane)) return;
      const uint32_t to = at(lane).piece;
      auto path = std::ranges::find(paths, to, &std::pair<uint32_t, LaneMask>::first);
      if (path == paths.end()) path = paths.insert(paths.end(), {to, 0});
      path->second |= LaneMask{1} << lane;
    });
    if (paths.size() < 2) continue;
    const Position meet = rpc.is_exit() ? top.rpc : rpc;
    if (rpc.is_exit()) stack.pop_back();  // they are on their own until the outer point
    for (const auto& [to, lanes] : paths) {
      if (pieces[to].at != meet) stack.push_back({meet, lanes});
    }
  }
  return issues;
}

namespace {

// The different sequences among those of the threads, each with the lanes that take it; empty ones are left out.
std::vector<Alignment> DifferentSequences(std::span<const ThreadPath* const> threads, std::span<const size_t> begin,
                                          std::span<const size_t> end) {
  std::vector<Alignment> different;
  for (size_t t = 0; t < threads.size(); ++t) {
    const std::span<const PathStep> steps(threads[t]->data() + begin[t], end[t] - begin[t]);
    if (steps.empty()) continue;
    const LaneMask lane = LaneMask{1} << t;
    const auto same = std::ranges::find_if(different, [&](const Alignment& other) {
      return other.size() == steps.size() &&
             std::ranges::equal(other, steps, {}, &AlignedColumn::piece, &PathStep::piece);
    });
    if (same != different.end()) {
      for (AlignedColumn& column : *same) column.lanes |= lane;
      continue;
    }
    Alignment& sequence = different.emplace_back();
    for (const PathStep& step : steps) sequence.push_back({step.piece, lane});
  }
  return different;
}

}  // namespace

std::optional<OptimalReconvergence> ReconvergingOptimally(std::span<const ThreadPath* const> threads,
                                                          const PieceTable& pieces, Aligner& aligner) {
  constexpr size_t kAllTrees = 4;
  OptimalReconvergence best;
  std::vector<size_t> begin(threads.size(), 0);
  std::vector<size_t> end(threads.size(), 0);
  for (bool more = true; more;) {
    more = false;
    for (size_t t = 0; t < threads.size(); ++t) {
      end[t] = begin[t];
      while (end[t] < threads[t]->size() && !pieces[(*threads[t])[end[t]].piece].barrier) ++end[t];
    }
    std::vector<Alignment> sequences = DifferentSequences(threads, begin, end);
    std::optional<Alignment> part = Alignment();
    if (sequences.size() > kAllTrees) {
      best.heuristic = true;
      part = aligner.Greedy(std::move(sequences));
    } else if (!sequences.empty()) {
      part = aligner.BestOfAllTrees(sequences);
    }
    if (!part.has_value()) return std::nullopt;
    best.columns.insert(best.columns.end(), part->begin(), part->end());
    // The barriers behind the parts, those at one place together.
    const size_t first_barrier = best.columns.size();
    for (size_t t = 0; t < threads.size(); ++t) {
      begin[t] = end[t];
      if (end[t] == threads[t]->size()) continue;
      more = true;
      const uint32_t piece = (*threads[t])[begin[t]++].piece;
      auto column = best.columns.begin() + static_cast<ptrdiff_t>(first_barrier);
      while (column != best.columns.end() && column->piece != piece) ++column;
      if (column == best.columns.end()) column = best.columns.insert(column, {piece, 0});
      column->lanes |= LaneMask{1} << t;
    }
  }
  return best;
}

}  // namespace heddle::replay
