#include "traces/format/columns/column_reader.h"

#include <algorithm>
#include <span>

#include "absl/strings/str_cat.h"
#include "traces/base/status_macros.h"
#include "traces/format/columns/models/column_model.h"
#include "traces/format/columns/models/counted_model.h"
#include "traces/format/columns/models/induction_terms.h"
#include "traces/format/limits.h"
#include "traces/format/program/operands.h"

namespace heddle::trace {
namespace {

constexpr uint64_t kNoRuns = ~uint64_t{0};

std::string NameOf(const Program& program, size_t column) {
  const uint32_t operand = OperandOf(program, static_cast<uint32_t>(column));
  return absl::StrCat("instruction ", program.accesses()[column],
                      operand == 0 ? "" : absl::StrCat(", operand ", operand));
}

void Reset(const Program& program, const WalkedPaths& walked, DecoderColumns& columns) {
  columns.program = &program;
  columns.walked = &walked;
  columns.count = static_cast<uint32_t>(program.accesses().size());
  columns.cursors.assign(columns.count, ColumnCursor());
  if (columns.storage.size() < columns.count) columns.storage.resize(columns.count);
  columns.needs_clearing.assign(columns.count, 0);
  columns.terms.sums.reset();
  columns.terms.restarts.reset();
  columns.any_shift = false;
  columns.any_zeroed = false;
}

}  // namespace

absl::Status ColumnReader::ReadChains(const v1::BlockChunk& chunk, DecoderColumns& columns) {
  if (chunk.chain_size() > chunk.column_size()) return absl::DataLossError("more chains than columns");
  columns.chains.assign(chunk.chain().begin(), chunk.chain().end());
  columns.chain_members.assign(columns.chains.size(), 0);
  chain_read_.assign(columns.chains.size(), 0);
  for (const v1::AddressColumn& record : chunk.column()) {
    if (record.chain() > columns.chains.size()) return RefuseColumn(record, "its chain does not exist");
    if (record.chain() != 0) ++columns.chain_members[record.chain() - 1];
  }
  return absl::OkStatus();
}

// One pass over the threads for all columns that need it; their number times that of the threads is not bounded.
void ColumnReader::CountByThread(const v1::BlockChunk& chunk, const WalkedPaths& walked, const DecodedChunk& out,
                                 const DecoderColumns& columns) {
  first_run_.assign(columns.count, kNoRuns);
  uint64_t runs = 0;
  for (const v1::AddressColumn& record : chunk.column()) {
    const ColumnModel* const model = FindModel(record.model());
    const uint32_t c = FindColumn(*columns.program, record.instruction(), record.operand());
    if (model == nullptr || c == columns.count) continue;  // refused later, as all that is wrong with a column
    if (first_run_[c] != kNoRuns || (model->ShapeOf(walked.totals[c]).scalable && !record.scaled())) continue;
    first_run_[c] = runs;
    runs += walked.totals[c].threads;
  }
  if (runs == 0) return;
  runs_.resize(runs);
  std::vector<ThreadResiduals*> next(columns.count, nullptr);
  for (uint32_t c = 0; c < columns.count; ++c) {
    if (first_run_[c] != kNoRuns) next[c] = runs_.data() + first_run_[c];
  }
  // Of each path the columns that are concerned. All are written, so that no branch depends on which.
  std::vector<uint64_t> first_counted(walked.paths.size() + 1, 0);
  uint64_t count = 0;
  for (size_t p = 0; p < walked.paths.size(); ++p) {
    const WalkedPaths::Path& path = walked.paths[p];
    if (counted_.size() <= count + path.column_count) counted_.resize(2 * count + path.column_count + 1024);
    for (uint64_t i = path.first_column; i < path.first_column + path.column_count; ++i) {
      counted_[count] = {walked.columns[i], walked.counts[i]};
      count += next[walked.columns[i]] != nullptr;
    }
    first_counted[p + 1] = count;
  }
  for (uint32_t p : out.path_of_thread) {
    const uint32_t scale = ScaleOf(out.paths[p].accesses);
    for (uint64_t i = first_counted[p]; i < first_counted[p + 1]; ++i) {
      *next[counted_[i].column]++ = {counted_[i].count, scale};
    }
  }
}

absl::Status ColumnReader::ReadColumn(const v1::AddressColumn& record, uint32_t index, DecoderColumns& columns) {
  const WalkedPaths::Column& total = columns.walked->totals[index];
  const ColumnModel* const model = FindModel(record.model());
  if (model == nullptr) return RefuseColumn(record, absl::StrCat("unknown model ", static_cast<int>(record.model())));
  const RecordShape shape = model->ShapeOf(total);
  if (static_cast<uint64_t>(record.base_dd_size()) != shape.bases) {
    return RefuseColumn(record, absl::StrCat("base_dd has ", record.base_dd_size(), " elements, ", total.threads,
                                             " threads run the instruction"));
  }
  if (static_cast<uint64_t>(record.step_dd_size()) != shape.steps) {
    return RefuseColumn(record,
                        absl::StrCat("step_dd has ", record.step_dd_size(), " elements instead of ", shape.steps));
  }
  if (!shape.chain_bias && record.chain_bias_size() != 0) {
    return RefuseColumn(record, "chain_bias belongs to model CHAIN");
  }
  ColumnCursor& cursor = columns.cursors[index];
  ColumnStorage& storage = columns.storage[index];
  cursor.used = true;
  cursor.target = index;
  cursor.biases = &kNoAddend;  // only CHAIN does not have its bias in the addends
  storage.zeroed = false;
  storage.biases.assign(1, static_cast<uint64_t>(record.bias()));
  HEDDLE_RETURN_IF_ERROR(model->ReadParameters(record, columns, index));
  if (!shape.terms) {
    HEDDLE_RETURN_IF_ERROR(RefuseForeignTerms(record));
  }
  if (record.chain() != 0) {
    cursor.target = columns.ChainSlot(record.chain() - 1);
    cursor.chained = true;
    cursor.state = ++chain_read_[record.chain() - 1];
  }
  if (record.scaled() && !shape.scalable) {
    return RefuseColumn(record, "scaled needs a residual for every access, TIME and COUNTED have less");
  }
  std::span<const ThreadResiduals> threads;
  if (first_run_[index] != kNoRuns) threads = std::span(runs_).subspan(first_run_[index], total.threads);
  if (absl::Status status = DecodeResiduals(record, shape.residuals, threads, storage.residuals); !status.ok()) {
    return RefuseColumn(record, status.message());
  }
  model->ReadAddends(record, threads, columns, index);
  return absl::OkStatus();
}

absl::Status ColumnReader::Read(const v1::BlockChunk& chunk, const Program& program, const WalkedPaths& walked,
                                const DecodedChunk& out, DecoderColumns& columns) {
  Reset(program, walked, columns);
  HEDDLE_RETURN_IF_ERROR(ReadChains(chunk, columns));
  CountByThread(chunk, walked, out, columns);
  // Records and columns that ran must be the same set, in the same order.
  size_t next = 0;
  for (const v1::AddressColumn& record : chunk.column()) {
    while (next < columns.count && walked.totals[next].accesses == 0) ++next;
    if (next == columns.count || program.accesses()[next] != record.instruction() ||
        OperandOf(program, static_cast<uint32_t>(next)) != record.operand()) {
      return RefuseColumn(record, next == columns.count
                                      ? "no thread runs the instruction"
                                      : absl::StrCat("the column of ", NameOf(program, next), " must come next"));
    }
    if (record.model() == v1::AddressColumn::COUNTED && out.accesses > kMaxCountedAccesses) {
      return RefuseColumn(record,
                          absl::StrCat("model COUNTED in a chunk of more than ", kMaxCountedAccesses, " accesses"));
    }
    HEDDLE_RETURN_IF_ERROR(ReadColumn(record, static_cast<uint32_t>(next), columns));
    ++next;
  }
  while (next < columns.count && walked.totals[next].accesses == 0) ++next;
  if (next != columns.count) {
    return absl::DataLossError(absl::StrCat(NameOf(program, next), " ran but has no column"));
  }
  CountTerms(out.paths, columns);
  AddCountedSums(out.path_of_thread, columns);
  return absl::OkStatus();
}

}  // namespace heddle::trace
