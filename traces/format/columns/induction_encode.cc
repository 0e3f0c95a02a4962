// The part of the encoder that finds addresses which follow the variable of a loop.
#include <algorithm>
#include <cmath>
#include <utility>

#include "traces/format/columns/chunk_encoder.h"

namespace heddle::trace {

bool ChunkEncoder::MayCount(std::span<const InductionTerm> terms) const {
  size_t counters = counters_.size();
  for (const InductionTerm& term : terms) {
    counters += std::find(counters_.begin(), counters_.end(), term.counter) == counters_.end();
  }
  return counters <= kMostInductionCounters;
}

void ChunkEncoder::Count(std::span<const InductionTerm> terms) {
  for (const InductionTerm& term : terms) {
    if (std::find(counters_.begin(), counters_.end(), term.counter) == counters_.end()) {
      counters_.push_back(term.counter);
    }
  }
}

void ChunkEncoder::ForEachStep(const PendingChunk& chunk, uint32_t index, std::span<const InductionCounter> counters,
                               absl::FunctionRef<Take(uint32_t path, size_t accesses)> take,
                               absl::FunctionRef<void(std::span<const int64_t> turns, int64_t distance)> step) const {
  const ColumnView view = View(index);
  InductionCounts counts(chunk.program(), counters.size());
  for (const InductionCounter& counter : counters) counts.Add(index, {counter, 0});
  std::vector<uint64_t> before(counters.size());
  std::vector<int64_t> turns(counters.size());
  size_t thread = 0;  // of those that run the instruction
  for (uint32_t p : chunk.path_of_thread()) {
    const PendingPath& path = chunk.paths()[p];
    const auto used = chunk.ColumnsOf(path);
    if (std::none_of(used.begin(), used.end(), [&](const PathColumn& c) { return c.column == index; })) continue;
    const std::span<const uint64_t> values = view.of(thread++);
    if (values.size() == 1) continue;
    const Take taken = take(p, values.size());
    if (taken == Take::kNoMore) return;
    if (taken == Take::kNot) continue;
    size_t k = 0;
    WalkState state = chunk.start(path.start);
    ByteDecisions decisions(chunk.decisions().data() + path.first_decision, path.decision_count);
    counts.Walk(path.extent, decisions, state, path.thread_instructions, [&](uint32_t, uint64_t) {
      for (size_t i = 0; i < counters.size(); ++i) {
        turns[i] = static_cast<int64_t>(counts.count(i) - before[i]);
        before[i] = counts.count(i);
      }
      if (k > 0) step(turns, static_cast<int64_t>(values[k] - values[k - 1]));
      ++k;
    });
  }
}

std::vector<InductionTerm> ChunkEncoder::TermsOf(const InductionEquations& equations,
                                                 std::span<const InductionCounter> counters) {
  std::vector<InductionTerm> terms;
  for (size_t i = 0; i < counters.size(); ++i) {
    const double stride = equations.Solution(i);
    if (stride != std::round(stride)) return {};
    if (stride != 0) terms.push_back({counters[i], static_cast<int64_t>(stride)});
  }
  return terms.size() <= kMostInductionCounters ? terms : std::vector<InductionTerm>();
}

std::vector<InductionTerm> ChunkEncoder::SolveInduction(const PendingChunk& chunk, uint32_t index,
                                                        std::span<const InductionCounter> counters) const {
  constexpr size_t kMostEquations = 1 << 14;
  InductionEquations equations(counters.size());
  std::vector<uint8_t> met(chunk.paths().size(), 0);
  bool possible = true;
  const auto take = [&](uint32_t path, size_t) {
    if (!possible || equations.solved() || equations.count() >= kMostEquations) return Take::kNoMore;
    return met[path]++ == 0 ? Take::kYes : Take::kNot;
  };
  ForEachStep(chunk, index, counters, take, [&](std::span<const int64_t> turns, int64_t distance) {
    if (possible) possible = equations.Add(turns, distance);
  });
  return possible ? TermsOf(equations, counters) : std::vector<InductionTerm>();
}

bool ChunkEncoder::FitInduction(const PendingChunk& chunk, uint32_t index, std::span<const InductionTerm> terms) {
  const ColumnView view = View(index);
  InductionCounts counts(chunk.program());
  for (const InductionTerm& term : terms) counts.Add(index, term);
  // By path, once it is met: where what the terms of its accesses sum up to begins.
  constexpr size_t kNotMet = ~size_t{0};
  constexpr size_t kNone = kNotMet - 1;
  std::vector<size_t> first(chunk.paths().size(), kNotMet);
  std::vector<uint64_t> all;
  std::vector<uint64_t>& bases = columns_[index].bases;
  bases.clear();
  for (uint32_t p : chunk.path_of_thread()) {
    if (first[p] == kNotMet) {
      const PendingPath& path = chunk.paths()[p];
      const auto used = chunk.ColumnsOf(path);
      const bool runs = std::any_of(used.begin(), used.end(), [&](const PathColumn& c) { return c.column == index; });
      first[p] = runs ? all.size() : kNone;
      if (!runs) continue;
      WalkState state = chunk.start(path.start);
      ByteDecisions decisions(chunk.decisions().data() + path.first_decision, path.decision_count);
      counts.Walk(path.extent, decisions, state, path.thread_instructions,
                  [&](uint32_t, uint64_t sum) { all.push_back(sum); });
    }
    if (first[p] == kNone) continue;
    const std::span<const uint64_t> values = view.of(bases.size());
    const uint64_t* sum = all.data() + first[p];
    const uint64_t base = values[0] - sum[0];
    uint64_t wrong = 0;
    for (size_t k = 1; k < values.size(); ++k) wrong |= (values[k] - sum[k]) ^ base;
    if (wrong != 0) return false;
    bases.push_back(base);
  }
  return true;
}

bool ChunkEncoder::ChooseInduction(const PendingChunk& chunk, uint32_t index, double bits) {
  // Readers of earlier versions do not know this model, so that it must gain something.
  constexpr double kLeastGain = 8 * 512;
  constexpr double kShare = 0.5;
  if (bits < kLeastGain) return false;
  const auto follows = [&](std::span<const InductionCounter> counters) {
    std::vector<InductionTerm> terms = SolveInduction(chunk, index, counters);
    if (terms.empty() || !MayCount(terms) || !FitInduction(chunk, index, terms)) return false;
    const double base_bits = BaseBits(columns_[index].bases);
    if (base_bits + kLeastGain > bits || base_bits > kShare * bits) return false;
    ModelChoice& choice = columns_[index].choice;
    choice = ModelChoice();
    choice.model = v1::AddressColumn::INDUCTION;
    Count(terms);
    choice.terms = std::move(terms);
    return true;
  };
  const Program& program = chunk.program();
  const uint32_t block = program.block_of(program.accesses()[index]);
  for (const InductionCounter& counter : InductionCandidates(program, block)) {
    if (follows(std::span(&counter, 1))) return true;
  }
  return follows(InductionSummands(program, block));
}

}  // namespace heddle::trace
