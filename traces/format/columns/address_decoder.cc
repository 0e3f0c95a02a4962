#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "traces/base/status_macros.h"
#include "traces/format/columns/chunk_decoder.h"
#include "traces/format/columns/residuals.h"
#include "traces/format/limits.h"

namespace heddle::trace {
namespace {

constexpr uint64_t kZero = 0;
constexpr uint64_t kNoRuns = ~uint64_t{0};

absl::Status Refuse(const v1::AddressColumn& column, absl::string_view rule) {
  return absl::DataLossError(absl::StrCat("column of instruction ", column.instruction(), ": ", rule));
}

// Sums of sums: what base_dd and step_dd store. Returns the bits that all sums have, and those that any has: none is
// below the former or above the latter.
std::pair<uint64_t, uint64_t> SumTwice(const google::protobuf::RepeatedField<int64_t>& second_differences,
                                       uint64_t* out) {
  uint64_t value = 0;
  uint64_t delta = 0;
  uint64_t all = ~uint64_t{0};
  uint64_t any = 0;
#pragma GCC unroll 4
  for (int64_t second : second_differences) {
    delta += static_cast<uint64_t>(second);
    value += delta;
    *out++ = value;
    all &= value;
    any |= value;
  }
  return {all, any};
}

}  // namespace

absl::Status AddressDecoder::ReadChains(const v1::BlockChunk& chunk) {
  if (chunk.chain_size() > chunk.column_size()) return absl::DataLossError("more chains than columns");
  chains_.assign(chunk.chain().begin(), chunk.chain().end());
  chain_members_.assign(chains_.size(), 0);
  chain_read_.assign(chains_.size(), 0);
  for (const v1::AddressColumn& column : chunk.column()) {
    if (column.chain() > chains_.size()) return Refuse(column, "its chain does not exist");
    if (column.chain() != 0) ++chain_members_[column.chain() - 1];
  }
  return absl::OkStatus();
}

absl::Status AddressDecoder::SetSource(const v1::AddressColumn& column, const WalkedPaths& walked,
                                       const Program& program, uint32_t index) {
  Cursor& cursor = cursors_[index];
  Storage& storage = storage_[index];
  storage.zeroed = false;
  storage.biases.assign(1, static_cast<uint64_t>(column.bias()));
  const bool chained = column.model() == v1::AddressColumn::CHAIN;
  if (chained) {
    if (column.chain() == 0) return Refuse(column, "model CHAIN needs a chain");
    if (static_cast<uint64_t>(column.chain_bias_size()) != uint64_t{1} + chain_members_[column.chain() - 1]) {
      return Refuse(column, "chain_bias has one element for the start of a thread and one per column of the chain");
    }
    storage.biases.clear();
    for (int64_t bias : column.chain_bias()) {
      storage.biases.push_back(static_cast<uint64_t>(column.bias()) + static_cast<uint64_t>(bias));
    }
    cursor.source = 2 * columns_ + column.chain() - 1;
  } else if (column.chain_bias_size() != 0) {
    return Refuse(column, "chain_bias belongs to model CHAIN");
  }
  switch (column.model()) {
    case v1::AddressColumn::SEPARABLE:
    case v1::AddressColumn::INDUCTION:
      cursor.separable = true;
      cursor.source = columns_ + index;
      storage.biases[0] = 0;
      break;
    case v1::AddressColumn::TIME:
    case v1::AddressColumn::COUNTED:
      needs_clearing_[index] = 1;
      cursor.source = index;
      storage.biases[0] = 0;
      break;
    case v1::AddressColumn::RELATIVE: {
      const int32_t shift = column.ref_shift();
      if (shift < -63 || shift > 63) return Refuse(column, "ref_shift is beyond 63");
      const auto reference =
          std::lower_bound(program.accesses().begin(), program.accesses().end(), column.ref_instruction());
      const size_t reference_index = static_cast<size_t>(reference - program.accesses().begin());
      if (column.ref_instruction() >= column.instruction() || reference == program.accesses().end() ||
          *reference != column.ref_instruction() || walked.totals[reference_index].accesses == 0) {
        return Refuse(column, "ref_instruction is not a lower instruction with a column in this chunk");
      }
      cursor.source = static_cast<uint32_t>(reference_index);
      const Cursor& referred = cursors_[reference_index];
      const bool same_block = program.block_of(column.instruction()) == program.block_of(column.ref_instruction());
      if (shift == 0 && same_block && referred.constant_distance) {
        // What the reference counts from has not been accessed since, so this column may count from the same: each
        // access of a chain of references waits for the one before it.
        cursor.source = referred.source;
        storage.biases[0] += storage_[reference_index].biases[0];
      }
      (shift > 0 ? cursor.left : cursor.right) = static_cast<uint8_t>(shift > 0 ? shift : -shift);
      // Within a basic block the reference has just been accessed; elsewhere it may not have been, by this thread.
      if (!same_block || shift == -63) needs_clearing_[reference_index] = 1;
      if (shift == -63) {
        storage.zeroed = any_zeroed_ = true;
        storage.reference_slot = cursor.source;
        cursor.source = 2 * columns_ + static_cast<uint32_t>(chains_.size());
        break;
      }
      cursor.shifts = shift != 0;
      any_shift_ |= cursor.shifts;
      break;
    }
    default:
      break;
  }
  // Other models have their bias in the addends.
  cursor.biases = chained ? storage.biases.data() : &kZero;
  cursor.chained = chained;
  return absl::OkStatus();
}

// One pass over the threads for all columns that need it; their number times that of the threads is not bounded.
void AddressDecoder::CountByThread(const v1::BlockChunk& chunk, const Program& program, const WalkedPaths& walked,
                                   const DecodedChunk& out) {
  first_run_.assign(columns_, kNoRuns);
  uint64_t runs = 0;
  for (const v1::AddressColumn& column : chunk.column()) {
    if (column.model() != v1::AddressColumn::TIME && column.model() != v1::AddressColumn::COUNTED && !column.scaled()) {
      continue;
    }
    const auto found = std::lower_bound(program.accesses().begin(), program.accesses().end(), column.instruction());
    if (found == program.accesses().end()) continue;  // refused later, as all that is wrong with a column
    const size_t c = static_cast<size_t>(found - program.accesses().begin());
    if (first_run_[c] != kNoRuns) continue;
    first_run_[c] = runs;
    runs += walked.totals[c].threads;
  }
  if (runs == 0) return;
  runs_.resize(runs);
  std::vector<ThreadResiduals*> next(columns_, nullptr);
  for (uint32_t c = 0; c < columns_; ++c) {
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

void AddressDecoder::ReadSteps(const v1::AddressColumn& column, uint32_t index) {
  Storage& storage = storage_[index];
  storage.bases.resize(static_cast<size_t>(column.base_dd_size()));
  const auto [lowest, highest] = SumTwice(column.base_dd(), storage.bases.data());
  storage.bases_reach.lowest = lowest;
  storage.bases_reach.highest = highest;
  storage.addends.resize(static_cast<size_t>(column.step_dd_size()) + 1);
  storage.addends[0] = 0;
  SumTwice(column.step_dd(), storage.addends.data() + 1);
  cursors_[index].base = BaseOf(storage.bases[0]);
  cursors_[index].based = true;
  cursors_[index].stride = sizeof(uint64_t);
  storage.first = storage.addends.data();
}

// The first access of a thread counts from 0, so its addend is the base.
void AddressDecoder::ReadTime(const v1::AddressColumn& column, std::span<const ThreadResiduals> threads,
                              uint32_t index) {
  Storage& storage = storage_[index];
  const uint64_t bias = static_cast<uint64_t>(column.bias());
  storage.bases.resize(static_cast<size_t>(column.base_dd_size()));
  SumTwice(column.base_dd(), storage.bases.data());
  storage.addends.resize(column.residual_count() + storage.bases.size());
  uint64_t* next = storage.addends.data();
  const int64_t* residual = storage.residuals.empty() ? nullptr : storage.residuals.data();
  for (size_t t = 0; t < threads.size(); ++t) {
    *next++ = storage.bases[t];
    for (uint32_t k = 1; k < threads[t].count; ++k) {
      *next++ = bias + (residual == nullptr ? 0 : static_cast<uint64_t>(*residual++));
    }
  }
  cursors_[index].stride = sizeof(uint64_t);
  storage.first = storage.addends.data();
}

absl::Status AddressDecoder::ReadColumn(const v1::AddressColumn& column, const WalkedPaths& walked,
                                        const Program& program, uint32_t index) {
  const WalkedPaths::Column& total = walked.totals[index];
  Cursor& cursor = cursors_[index];
  cursor.used = true;
  cursor.target = index;
  switch (column.model()) {
    case v1::AddressColumn::SEPARABLE:
    case v1::AddressColumn::TIME:
    case v1::AddressColumn::RELATIVE:
    case v1::AddressColumn::CHAIN:
    case v1::AddressColumn::INDUCTION:
    case v1::AddressColumn::COUNTED:
      break;
    default:
      return Refuse(column, absl::StrCat("unknown model ", static_cast<int>(column.model())));
  }
  const bool separable = column.model() == v1::AddressColumn::SEPARABLE;
  const bool time = column.model() == v1::AddressColumn::TIME || column.model() == v1::AddressColumn::COUNTED;
  const bool induction = column.model() == v1::AddressColumn::INDUCTION;
  if (static_cast<uint64_t>(column.base_dd_size()) != (separable || time || induction ? total.threads : 0)) {
    return Refuse(column, absl::StrCat("base_dd has ", column.base_dd_size(), " elements, ", total.threads,
                                       " threads run the instruction"));
  }
  const uint64_t steps = separable ? total.most - 1 : 0;
  if (static_cast<uint64_t>(column.step_dd_size()) != steps) {
    return Refuse(column, absl::StrCat("step_dd has ", column.step_dd_size(), " elements instead of ", steps));
  }
  HEDDLE_RETURN_IF_ERROR(SetSource(column, walked, program, index));
  HEDDLE_RETURN_IF_ERROR(SetCounter(column, program, index));
  if (column.chain() != 0) {
    cursor.target = 2 * columns_ + column.chain() - 1;
    cursor.chained = true;
    cursor.state = ++chain_read_[column.chain() - 1];
  }
  const uint64_t residuals = separable || induction ? 0 : total.accesses - (time ? total.threads : 0);
  if (time && column.scaled())
    return Refuse(column, "scaled needs a residual for every access, TIME and COUNTED have less");
  std::span<const ThreadResiduals> threads;
  if (first_run_[index] != kNoRuns) threads = std::span(runs_).subspan(first_run_[index], total.threads);
  if (absl::Status status = DecodeResiduals(column, residuals, threads, storage_[index].residuals); !status.ok()) {
    return Refuse(column, status.message());
  }
  if (separable || induction) {
    ReadSteps(column, index);
  } else if (time) {
    ReadTime(column, threads, index);
  } else {
    Storage& storage = storage_[index];
    const bool zero = storage.residuals.empty();
    const bool relative = column.model() == v1::AddressColumn::RELATIVE;
    cursor.stride = zero ? 0 : sizeof(uint64_t);
    cursor.constant_distance = zero && relative && column.ref_shift() == 0;
    if (relative && storage.biases[0] != 0) {
      const uint64_t bias = storage.biases[0];
      for (int64_t& residual : storage.residuals) {
        residual = static_cast<int64_t>(static_cast<uint64_t>(residual) + bias);
      }
    }
    // Read as unsigned numbers, which keeps their bits.
    storage.first = !zero      ? reinterpret_cast<const uint64_t*>(storage.residuals.data())
                    : relative ? storage.biases.data()
                               : &kZero;
  }
  return absl::OkStatus();
}

absl::Status AddressDecoder::Decode(const v1::BlockChunk& chunk, const Program& program, const WalkedPaths& walked,
                                    DecodedChunk& out) {
  columns_ = static_cast<uint32_t>(program.accesses().size());
  cursors_.assign(columns_, Cursor());
  if (storage_.size() < columns_) storage_.resize(columns_);
  needs_clearing_.assign(columns_, 0);
  any_shift_ = false;
  any_zeroed_ = false;
  inductions_.reset();
  restarts_.reset();
  HEDDLE_RETURN_IF_ERROR(ReadChains(chunk));
  CountByThread(chunk, program, walked, out);
  // Records and columns that ran must be the same set, in the same order.
  size_t next = 0;
  for (const v1::AddressColumn& column : chunk.column()) {
    while (next < columns_ && walked.totals[next].accesses == 0) ++next;
    if (next == columns_ || program.accesses()[next] != column.instruction()) {
      return Refuse(column, next == columns_ ? "no thread runs the instruction"
                                             : absl::StrCat("the column of instruction ", program.accesses()[next],
                                                            " must come next"));
    }
    if (column.model() == v1::AddressColumn::COUNTED && out.accesses > kMaxCountedAccesses) {
      return Refuse(column, absl::StrCat("model COUNTED in a chunk of more than ", kMaxCountedAccesses, " accesses"));
    }
    HEDDLE_RETURN_IF_ERROR(ReadColumn(column, walked, program, static_cast<uint32_t>(next)));
    ++next;
  }
  while (next < columns_ && walked.totals[next].accesses == 0) ++next;
  if (next != columns_) {
    return absl::DataLossError(absl::StrCat("instruction ", program.accesses()[next], " ran but has no column"));
  }
  cleared_.clear();
  for (uint32_t c = 0; c < columns_; ++c) {
    if (needs_clearing_[c] != 0) cleared_.push_back(static_cast<uint16_t>(c));
  }
  CountInductions(walked, out);
  AddSums(walked, out);

  out.addresses64.clear();
  out.offsets32.resize(out.accesses);
  bool narrow = WalkAll(walked, out, out.offsets32.data());
  if (!ZeroedColumnsHold(narrow)) narrow = WalkAll(walked, out, out.offsets32.data());
  if (narrow) {
    out.base.assign(program.instruction_count(), 0);
    for (size_t c = 0; c < columns_; ++c) out.base[program.accesses()[c]] = cursors_[c].base;
    return absl::OkStatus();
  }
  out.offsets32.clear();
  out.base.clear();
  out.addresses64.resize(out.accesses);
  WalkAll(walked, out, out.addresses64.data());
  return absl::OkStatus();
}

void AddressDecoder::Trim() {
  constexpr size_t kMostKept = 48u << 20;  // bytes
  size_t kept = planned_values_.capacity() * sizeof(PlannedValue);
  for (const Storage& storage : storage_) {
    kept += storage.residuals.capacity() * sizeof(int64_t) + (storage.addends.capacity() + storage.bases.capacity() +
                                                              storage.sums.capacity() + storage.restarts.capacity()) *
                                                                 sizeof(uint64_t);
  }
  if (kept <= kMostKept) return;
  std::vector<Storage>().swap(storage_);
  std::vector<PlannedValue>().swap(planned_values_);
}

}  // namespace heddle::trace
