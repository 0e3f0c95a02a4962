#include "traces/format/columns/models/counted_model.h"

#include <algorithm>
#include <map>
#include <utility>

#include "traces/format/columns/models/bases.h"
#include "traces/format/columns/models/costs.h"
#include "traces/format/columns/models/induction_equations.h"
#include "traces/format/columns/models/induction_terms.h"
#include "traces/format/columns/models/time_model.h"
#include "traces/format/limits.h"

namespace heddle::trace {
namespace {

// Whether the chunk is small enough for the model.
bool MayBeCounted(const EncoderColumns& columns) {
  return columns.chunk->addresses().accesses() <= kMaxCountedAccesses;
}

// Terms, and one for the restart.
std::vector<InductionTerm> CountersOf(const ModelChoice& choice) {
  std::vector<InductionTerm> all = choice.terms;
  if (choice.restart.has_value()) all.push_back({*choice.restart, 0});
  return all;
}

// Finds what most accesses of a sample add for each counter.
std::vector<InductionTerm> GuessTerms(const EncoderColumns& columns, uint32_t index,
                                      std::span<const InductionCounter> counters) {
  constexpr size_t kSample = 4096;     // accesses
  constexpr size_t kLeastOften = 16;   // that say the same
  constexpr double kLeastShare = 0.5;  // of those that count alike
  // By what the counters did between two accesses of a thread: how the address changed, and how often.
  std::map<std::vector<int64_t>, std::map<int64_t, size_t>> seen;
  size_t sampled = 0;
  const auto take = [&](uint32_t, size_t accesses) {
    if (sampled >= kSample) return TakeSteps::kNoMore;
    sampled += accesses;
    return TakeSteps::kYes;
  };
  ForEachStep(columns, index, counters, take, [&](std::span<const int64_t> turns, int64_t distance) {
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

// Bases, and residuals with bias 0, of a column under `choice`; of at most so many accesses, but whole threads.
void FindResiduals(const EncoderColumns& columns, uint32_t index, const ModelChoice& choice, size_t most,
                   std::vector<uint64_t>& bases, std::vector<int64_t>& residuals) {
  const PendingChunk& chunk = *columns.chunk;
  const ColumnView view = columns.View(index);
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

}  // namespace

void CountedModel::Score(EncoderColumns& columns, uint32_t index) const {
  // Readers of earlier versions do not know this model, and it takes a second walk over the paths.
  constexpr double kLeastGain = 8 * 512;
  constexpr double kShare = 0.8;
  constexpr double kLess = 0.95;    // a restart
  constexpr size_t kSample = 4096;  // residuals
  EncoderColumn& column = columns.all[index];
  const double bits = column.bits;
  if (column.longest >= 0 || bits < kLeastGain || column.values < 2 * column.threads || !MayBeCounted(columns)) return;
  const Program& program = columns.chunk->program();
  const std::vector<InductionCounter> counters =
      InductionSummands(program, program.block_of(program.accesses()[index]));
  if (counters.empty()) return;
  ModelChoice best;
  double best_bits = bits;
  std::vector<uint64_t> bases;
  std::vector<int64_t> residuals;
  const auto look = [&](ModelChoice choice) {
    const std::vector<InductionTerm> all = CountersOf(choice);
    if (all.empty() || !columns.counters.Allows(all)) return;
    FindResiduals(columns, index, choice, kSample, bases, residuals);
    if (residuals.empty()) return;
    const double scale = static_cast<double>(column.threads) / static_cast<double>(bases.size());
    const double cost = BaseBits(bases) * scale +
                        CostWithBias(residuals, choice.bias) * static_cast<double>(column.values - column.threads);
    if (cost + kLeastGain > bits || cost > kShare * bits || cost >= kLess * best_bits) return;
    best_bits = cost;
    best = std::move(choice);
  };
  ModelChoice choice;
  choice.model = v1::AddressColumn::COUNTED;
  choice.terms = GuessTerms(columns, index, counters);
  look(choice);
  for (size_t i = 1; i < counters.size() && counters[i].counted_block < counters[0].counted_block; ++i) {
    choice.restart = counters[i];  // the head of a loop around the innermost one
    look(choice);
  }
  if (best.model != v1::AddressColumn::COUNTED) return;
  columns.counters.Take(CountersOf(best));
  column.choice = std::move(best);
  column.bits = 0;  // no other model is to be tried
}

bool CountedModel::Fits(EncoderColumns& columns, uint32_t index, const ModelChoice& known) const {
  const std::vector<InductionTerm> counters = CountersOf(known);
  if (columns.all[index].longest >= 0 || !MayBeCounted(columns) || !columns.counters.Allows(counters)) return false;
  columns.counters.Take(counters);
  return true;
}

ModelResiduals CountedModel::Encode(const EncoderColumns& columns, uint32_t index, std::vector<int64_t>& room,
                                    v1::AddressColumn& record) const {
  const ModelChoice& choice = columns.all[index].choice;
  StoreTerms(choice.terms, record);
  if (choice.restart.has_value()) {
    record.mutable_restart()->set_counted_block(choice.restart->counted_block);
    record.mutable_restart()->set_reset_block(choice.restart->reset_block);
  }
  std::vector<uint64_t> bases;
  FindResiduals(columns, index, choice, ~size_t{0}, bases, room);
  for (int64_t& r : room) r = static_cast<int64_t>(static_cast<uint64_t>(r) - static_cast<uint64_t>(choice.bias));
  record.set_bias(choice.bias);
  StoreBases(bases, record);
  return {.kind = ModelResiduals::Kind::kNumbers, .numbers = room};
}

RecordShape CountedModel::ShapeOf(const WalkedPaths::Column& total) const {
  RecordShape shape = ShapeOfTime(total);
  shape.terms = true;
  return shape;
}

absl::Status CountedModel::ReadParameters(const v1::AddressColumn& record, DecoderColumns& columns,
                                          uint32_t index) const {
  SetTimeSource(columns, index);
  return ReadTerms(record, true, columns, index);
}

// AddCountedSums makes the column's addends of those of TIME.
void CountedModel::ReadAddends(const v1::AddressColumn& record, std::span<const ThreadResiduals> threads,
                               DecoderColumns& columns, uint32_t index) const {
  ReadTimeAddends(record, threads, columns, index);
}

void AddCountedSums(std::span<const uint32_t> path_of_thread, DecoderColumns& columns) {
  const TermCounts& terms = columns.terms;
  if (!terms.sums.has_value() && !terms.restarts.has_value()) return;
  const WalkedPaths& walked = *columns.walked;
  // Of each path the columns that are concerned.
  struct Counted {
    uint32_t column;
    uint32_t count;
    const uint64_t* sums;      // nullptr: all are 0
    const uint64_t* restarts;  // nullptr: never
  };
  std::vector<Counted> counted;
  std::vector<size_t> first_counted = {0};
  for (const WalkedPaths::Path& path : walked.paths) {
    for (uint64_t i = path.first_column; i < path.first_column + path.column_count; ++i) {
      const uint32_t c = walked.columns[i];
      const bool sums = terms.HasSums(c) && !columns.cursors[c].separable;
      const bool restarts = terms.HasRestarts(c);
      if (!sums && !restarts) continue;
      const ColumnStorage& storage = columns.storage[c];
      counted.push_back({c, walked.counts[i], sums ? storage.sums.data() + terms.first_sum[i] : nullptr,
                         restarts ? storage.restarts.data() + terms.first_restart[i] : nullptr});
    }
    first_counted.push_back(counted.size());
  }
  if (counted.empty()) return;
  // What TIME adds becomes what is added to the latest address.
  std::vector<uint64_t*> next(columns.count, nullptr);
  for (const Counted& column : counted) next[column.column] = columns.storage[column.column].addends.data();
  for (const uint32_t p : path_of_thread) {
    for (size_t i = first_counted[p]; i < first_counted[p + 1]; ++i) {
      const Counted& column = counted[i];
      uint64_t* const addends = next[column.column];
      next[column.column] += column.count;
      const auto sum = [&](uint32_t k) { return column.sums == nullptr ? 0 : column.sums[k]; };
      const uint64_t base = addends[0];
      uint64_t start = base;
      uint64_t before = 0;  // latest address
      for (uint32_t k = 0; k < column.count; ++k) {
        if (k > 0) {
          const bool again = column.restarts != nullptr && column.restarts[k] != column.restarts[k - 1];
          start = (again ? base : start) + addends[k];
        }
        addends[k] = start + sum(k) - before;
        before = start + sum(k);
      }
    }
  }
}

}  // namespace heddle::trace
