// TIME: each address from the one before it in the thread.
#ifndef HEDDLE_TRACES_FORMAT_COLUMNS_MODELS_TIME_MODEL_H_
#define HEDDLE_TRACES_FORMAT_COLUMNS_MODELS_TIME_MODEL_H_

#include "traces/format/columns/models/column_model.h"

namespace heddle::trace {

class TimeModel final : public ColumnModel {
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

// What TIME and COUNTED have in common: a base for each thread, and no residual for its first access.

RecordShape ShapeOfTime(const WalkedPaths::Column& total);

// The column counts from its own latest address.
void SetTimeSource(DecoderColumns& columns, uint32_t index);

// The first access of a thread counts from 0, so its addend is the base; those of the others are bias and residual.
void ReadTimeAddends(const v1::AddressColumn& record, std::span<const ThreadResiduals> threads, DecoderColumns& columns,
                     uint32_t index);

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_COLUMNS_MODELS_TIME_MODEL_H_
