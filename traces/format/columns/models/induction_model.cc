#include "traces/format/columns/models/induction_model.h"

#include <algorithm>
#include <utility>

#include "traces/format/columns/models/bases.h"
#include "traces/format/columns/models/costs.h"
#include "traces/format/columns/models/induction_equations.h"
#include "traces/format/columns/models/induction_terms.h"

namespace heddle::trace {
namespace {

// Readers of earlier versions do not know this model, so that it must gain something: bits, and a share of them.
constexpr double kLeastGain = 8 * 512;
constexpr double kMostShare = 0.5;

// What the addresses of the column would have to add for each counter, as the first accesses tell: the terms that are
// not 0, or none if there is no such sum.
std::vector<InductionTerm> SolveTerms(const EncoderColumns& columns, uint32_t index,
                                      std::span<const InductionCounter> counters) {
  constexpr size_t kMostEquations = 1 << 14;
  InductionEquations equations(counters.size());
  std::vector<uint8_t> met(columns.chunk->paths().size(), 0);
  bool possible = true;
  const auto take = [&](uint32_t path, size_t) {
    if (!possible || equations.solved() || equations.count() >= kMostEquations) return TakeSteps::kNoMore;
    return met[path]++ == 0 ? TakeSteps::kYes : TakeSteps::kNot;
  };
  ForEachStep(columns, index, counters, take, [&](std::span<const int64_t> turns, int64_t distance) {
    if (possible) possible = equations.Add(turns, distance);
  });
  return possible ? TermsOf(equations, counters) : std::vector<InductionTerm>();
}

// Finds the bases of the column, if all its accesses follow `terms`.
bool FitTerms(EncoderColumns& columns, uint32_t index, std::span<const InductionTerm> terms) {
  const PendingChunk& chunk = *columns.chunk;
  const ColumnView view = columns.View(index);
  InductionCounts counts(chunk.program());
  for (const InductionTerm& term : terms) counts.Add(index, term);
  // By path, once it is met: where what the terms of its accesses sum up to begins.
  constexpr size_t kNotMet = ~size_t{0};
  constexpr size_t kNone = kNotMet - 1;
  std::vector<size_t> first(chunk.paths().size(), kNotMet);
  std::vector<uint64_t> all;
  std::vector<uint64_t>& bases = columns.all[index].bases;
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

// Chooses terms of `counters`, if all accesses follow them and that is much cheaper.
bool ChooseTerms(std::span<const InductionCounter> counters, EncoderColumns& columns, uint32_t index) {
  EncoderColumn& column = columns.all[index];
  std::vector<InductionTerm> terms = SolveTerms(columns, index, counters);
  if (terms.empty() || !columns.counters.Allows(terms) || !FitTerms(columns, index, terms)) return false;
  const double base_bits = BaseBits(column.bases);
  if (base_bits + kLeastGain > column.bits || base_bits > kMostShare * column.bits) return false;
  columns.counters.Take(terms);
  column.choice = ModelChoice();
  column.choice.model = v1::AddressColumn::INDUCTION;
  column.choice.terms = std::move(terms);
  column.bits = 0;  // no other model is to be tried
  return true;
}

}  // namespace

void InductionModel::Score(EncoderColumns& columns, uint32_t index) const {
  const EncoderColumn& column = columns.all[index];
  if (column.longest >= 0 || column.bits < kLeastGain) return;
  const Program& program = columns.chunk->program();
  const uint32_t block = program.block_of(program.accesses()[index]);
  for (const InductionCounter& counter : InductionCandidates(program, block)) {
    if (ChooseTerms(std::span(&counter, 1), columns, index)) return;
  }
  ChooseTerms(InductionSummands(program, block), columns, index);
}

bool InductionModel::Fits(EncoderColumns& columns, uint32_t index, const ModelChoice& known) const {
  if (columns.all[index].longest >= 0 || !columns.counters.Allows(known.terms) ||
      !FitTerms(columns, index, known.terms)) {
    return false;
  }
  columns.counters.Take(known.terms);
  return true;
}

ModelResiduals InductionModel::Encode(const EncoderColumns& columns, uint32_t index, std::vector<int64_t>& /*room*/,
                                      v1::AddressColumn& record) const {
  StoreTerms(columns.all[index].choice.terms, record);
  StoreBases(columns.all[index].bases, record);
  return {};
}

RecordShape InductionModel::ShapeOf(const WalkedPaths::Column& total) const {
  return {.bases = total.threads, .terms = true};
}

absl::Status InductionModel::ReadParameters(const v1::AddressColumn& record, DecoderColumns& columns,
                                            uint32_t index) const {
  SetBaseSource(columns, index);
  return ReadTerms(record, false, columns, index);
}

// CountTerms finds the addends.
void InductionModel::ReadAddends(const v1::AddressColumn& record, std::span<const ThreadResiduals> /*threads*/,
                                 DecoderColumns& columns, uint32_t index) const {
  ReadBasesAndSteps(record, columns, index);
}

}  // namespace heddle::trace
