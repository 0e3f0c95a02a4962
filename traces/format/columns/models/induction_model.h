// INDUCTION: a base per thread, plus what counters of loops add up to.
#ifndef HEDDLE_TRACES_FORMAT_COLUMNS_MODELS_INDUCTION_MODEL_H_
#define HEDDLE_TRACES_FORMAT_COLUMNS_MODELS_INDUCTION_MODEL_H_

#include <cstdint>
#include <span>
#include <vector>

#include "traces/format/columns/models/column_model.h"

namespace heddle::trace {

class InductionModel final : public ColumnModel {
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

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_COLUMNS_MODELS_INDUCTION_MODEL_H_
