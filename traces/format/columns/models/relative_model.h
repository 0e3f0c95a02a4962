// RELATIVE: each address from the latest one of another column.
#ifndef HEDDLE_TRACES_FORMAT_COLUMNS_MODELS_RELATIVE_MODEL_H_
#define HEDDLE_TRACES_FORMAT_COLUMNS_MODELS_RELATIVE_MODEL_H_

#include <cstdint>
#include <span>

#include "traces/format/columns/models/column_model.h"

namespace heddle::trace {

// Address shifted left (positive) or arithmetically right (negative); |shift| is at most 63.
inline uint64_t Shifted(uint64_t address, int32_t shift) {
  return shift >= 0 ? address << shift : static_cast<uint64_t>(static_cast<int64_t>(address) >> -shift);
}

class RelativeModel final : public ColumnModel {
 public:
  // Asks for a sample of the column with its possible references.
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

  // Not 0 if a thread is not at the distance from its reference that is `known`, both of which run in turns. The
  // addresses are those of `addresses` in the places that `order` and `reference` tell.
  static uint64_t Difference(const uint64_t* addresses, std::span<const uint32_t> order, const uint32_t* reference,
                             const ModelChoice& known) {
    const auto bias = static_cast<uint64_t>(known.bias);
    uint64_t wrong = 0;
    for (size_t k = 0; k < order.size(); ++k) {
      wrong |= (addresses[order[k]] - Shifted(addresses[reference[k]], known.shift)) ^ bias;
    }
    return wrong;
  }
};

// True if columns that count from 0 instead of an address shifted by 63 were right to, which their references are if
// their addresses are below 2^63; else they will not any more. `narrow`: the addresses have been walked, and 32-bit
// offsets hold them.
bool ZeroedColumnsHold(bool narrow, DecoderColumns& columns);

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_COLUMNS_MODELS_RELATIVE_MODEL_H_
