// The part of the address decoder that counts along paths: models INDUCTION and COUNTED.
#include "absl/strings/str_cat.h"
#include "traces/format/columns/chunk_decoder.h"

namespace heddle::trace {
namespace {

absl::Status Refuse(const v1::AddressColumn& column, absl::string_view rule) {
  return absl::DataLossError(absl::StrCat("column of instruction ", column.instruction(), ": ", rule));
}

}  // namespace

absl::Status AddressDecoder::SetCounter(const v1::AddressColumn& column, const Program& program, uint32_t index) {
  const InductionTerm first{{column.counted_block(), column.reset_block()}, column.stride()};
  const bool none = first.counter == InductionCounter() && first.stride == 0 && column.further_term_size() == 0;
  const bool counted = column.model() == v1::AddressColumn::COUNTED;
  if (!counted && column.has_restart()) return Refuse(column, "restart belongs to model COUNTED");
  if (column.model() != v1::AddressColumn::INDUCTION && !counted) {
    if (none) return absl::OkStatus();
    return Refuse(column, "counted_block, reset_block, stride and further_term belong to models INDUCTION and COUNTED");
  }
  if (static_cast<size_t>(column.further_term_size()) >= kMostInductionCounters) {
    return Refuse(column, absl::StrCat("more than ", kMostInductionCounters, " terms"));
  }
  const auto add = [&](const InductionTerm& term, std::optional<InductionCounts>& counts) -> absl::Status {
    if (!counts.has_value()) counts.emplace(program);
    const size_t blocks = program.blocks().size();
    const InductionCounter& counter = term.counter;
    if (counter.counted_block >= blocks || counter.reset_block >= blocks ||
        counter.counted_block == counter.reset_block) {
      return Refuse(column, "counted_block and reset_block are not two blocks of the program");
    }
    if (counts->Add(index, term)) return absl::OkStatus();
    return Refuse(column,
                  absl::StrCat("more than ", kMostInductionCounters, " pairs of counted_block and reset_block"));
  };
  absl::Status status = counted && none ? absl::OkStatus() : add(first, inductions_);
  for (const v1::InductionTerm& term : column.further_term()) {
    if (status.ok()) status = add({{term.counted_block(), term.reset_block()}, term.stride()}, inductions_);
  }
  if (status.ok() && column.has_restart()) {
    const v1::InductionTerm& restart = column.restart();
    if (restart.stride() != 0) return Refuse(column, "restart has no stride");
    status = add({{restart.counted_block(), restart.reset_block()}, 1}, restarts_);
  }
  return status;
}

// Walks the paths that have columns which count, and writes what `counts` says of them, path after path, to
// `out_of(column)`. `first` tells where a path's begin, by the columns of paths.
template <typename OutOf>
void AddressDecoder::CountAlongPaths(const WalkedPaths& walked, const DecodedChunk& out, InductionCounts& counts,
                                     const OutOf& out_of, std::vector<uint32_t>& first) {
  first.assign(walked.columns.size(), 0);
  std::vector<uint32_t> written(columns_, 0);  // by column
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
  std::vector<uint64_t*> next(columns_, nullptr);
  for (uint32_t c = 0; c < columns_; ++c) {
    if (!counts.Counts(c)) continue;
    out_of(c).resize(written[c]);
    next[c] = out_of(c).data();
  }
  for (size_t p = 0; p < walked.paths.size(); ++p) {
    if (concerned[p] == 0) continue;
    counts.Write(out.paths[p], next);  // DecodePaths has walked it, so that nothing can go wrong
  }
}

void AddressDecoder::CountInductions(const WalkedPaths& walked, const DecodedChunk& out) {
  first_addend_.clear();
  first_restart_.clear();
  // Residuals of columns of model COUNTED have become addends, and need not stand beside sums and restarts of a chunk
  // of which a stranger made all that it can be.
  constexpr size_t kMany = size_t{1} << 18;
  for (uint32_t c = 0; c < columns_; ++c) {
    const bool counts =
        (inductions_.has_value() && inductions_->Counts(c)) || (restarts_.has_value() && restarts_->Counts(c));
    if (counts && storage_[c].residuals.size() > kMany) std::vector<int64_t>().swap(storage_[c].residuals);
  }
  if (inductions_.has_value()) {
    const auto sums = [this](uint32_t c) -> std::vector<uint64_t>& {
      return cursors_[c].separable ? storage_[c].addends : storage_[c].sums;
    };
    CountAlongPaths(walked, out, *inductions_, sums, first_addend_);
    for (uint32_t c = 0; c < columns_; ++c) {
      if (inductions_->Counts(c) && cursors_[c].separable) storage_[c].first = storage_[c].addends.data();
    }
  }
  if (restarts_.has_value()) {
    const auto restarts = [this](uint32_t c) -> std::vector<uint64_t>& { return storage_[c].restarts; };
    CountAlongPaths(walked, out, *restarts_, restarts, first_restart_);
  }
}

void AddressDecoder::AddSums(const WalkedPaths& walked, const DecodedChunk& out) {
  if (!inductions_.has_value() && !restarts_.has_value()) return;
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
      const bool sums = inductions_.has_value() && inductions_->Counts(c) && !cursors_[c].separable;
      const bool restarts = restarts_.has_value() && restarts_->Counts(c);
      if (!sums && !restarts) continue;
      counted.push_back({c, walked.counts[i], sums ? storage_[c].sums.data() + first_addend_[i] : nullptr,
                         restarts ? storage_[c].restarts.data() + first_restart_[i] : nullptr});
    }
    first_counted.push_back(counted.size());
  }
  if (counted.empty()) return;
  // What TIME adds becomes what is added to the latest address.
  std::vector<uint64_t*> next(columns_, nullptr);
  for (const Counted& column : counted) next[column.column] = storage_[column.column].addends.data();
  for (const uint32_t p : out.path_of_thread) {
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
