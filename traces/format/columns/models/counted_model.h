// COUNTED: TIME of what is left of the addresses when the sums of counters of loops have been subtracted.
#ifndef HEDDLE_TRACES_FORMAT_COLUMNS_MODELS_COUNTED_MODEL_H_
#define HEDDLE_TRACES_FORMAT_COLUMNS_MODELS_COUNTED_MODEL_H_

#include <cstdint>
#include <span>
#include <vector>

#include "traces/format/columns/models/column_model.h"

namespace heddle::trace {

class CountedModel final : public ColumnModel {
 public:
  void Score(EncoderColumns& columns, uint32_t index) const override;
  bool Fits(EncoderColumns& columns, uint32_t index, const ModelChoice& known) const override;
  ModelResiduals Encode(const EncoderColumns& columns, uint32_t index, std::vector<int64_t>& room,
                        v1::AddressColumn& record) const override;
  RecordShape ShapeOf(const WalkedPaths::Column& total) const override;
  absl::Status ReadParameters(const v1::AddressColumn& record, DecoderColumns& columns, uint32_t index) const override;
  void ReadAddends(const v1::AddressColumn& record, std::span<const ThreadResiduals> threads, DecoderColumns& columns,
                   uint32_t index) const override;
};

// Decode, once CountTerms has been called: what TIME adds becomes what is added to the latest address.
void AddCountedSums(std::span<const uint32_t> path_of_thread, DecoderColumns& columns);

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_COLUMNS_MODELS_COUNTED_MODEL_H_
