#include <algorithm>

#include "absl/strings/str_cat.h"
#include "traces/format/chunk_decoder.h"
#include "traces/format/column_model.h"
#include "traces/format/limits.h"
#include "traces/format/residuals.h"

namespace heddle::trace {
namespace {

enum Kind : uint8_t { kUnused, kSeparable, kTime, kRelative };

// The first address of an instruction lies in the middle of the 4 GiB that 32-bit offsets reach.
constexpr uint64_t kHalfReach = uint64_t{1} << 31;

absl::Status Refuse(const v1::AddressColumn& column, absl::string_view rule) {
  return absl::DataLossError(absl::StrCat("column of instruction ", column.instruction(), ": ", rule));
}

}  // namespace

absl::Status AddressDecoder::ReadColumn(const v1::AddressColumn& column, const WalkedPaths& walked,
                                        const Program& program, uint32_t index) {
  const WalkedPaths::Column& total = walked.totals[index];
  Cursor& cursor = cursors_[index];
  Storage& storage = storage_[index];
  storage.record = &column;
  if (column.model() > v1::AddressColumn::RELATIVE || column.model() < v1::AddressColumn::SEPARABLE) {
    return Refuse(column, absl::StrCat("unknown model ", static_cast<int>(column.model())));
  }
  const bool bases = column.model() == v1::AddressColumn::SEPARABLE || column.model() == v1::AddressColumn::TIME;
  if (static_cast<uint64_t>(column.base_dd_size()) != (bases ? total.threads : 0)) {
    return Refuse(column, absl::StrCat("base_dd has ", column.base_dd_size(), " elements, ", total.threads,
                                       " threads run the instruction"));
  }
  const uint64_t steps = column.model() == v1::AddressColumn::SEPARABLE ? total.most - 1 : 0;
  if (static_cast<uint64_t>(column.step_dd_size()) != steps) {
    return Refuse(column, absl::StrCat("step_dd has ", column.step_dd_size(), " elements instead of ", steps));
  }
  uint64_t residuals = 0;
  switch (column.model()) {
    case v1::AddressColumn::SEPARABLE: {
      cursor.kind = kSeparable;
      storage.steps.resize(steps + 1);
      uint64_t step = 0;
      uint64_t delta = 0;
      storage.steps[0] = 0;
      for (uint64_t k = 0; k < steps; ++k) {
        delta += static_cast<uint64_t>(column.step_dd(static_cast<int>(k)));
        step += delta;
        storage.steps[k + 1] = step;
      }
      break;
    }
    case v1::AddressColumn::TIME:
      cursor.kind = kTime;
      residuals = total.accesses - total.threads;
      break;
    default: {
      cursor.kind = kRelative;
      any_relative_ = true;
      residuals = total.accesses;
      if (column.ref_shift() < -63 || column.ref_shift() > 63) return Refuse(column, "ref_shift is beyond 63");
      const auto reference =
          std::lower_bound(program.accesses().begin(), program.accesses().end(), column.ref_instruction());
      if (column.ref_instruction() >= column.instruction() || reference == program.accesses().end() ||
          *reference != column.ref_instruction() ||
          walked.totals[static_cast<size_t>(reference - program.accesses().begin())].accesses == 0) {
        return Refuse(column, "ref_instruction is not a lower instruction with a column in this chunk");
      }
      cursor.reference = static_cast<uint32_t>(reference - program.accesses().begin());
      cursor.shift = column.ref_shift();
      break;
    }
  }
  cursor.bias = static_cast<uint64_t>(column.bias());
  if (absl::Status status = DecodeResiduals(column, residuals, storage.residuals); !status.ok()) {
    return Refuse(column, status.message());
  }
  return absl::OkStatus();
}

void AddressDecoder::Rewind() {
  for (size_t c = 0; c < cursors_.size(); ++c) {
    Cursor& cursor = cursors_[c];
    if (cursor.kind == kUnused) continue;
    const Storage& storage = storage_[c];
    cursor.residual = storage.residuals.data();
    cursor.steps = storage.steps.data();
    cursor.next_base = storage.record->base_dd().data();
    cursor.thread_base = 0;
    cursor.thread_delta = 0;
    cursor.latest = 0;
    cursor.based = false;
    if (cursor.kind != kRelative) {
      cursor.based = true;
      cursor.base = static_cast<uint64_t>(*cursor.next_base) - kHalfReach;
    }
  }
}

inline void AddressDecoder::StartThread(std::span<const uint16_t> columns) {
  for (uint16_t c : columns) {
    Cursor& cursor = cursors_[c];
    if (cursor.kind == kRelative) continue;
    cursor.thread_delta += static_cast<uint64_t>(*cursor.next_base++);
    cursor.thread_base += cursor.thread_delta;
    cursor.started = false;
    cursor.step = cursor.steps;
  }
}

// Returns the bits of all offsets that 32 bits cannot hold.
template <typename Output>
uint64_t AddressDecoder::WalkThread(const uint16_t* sequence, uint64_t accesses, Output* output) {
  constexpr bool kWide = sizeof(Output) == 8;
  uint64_t beyond = 0;
  Cursor* const cursors = cursors_.data();
  for (uint64_t i = 0; i < accesses; ++i) {
    Cursor& cursor = cursors[sequence[i]];
    uint64_t address;
    switch (cursor.kind) {
      case kSeparable:
        address = cursor.thread_base + *cursor.step++;
        break;
      case kTime:
        if (cursor.started) {
          address = cursor.latest + cursor.bias + static_cast<uint64_t>(*cursor.residual++);
        } else {
          address = cursor.thread_base;
          cursor.started = true;
        }
        break;
      default:
        address = Shifted(cursors[cursor.reference].latest, cursor.shift) + cursor.bias +
                  static_cast<uint64_t>(*cursor.residual++);
        if (!cursor.based) {
          cursor.based = true;
          cursor.base = address - kHalfReach;
        }
        break;
    }
    cursor.latest = address;
    if constexpr (kWide) {
      output[i] = address;
    } else {
      const uint64_t offset = address - cursor.base;
      beyond |= offset;
      output[i] = static_cast<Output>(offset);
    }
  }
  return kWide ? 0 : beyond >> 32;
}

template <typename Output>
bool AddressDecoder::WalkThreads(const WalkedPaths& walked, const DecodedChunk& out, Output* output) {
  constexpr bool kWide = sizeof(Output) == 8;
  Rewind();
  uint64_t beyond = 0;
  std::span<const uint16_t> previous;
  for (size_t t = 0; t < out.path_of_thread.size(); ++t) {
    const uint32_t p = out.path_of_thread[t];
    const WalkedPaths::Path& path = walked.paths[p];
    const uint64_t accesses = out.paths[p].accesses;
    const std::span<const uint16_t> columns = std::span(walked.columns).subspan(path.first_column, path.column_count);
    const uint16_t* sequence = walked.sequence.data() + path.first_access;
    if (any_relative_) {
      for (uint16_t c : previous) cursors_[c].latest = 0;
      previous = columns;
    }
    StartThread(columns);
    Output* to = output + out.first_address[t];
    if (separable_[p]) {
      const uint64_t* steps = path_steps_.data() + path.first_access;
      for (uint64_t i = 0; i < accesses; ++i) {
        const Cursor& cursor = cursors_[sequence[i]];
        const uint64_t offset = cursor.thread_base + steps[i] - (kWide ? 0 : cursor.base);
        beyond |= offset;
        to[i] = static_cast<Output>(offset);
      }
      if constexpr (kWide) beyond = 0;
      continue;
    }
    beyond |= WalkThread(sequence, accesses, to) << 32;
  }
  return beyond >> 32 == 0;
}

absl::Status AddressDecoder::Decode(const v1::BlockChunk& chunk, const Program& program, const WalkedPaths& walked,
                                    DecodedChunk& out) {
  const size_t columns = program.accesses().size();
  cursors_.assign(columns, Cursor());
  if (storage_.size() < columns) storage_.resize(columns);
  any_relative_ = false;
  // Records and columns that ran must be the same set, in the same order.
  size_t next = 0;
  for (const v1::AddressColumn& column : chunk.column()) {
    while (next < columns && walked.totals[next].accesses == 0) ++next;
    if (next == columns || program.accesses()[next] != column.instruction()) {
      return Refuse(column, next == columns ? "no thread runs the instruction"
                                            : absl::StrCat("the column of instruction ", program.accesses()[next],
                                                           " must come next"));
    }
    if (absl::Status status = ReadColumn(column, walked, program, static_cast<uint32_t>(next)); !status.ok()) {
      return status;
    }
    ++next;
  }
  while (next < columns && walked.totals[next].accesses == 0) ++next;
  if (next != columns) {
    return absl::DataLossError(absl::StrCat("instruction ", program.accesses()[next], " ran but has no column"));
  }

  // Paths that several threads take and that use separable columns only need no cursor per access.
  separable_.assign(walked.paths.size(), 0);
  bool any_separable = false;
  for (size_t p = 0; p < walked.paths.size(); ++p) {
    const WalkedPaths::Path& path = walked.paths[p];
    if (path.uses < 2) continue;
    const auto used = std::span(walked.columns).subspan(path.first_column, path.column_count);
    // A column that others are relative to must keep its latest address.
    if (std::any_of(used.begin(), used.end(), [&](uint16_t c) { return cursors_[c].kind != kSeparable; })) continue;
    separable_[p] = 1;
    any_separable = true;
  }
  if (any_separable) {
    path_steps_.resize(walked.sequence.size());
    std::vector<uint32_t> occurrence(columns, 0);
    for (size_t p = 0; p < walked.paths.size(); ++p) {
      if (!separable_[p]) continue;
      const WalkedPaths::Path& path = walked.paths[p];
      for (uint64_t i = path.first_access; i < path.first_access + out.paths[p].accesses; ++i) {
        const uint16_t c = walked.sequence[i];
        path_steps_[i] = storage_[c].steps[occurrence[c]++];
      }
      for (uint64_t i = 0; i < path.column_count; ++i) occurrence[walked.columns[path.first_column + i]] = 0;
    }
  }

  out.addresses64.clear();
  out.offsets32.resize(out.accesses);
  if (WalkThreads(walked, out, out.offsets32.data())) {
    out.base.assign(program.instruction_count(), 0);
    for (size_t c = 0; c < columns; ++c) out.base[program.accesses()[c]] = cursors_[c].base;
    return absl::OkStatus();
  }
  out.offsets32.clear();
  out.base.clear();
  out.addresses64.resize(out.accesses);
  WalkThreads(walked, out, out.addresses64.data());
  return absl::OkStatus();
}

void AddressDecoder::Trim() {
  constexpr size_t kMostKept = 48u << 20;  // bytes
  size_t kept = path_steps_.capacity() * sizeof(uint64_t);
  for (Storage& storage : storage_) {
    kept += storage.residuals.capacity() * sizeof(int64_t) + storage.steps.capacity() * sizeof(uint64_t);
    storage.record = nullptr;
  }
  if (kept <= kMostKept) return;
  std::vector<Storage>().swap(storage_);
  std::vector<uint64_t>().swap(path_steps_);
}

}  // namespace heddle::trace
