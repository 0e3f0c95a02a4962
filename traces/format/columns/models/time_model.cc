#include "traces/format/columns/models/time_model.h"

#include "traces/format/columns/models/bases.h"
#include "traces/format/columns/models/costs.h"

namespace heddle::trace {
namespace {

// Differences of some threads, spread over the chunk.
std::vector<int64_t> SampleDifferences(const ColumnView& column) {
  constexpr size_t kMost = 1024;
  constexpr size_t kPerThread = 64;
  std::vector<int64_t> differences;
  const size_t stride = column.threads() / (kMost / kPerThread * 4) + 1;
  for (size_t t = 0; t < column.threads() && differences.size() < kMost; t += stride) {
    const std::span<const uint64_t> values = column.of(t);
    for (size_t k = 1; k < values.size() && k <= kPerThread; ++k) {
      differences.push_back(static_cast<int64_t>(values[k] - values[k - 1]));
    }
  }
  return differences;
}

}  // namespace

void TimeModel::Score(EncoderColumns& columns, uint32_t index) const {
  EncoderColumn& column = columns.all[index];
  if (column.longest >= 0) return;
  const ColumnView view = columns.View(index);
  std::vector<int64_t> differences = SampleDifferences(view);
  column.choice.model = v1::AddressColumn::TIME;
  column.bits = BaseBits(view) + CostWithBias(differences, column.choice.bias) *
                                     static_cast<double>(view.values.size() - view.threads());
}

bool TimeModel::Fits(EncoderColumns& columns, uint32_t index, const ModelChoice& /*known*/) const {
  return columns.all[index].longest < 0;
}

ModelResiduals TimeModel::Encode(const EncoderColumns& columns, uint32_t index, std::vector<int64_t>& room,
                                 v1::AddressColumn& record) const {
  const ColumnView view = columns.View(index);
  const int64_t bias = columns.all[index].choice.bias;
  record.set_bias(bias);
  StoreBases(view, record);
  room.resize(view.values.size() - view.threads());
  int64_t* next = room.data();
  for (size_t t = 0; t < view.threads(); ++t) {
    const std::span<const uint64_t> values = view.of(t);
    for (size_t k = 1; k < values.size(); ++k) {
      *next++ = static_cast<int64_t>(values[k] - values[k - 1] - static_cast<uint64_t>(bias));
    }
  }
  return {.kind = ModelResiduals::Kind::kNumbers, .numbers = room};
}

RecordShape TimeModel::ShapeOf(const WalkedPaths::Column& total) const { return ShapeOfTime(total); }

absl::Status TimeModel::ReadParameters(const v1::AddressColumn& /*record*/, DecoderColumns& columns,
                                       uint32_t index) const {
  SetTimeSource(columns, index);
  return absl::OkStatus();
}

void TimeModel::ReadAddends(const v1::AddressColumn& record, std::span<const ThreadResiduals> threads,
                            DecoderColumns& columns, uint32_t index) const {
  ReadTimeAddends(record, threads, columns, index);
}

RecordShape ShapeOfTime(const WalkedPaths::Column& total) {
  return {.bases = total.threads, .residuals = total.accesses - total.threads, .scalable = false};
}

void SetTimeSource(DecoderColumns& columns, uint32_t index) {
  columns.needs_clearing[index] = 1;
  columns.cursors[index].source = index;
  columns.storage[index].biases[0] = 0;  // the bias is in the addends
}

void ReadTimeAddends(const v1::AddressColumn& record, std::span<const ThreadResiduals> threads, DecoderColumns& columns,
                     uint32_t index) {
  ColumnStorage& storage = columns.storage[index];
  const uint64_t bias = static_cast<uint64_t>(record.bias());
  ReadBases(record, storage);
  storage.addends.resize(record.residual_count() + storage.bases.size());
  uint64_t* next = storage.addends.data();
  const int64_t* residual = storage.residuals.empty() ? nullptr : storage.residuals.data();
  for (size_t t = 0; t < threads.size(); ++t) {
    *next++ = storage.bases[t];
    for (uint32_t k = 1; k < threads[t].count; ++k) {
      *next++ = bias + (residual == nullptr ? 0 : static_cast<uint64_t>(*residual++));
    }
  }
  columns.cursors[index].stride = sizeof(uint64_t);
  storage.first = storage.addends.data();
}

}  // namespace heddle::trace
