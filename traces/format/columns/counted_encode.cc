// The part of the encoder that finds addresses which follow the variables of loops most of the time.
#include <algorithm>
#include <map>
#include <utility>

#include "traces/format/columns/chunk_encoder.h"

namespace heddle::trace {

std::vector<InductionTerm> ChunkEncoder::CountersOf(const ModelChoice& choice) {
  std::vector<InductionTerm> all = choice.terms;
  if (choice.restart.has_value()) all.push_back({*choice.restart, 0});
  return all;
}

std::vector<InductionTerm> ChunkEncoder::GuessTerms(const PendingChunk& chunk, uint32_t index,
                                                    std::span<const InductionCounter> counters) const {
  constexpr size_t kSample = 4096;     // accesses
  constexpr size_t kLeastOften = 16;   // that say the same
  constexpr double kLeastShare = 0.5;  // of those that count alike
  // By what the counters did between two accesses of a thread: how the address changed, and how often.
  std::map<std::vector<int64_t>, std::map<int64_t, size_t>> seen;
  size_t sampled = 0;
  const auto take = [&](uint32_t, size_t accesses) {
    if (sampled >= kSample) return Take::kNoMore;
    sampled += accesses;
    return Take::kYes;
  };
  ForEachStep(chunk, index, counters, take, [&](std::span<const int64_t> turns, int64_t distance) {
    ++seen[std::vector<int64_t>(turns.begin(), turns.end())][distance];
  });
  struct Rule {
    size_t often;
    const std::vector<int64_t>* turns;
    int64_t distance;
  };
  std::vector<Rule> rules;  // commonest first
  for (const auto& [key, distances] : seen) {
    size_t all = 0;
    Rule rule{0, &key, 0};
    for (const auto& [distance, often] : distances) {
      all += often;
      if (often > rule.often) rule = {often, &key, distance};
    }
    const bool common = static_cast<double>(rule.often) >= kLeastShare * static_cast<double>(all);
    if (rule.often >= kLeastOften && common) rules.push_back(rule);
  }
  std::stable_sort(rules.begin(), rules.end(), [](const Rule& a, const Rule& b) { return a.often > b.often; });
  InductionEquations equations(counters.size());
  for (const Rule& rule : rules) {
    equations.Add(*rule.turns, rule.distance);  // what contradicts commoner ones is left out
  }
  return TermsOf(equations, counters);
}

void ChunkEncoder::CountedResiduals(const PendingChunk& chunk, uint32_t index, const ModelChoice& choice, size_t most,
                                    std::vector<uint64_t>& bases, std::vector<int64_t>& residuals) const {
  const ColumnView view = View(index);
  InductionCounts counts(chunk.program(), kMostInductionCounters + 1);
  if (choice.restart.has_value()) counts.Add(index, {*choice.restart, 0});  // as number 0
  for (const InductionTerm& term : choice.terms) counts.Add(index, term);
  const bool restarts = choice.restart.has_value();
  struct Access {
    uint64_t sum;
    uint64_t restart;
  };
  // By path, once it is met: where its accesses begin.
  constexpr size_t kNotMet = ~size_t{0};
  std::vector<size_t> first(chunk.paths().size(), kNotMet);
  std::vector<Access> all;
  bases.clear();
  residuals.clear();
  for (uint32_t p : chunk.path_of_thread()) {
    const PendingPath& path = chunk.paths()[p];
    if (first[p] == kNotMet) {
      first[p] = all.size();
      WalkState state = chunk.start(path.start);
      ByteDecisions decisions(chunk.decisions().data() + path.first_decision, path.decision_count);
      counts.Walk(path.extent, decisions, state, path.thread_instructions,
                  [&](uint32_t, uint64_t sum) { all.push_back({sum, restarts ? counts.count(0) : 0}); });
      if (all.size() == first[p]) first[p] = kNotMet - 1;
    }
    if (first[p] == kNotMet - 1) continue;
    const std::span<const uint64_t> values = view.of(bases.size());
    const Access* const accesses = all.data() + first[p];
    const uint64_t base = values[0] - accesses[0].sum;
    uint64_t start = base;
    for (size_t k = 1; k < values.size(); ++k) {
      if (accesses[k].restart != accesses[k - 1].restart) start = base;
      const uint64_t next = values[k] - accesses[k].sum;
      residuals.push_back(static_cast<int64_t>(next - start));
      start = next;
    }
    bases.push_back(base);
    if (residuals.size() >= most) return;
  }
}

bool ChunkEncoder::ChooseCounted(const PendingChunk& chunk, uint32_t index, double bits) {
  // Readers of earlier versions do not know this model, and it takes a second walk over the paths.
  constexpr double kLeastGain = 8 * 512;
  constexpr double kShare = 0.8;
  constexpr double kLess = 0.95;    // a restart
  constexpr size_t kSample = 4096;  // residuals
  const ColumnView view = View(index);
  if (bits < kLeastGain || view.values.size() < 2 * view.threads() || !MayBeCounted(chunk)) return false;
  const Program& program = chunk.program();
  const std::vector<InductionCounter> counters =
      InductionSummands(program, program.block_of(program.accesses()[index]));
  if (counters.empty()) return false;
  ModelChoice best;
  double best_bits = bits;
  std::vector<uint64_t> bases;
  std::vector<int64_t> residuals;
  const auto look = [&](ModelChoice choice) {
    const std::vector<InductionTerm> all = CountersOf(choice);
    if (all.empty() || !MayCount(all)) return;
    CountedResiduals(chunk, index, choice, kSample, bases, residuals);
    if (residuals.empty()) return;
    const double scale = static_cast<double>(view.threads()) / static_cast<double>(bases.size());
    const double cost = BaseBits(bases) * scale +
                        CostWithBias(residuals, choice.bias) * static_cast<double>(view.values.size() - view.threads());
    if (cost + kLeastGain > bits || cost > kShare * bits || cost >= kLess * best_bits) return;
    best_bits = cost;
    best = std::move(choice);
  };
  ModelChoice choice;
  choice.model = v1::AddressColumn::COUNTED;
  choice.terms = GuessTerms(chunk, index, counters);
  look(choice);
  for (size_t i = 1; i < counters.size() && counters[i].counted_block < counters[0].counted_block; ++i) {
    choice.restart = counters[i];  // the head of a loop around the innermost one
    look(choice);
  }
  if (best.model != v1::AddressColumn::COUNTED) return false;
  columns_[index].choice = best;
  Count(CountersOf(best));
  return true;
}

}  // namespace heddle::trace
