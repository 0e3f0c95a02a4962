// SEPARABLE: a base per thread, plus steps that are the same in all threads.
#ifndef HEDDLE_TRACES_FORMAT_COLUMNS_MODELS_SEPARABLE_MODEL_H_
#define HEDDLE_TRACES_FORMAT_COLUMNS_MODELS_SEPARABLE_MODEL_H_

#include <cstdint>
#include <span>

#include "traces/format/columns/models/column_model.h"

namespace heddle::trace {

class SeparableModel final : public ColumnModel {
 public:
  void Analyse(EncoderColumns& columns, uint32_t index, bool trial) const override;
  void Score(EncoderColumns& columns, uint32_t index) const override;
  Expected Expects(const EncoderColumns& columns, uint32_t index, const ModelChoice& known) const override;
  bool Fits(EncoderColumns& columns, uint32_t index, const ModelChoice& known) const override;
  ModelResiduals Encode(const EncoderColumns& columns, uint32_t index, std::vector<int64_t>& room,
                        v1::AddressColumn& record) const override;
  RecordShape ShapeOf(const WalkedPaths::Column& total) const override;
  absl::Status ReadParameters(const v1::AddressColumn& record, DecoderColumns& columns, uint32_t index) const override;
  void ReadAddends(const v1::AddressColumn& record, std::span<const ThreadResiduals> threads, DecoderColumns& columns,
                   uint32_t index) const override;

  // Not 0 if a thread does not go on from its first address as `model` does, a thread that runs the instruction at
  // least as often. Its addresses are those of `addresses` in the places that `order` tells.
  static uint64_t Difference(const uint64_t* addresses, std::span<const uint32_t> order, const uint64_t* model) {
    const uint64_t difference = addresses[order[0]] - model[0];
    uint64_t wrong = 0;
    for (size_t k = 1; k < order.size(); ++k) wrong |= (addresses[order[k]] - model[k]) ^ difference;
    return wrong;
  }
};

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_COLUMNS_MODELS_SEPARABLE_MODEL_H_
