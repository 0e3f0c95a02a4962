#include "traces/format/columns/models/separable_model.h"

#include "traces/format/columns/models/bases.h"
#include "traces/format/columns/models/costs.h"

namespace heddle::trace {
namespace {

// If the column has the form base(t) + step(k): the longest thread, whose steps are the column's. Otherwise -1.
int64_t FindSeparable(const ColumnView& column) {
  size_t longest = 0;
  for (size_t t = 1; t < column.threads(); ++t) {
    if (column.of(t).size() > column.of(longest).size()) longest = t;
  }
  const std::span<const uint64_t> model = column.of(longest);
  if (model.size() > 1) {
    for (size_t t = 0; t < column.threads(); ++t) {
      const std::span<const uint64_t> values = column.of(t);
      const uint64_t difference = values[0] - model[0];
      uint64_t wrong = 0;
      for (size_t k = 1; k < values.size(); ++k) wrong |= (values[k] - model[k]) ^ difference;
      if (wrong != 0) return -1;
    }
  }
  return static_cast<int64_t>(longest);
}

}  // namespace

void SeparableModel::Analyse(EncoderColumns& columns, uint32_t index, bool /*trial*/) const {
  EncoderColumn& column = columns.all[index];
  if (column.expected == Expected::kNothing) column.longest = FindSeparable(columns.View(index));
}

void SeparableModel::Score(EncoderColumns& columns, uint32_t index) const {
  EncoderColumn& column = columns.all[index];
  if (column.longest < 0) return;
  column.choice.model = v1::AddressColumn::SEPARABLE;
  column.choice.bias = 0;
  column.bits = BaseBits(columns.View(index));
}

Expected SeparableModel::Expects(const EncoderColumns& /*columns*/, uint32_t /*index*/,
                                 const ModelChoice& /*known*/) const {
  return Expected::kSeparable;
}

bool SeparableModel::Fits(EncoderColumns& columns, uint32_t index, const ModelChoice& /*known*/) const {
  return columns.all[index].longest >= 0;
}

ModelResiduals SeparableModel::Encode(const EncoderColumns& columns, uint32_t index, std::vector<int64_t>& /*room*/,
                                      v1::AddressColumn& record) const {
  const EncoderColumn& column = columns.all[index];
  if (column.expected == Expected::kSeparable) {
    StoreBases(column.bases, record);
    StoreSteps(column.model, record);
  } else {
    const ColumnView view = columns.View(index);
    StoreBases(view, record);
    StoreSteps(view.of(static_cast<size_t>(column.longest)), record);
  }
  return {};
}

RecordShape SeparableModel::ShapeOf(const WalkedPaths::Column& total) const {
  return {.bases = total.threads, .steps = total.most - 1};
}

absl::Status SeparableModel::ReadParameters(const v1::AddressColumn& /*record*/, DecoderColumns& columns,
                                            uint32_t index) const {
  SetBaseSource(columns, index);
  return absl::OkStatus();
}

void SeparableModel::ReadAddends(const v1::AddressColumn& record, std::span<const ThreadResiduals> /*threads*/,
                                 DecoderColumns& columns, uint32_t index) const {
  ReadBasesAndSteps(record, columns, index);
}

}  // namespace heddle::trace
