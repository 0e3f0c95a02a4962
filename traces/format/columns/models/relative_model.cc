#include "traces/format/columns/models/relative_model.h"

#include <algorithm>

#include "traces/format/columns/models/costs.h"
#include "traces/format/program/operands.h"

namespace heddle::trace {
namespace {

bool AreInOneBlock(const Program& program, uint32_t column, uint32_t other) {
  return program.block_of(program.accesses()[column]) == program.block_of(program.accesses()[other]);
}

// Whether no reference has anything to gain.
bool IsCheapAlone(const EncoderColumns& columns, uint32_t index) {
  return columns.all[index].longest >= 0 && HasCheapBases(columns.View(index));
}

}  // namespace

void RelativeModel::Analyse(EncoderColumns& columns, uint32_t index, bool trial) const {
  constexpr size_t kMostReferences = 12;
  if (!trial || IsCheapAlone(columns, index)) return;
  // Candidates: the nearest columns in front of this one, nearest first.
  std::vector<uint32_t>& references = columns.all[index].sample.references;
  auto next = std::lower_bound(columns.used.begin(), columns.used.end(), index);
  while (next != columns.used.begin() && references.size() < kMostReferences) references.push_back(*--next);
}

void RelativeModel::Score(EncoderColumns& columns, uint32_t index) const {
  EncoderColumn& column = columns.all[index];
  const ReferenceSample& sample = column.sample;
  if (IsCheapAlone(columns, index) || sample.values.empty()) return;
  const size_t references = sample.references.size();
  const double count = static_cast<double>(column.values);
  std::vector<int64_t> residuals;
  const auto residuals_for = [&](size_t r, int32_t shift, size_t most) {
    residuals.clear();
    const size_t n = std::min(most, sample.values.size());
    // Spread over the whole sample, so that the short look is not the first thread alone.
    for (size_t i = 0; i < n; ++i) {
      const size_t at = i * sample.values.size() / n;
      residuals.push_back(static_cast<int64_t>(sample.values[at] - Shifted(sample.latest[at * references + r], shift)));
    }
  };
  // A shift by -63 makes a prediction of 0 of every ordinary address: residuals then count from the bias alone, which
  // is the best one can do for a column scattered over an array.
  for (size_t r = 0; r < references; ++r) {
    for (int32_t shift : {0, 2, -2, 1, -1, 3, -3, -63}) {
      if (shift == -63 && r > 0) continue;
      constexpr size_t kShortLook = 64;
      int64_t bias = 0;
      residuals_for(r, shift, kShortLook);
      if (CostWithBias(residuals, bias) * count > 1.2 * column.bits) continue;
      residuals_for(r, shift, sample.values.size());
      const double cost = CostWithBias(residuals, bias) * count;
      if (cost < 0.95 * column.bits) {
        column.bits = cost;
        column.choice.model = v1::AddressColumn::RELATIVE;
        column.choice.reference = sample.references[r];
        column.choice.shift = shift;
        column.choice.bias = bias;
      }
    }
  }
}

Expected RelativeModel::Expects(const EncoderColumns& columns, uint32_t index, const ModelChoice& known) const {
  return known.exact && AreInOneBlock(columns.chunk->program(), index, known.reference) ? Expected::kRelative
                                                                                        : Expected::kNothing;
}

bool RelativeModel::Fits(EncoderColumns& columns, uint32_t index, const ModelChoice& known) const {
  return columns.all[known.reference].values > 0 && !IsCheapAlone(columns, index);
}

ModelResiduals RelativeModel::Encode(const EncoderColumns& columns, uint32_t index, std::vector<int64_t>& room,
                                     v1::AddressColumn& record) const {
  const EncoderColumn& column = columns.all[index];
  const ModelChoice& choice = column.choice;
  record.set_ref_instruction(columns.chunk->program().accesses()[choice.reference]);
  record.set_ref_operand(OperandOf(columns.chunk->program(), choice.reference));
  record.set_ref_shift(choice.shift);
  record.set_bias(choice.bias);
  if (column.expected == Expected::kRelative) return {.kind = ModelResiduals::Kind::kZeros};
  if (column.walks) {
    return {.kind = ModelResiduals::Kind::kNumbers, .by_access = true, .numbers = column.residuals};
  }
  const std::span<const uint64_t> values = columns.View(index).values;
  const std::span<const uint64_t> reference = columns.View(choice.reference).values;
  const auto bias = static_cast<uint64_t>(choice.bias);
  room.resize(values.size());
  if (choice.shift == 0) {
    for (size_t i = 0; i < room.size(); ++i) room[i] = static_cast<int64_t>(values[i] - reference[i] - bias);
  } else {
    for (size_t i = 0; i < room.size(); ++i) {
      room[i] = static_cast<int64_t>(values[i] - Shifted(reference[i], choice.shift) - bias);
    }
  }
  return {.kind = ModelResiduals::Kind::kNumbers, .by_access = true, .numbers = room};
}

RecordShape RelativeModel::ShapeOf(const WalkedPaths::Column& total) const { return {.residuals = total.accesses}; }

absl::Status RelativeModel::ReadParameters(const v1::AddressColumn& record, DecoderColumns& columns,
                                           uint32_t index) const {
  const Program& program = *columns.program;
  ColumnCursor& cursor = columns.cursors[index];
  ColumnStorage& storage = columns.storage[index];
  const int32_t shift = record.ref_shift();
  if (shift < -63 || shift > 63) return RefuseColumn(record, "ref_shift is beyond 63");
  const uint32_t reference = FindColumn(program, record.ref_instruction(), record.ref_operand());
  if (reference >= index || columns.walked->totals[reference].accesses == 0) {
    return RefuseColumn(record, "ref_instruction and ref_operand are no column of this chunk before it");
  }
  cursor.source = reference;
  const ColumnCursor& referred = columns.cursors[reference];
  const bool same_block = AreInOneBlock(program, index, reference);
  if (shift == 0 && same_block && referred.constant_distance) {
    // What the reference counts from has not been accessed since, so this column may count from the same: each
    // access of a chain of references waits for the one before it.
    cursor.source = referred.source;
    storage.biases[0] += columns.storage[reference].biases[0];
  }
  (shift > 0 ? cursor.left : cursor.right) = static_cast<uint8_t>(shift > 0 ? shift : -shift);
  // Within a basic block the reference has just been accessed; elsewhere it may not have been, by this thread.
  if (!same_block || shift == -63) columns.needs_clearing[reference] = 1;
  if (shift == -63) {
    storage.zeroed = columns.any_zeroed = true;
    storage.reference_slot = cursor.source;
    cursor.source = columns.ZeroSlot();
    return absl::OkStatus();
  }
  cursor.shifts = shift != 0;
  columns.any_shift |= cursor.shifts;
  return absl::OkStatus();
}

void RelativeModel::ReadAddends(const v1::AddressColumn& record, std::span<const ThreadResiduals> /*threads*/,
                                DecoderColumns& columns, uint32_t index) const {
  ColumnCursor& cursor = columns.cursors[index];
  ColumnStorage& storage = columns.storage[index];
  if (storage.residuals.empty()) {
    cursor.stride = 0;
    cursor.constant_distance = record.ref_shift() == 0;
    storage.first = storage.biases.data();
    return;
  }
  const uint64_t bias = storage.biases[0];
  if (bias != 0) {
    for (int64_t& residual : storage.residuals) {
      residual = static_cast<int64_t>(static_cast<uint64_t>(residual) + bias);
    }
  }
  SetResidualAddends(columns, index);
}

bool ZeroedColumnsHold(bool narrow, DecoderColumns& columns) {
  if (!columns.any_zeroed) return true;
  bool low = narrow;
  const auto is_zeroed = [&](size_t c) { return columns.cursors[c].used && columns.storage[c].zeroed; };
  for (size_t c = 0; c < columns.count && low; ++c) {
    if (!is_zeroed(c)) continue;
    // All addresses of the reference lie within 4 GiB from its base.
    constexpr uint64_t kReach = uint64_t{1} << 32;
    const uint64_t base = columns.cursors[columns.storage[c].reference_slot].base;
    low = base < (uint64_t{1} << 63) - kReach;
  }
  if (low) return true;
  columns.any_zeroed = false;
  columns.any_shift = true;
  for (size_t c = 0; c < columns.count; ++c) {
    if (!is_zeroed(c)) continue;
    columns.cursors[c].source = columns.storage[c].reference_slot;
    columns.cursors[c].shifts = true;
  }
  return false;
}

}  // namespace heddle::trace
