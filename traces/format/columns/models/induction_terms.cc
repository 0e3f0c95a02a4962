#include "traces/format/columns/models/induction_terms.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "traces/base/status_macros.h"
#include "traces/format/columns/models/column_model.h"

namespace heddle::trace {
namespace {

constexpr char kRestartIsCounted[] = "restart belongs to model COUNTED";

// Walks the paths that have columns which count, and writes what `counts` says of them, path after path, to
// `out_of(column)`. `first` tells where a path's begin, by the columns of paths.
template <typename OutOf>
void CountAlongPaths(std::span<const PathView> paths, const WalkedPaths& walked, InductionCounts& counts,
                     const OutOf& out_of, std::vector<uint32_t>& first) {
  const size_t columns = walked.totals.size();
  first.assign(walked.columns.size(), 0);
  std::vector<uint32_t> written(columns, 0);  // by column
  std::vector<uint8_t> concerned(walked.paths.size(), 0);
  for (size_t p = 0; p < walked.paths.size(); ++p) {
    const WalkedPaths::Path& path = walked.paths[p];
    for (uint64_t i = path.first_column; i < path.first_column + path.column_count; ++i) {
      const uint32_t c = walked.columns[i];
      if (!counts.Counts(c)) continue;
      concerned[p] = 1;
      first[i] = written[c];
      written[c] += walked.counts[i];
    }
  }
  std::vector<uint64_t*> next(columns, nullptr);
  for (uint32_t c = 0; c < columns; ++c) {
    if (!counts.Counts(c)) continue;
    out_of(c).resize(written[c]);
    next[c] = out_of(c).data();
  }
  for (size_t p = 0; p < walked.paths.size(); ++p) {
    if (concerned[p] == 0) continue;
    counts.Write(paths[p], next);  // DecodePaths has walked it, so that nothing can go wrong
  }
}

// Whether the record has a term.
bool HasTerms(const v1::AddressColumn& record) {
  return record.counted_block() != 0 || record.reset_block() != 0 || record.stride() != 0 ||
         record.further_term_size() != 0;
}

// Adds a term that a record has to `counts`, which is made for the first one.
absl::Status AddTerm(const v1::AddressColumn& record, const InductionTerm& term, const Program& program, uint32_t index,
                     std::optional<InductionCounts>& counts) {
  if (!counts.has_value()) counts.emplace(program);
  const size_t blocks = program.blocks().size();
  const InductionCounter& counter = term.counter;
  if (counter.counted_block >= blocks || counter.reset_block >= blocks ||
      counter.counted_block == counter.reset_block) {
    return RefuseColumn(record, "counted_block and reset_block are not two blocks of the program");
  }
  if (counts->Add(index, term)) return absl::OkStatus();
  return RefuseColumn(record,
                      absl::StrCat("more than ", kMostInductionCounters, " pairs of counted_block and reset_block"));
}

}  // namespace

void ForEachStep(const EncoderColumns& columns, uint32_t index, std::span<const InductionCounter> counters,
                 absl::FunctionRef<TakeSteps(uint32_t path, size_t accesses)> take,
                 absl::FunctionRef<void(std::span<const int64_t> turns, int64_t distance)> step) {
  const PendingChunk& chunk = *columns.chunk;
  const ColumnView view = columns.View(index);
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
    const TakeSteps taken = take(p, values.size());
    if (taken == TakeSteps::kNoMore) return;
    if (taken == TakeSteps::kNot) continue;
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

std::vector<InductionTerm> TermsOf(const InductionEquations& equations, std::span<const InductionCounter> counters) {
  std::vector<InductionTerm> terms;
  for (size_t i = 0; i < counters.size(); ++i) {
    const double stride = equations.Solution(i);
    if (stride != std::round(stride)) return {};
    if (stride != 0) terms.push_back({counters[i], static_cast<int64_t>(stride)});
  }
  return terms.size() <= kMostInductionCounters ? terms : std::vector<InductionTerm>();
}

void StoreTerms(std::span<const InductionTerm> terms, v1::AddressColumn& record) {
  if (terms.empty()) return;
  record.set_counted_block(terms[0].counter.counted_block);
  record.set_reset_block(terms[0].counter.reset_block);
  record.set_stride(terms[0].stride);
  for (const InductionTerm& term : terms.subspan(1)) {
    v1::InductionTerm& further = *record.add_further_term();
    further.set_counted_block(term.counter.counted_block);
    further.set_reset_block(term.counter.reset_block);
    further.set_stride(term.stride);
  }
}

absl::Status ReadTerms(const v1::AddressColumn& record, bool counted, DecoderColumns& columns, uint32_t index) {
  const Program& program = *columns.program;
  TermCounts& counts = columns.terms;
  if (!counted && record.has_restart()) return RefuseColumn(record, kRestartIsCounted);
  if (static_cast<size_t>(record.further_term_size()) >= kMostInductionCounters) {
    return RefuseColumn(record, absl::StrCat("more than ", kMostInductionCounters, " terms"));
  }
  if (!counted || HasTerms(record)) {
    const InductionTerm first{{record.counted_block(), record.reset_block()}, record.stride()};
    HEDDLE_RETURN_IF_ERROR(AddTerm(record, first, program, index, counts.sums));
  }
  for (const v1::InductionTerm& term : record.further_term()) {
    const InductionTerm further{{term.counted_block(), term.reset_block()}, term.stride()};
    HEDDLE_RETURN_IF_ERROR(AddTerm(record, further, program, index, counts.sums));
  }
  if (!record.has_restart()) return absl::OkStatus();
  const v1::InductionTerm& restart = record.restart();
  if (restart.stride() != 0) return RefuseColumn(record, "restart has no stride");
  return AddTerm(record, {{restart.counted_block(), restart.reset_block()}, 1}, program, index, counts.restarts);
}

absl::Status RefuseForeignTerms(const v1::AddressColumn& record) {
  if (record.has_restart()) return RefuseColumn(record, kRestartIsCounted);
  if (!HasTerms(record)) return absl::OkStatus();
  return RefuseColumn(record,
                      "counted_block, reset_block, stride and further_term belong to models INDUCTION and COUNTED");
}

void CountTerms(std::span<const PathView> paths, DecoderColumns& columns) {
  TermCounts& terms = columns.terms;
  terms.first_sum.clear();
  terms.first_restart.clear();
  // Residuals of columns of model COUNTED have become addends, and need not stand beside sums and restarts of a chunk
  // of which a stranger made all that it can be.
  constexpr size_t kMany = size_t{1} << 18;
  for (uint32_t c = 0; c < columns.count; ++c) {
    ColumnStorage& storage = columns.storage[c];
    if ((terms.HasSums(c) || terms.HasRestarts(c)) && storage.residuals.size() > kMany) {
      std::vector<int64_t>().swap(storage.residuals);
    }
  }
  if (terms.sums.has_value()) {
    const auto sums = [&](uint32_t c) -> std::vector<uint64_t>& {
      return columns.cursors[c].separable ? columns.storage[c].addends : columns.storage[c].sums;
    };
    CountAlongPaths(paths, *columns.walked, *terms.sums, sums, terms.first_sum);
    for (uint32_t c = 0; c < columns.count; ++c) {
      if (terms.HasSums(c) && columns.cursors[c].separable) {
        columns.storage[c].first = columns.storage[c].addends.data();
      }
    }
  }
  if (terms.restarts.has_value()) {
    const auto restarts = [&](uint32_t c) -> std::vector<uint64_t>& { return columns.storage[c].restarts; };
    CountAlongPaths(paths, *columns.walked, *terms.restarts, restarts, terms.first_restart);
  }
}

}  // namespace heddle::trace
