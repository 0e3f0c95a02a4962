// CHAIN: columns of one array, each address from the latest access of any of them (proto/trace.proto, Chain).
#ifndef HEDDLE_TRACES_FORMAT_COLUMNS_MODELS_CHAIN_MODEL_H_
#define HEDDLE_TRACES_FORMAT_COLUMNS_MODELS_CHAIN_MODEL_H_

#include <cstdint>
#include <span>
#include <vector>

#include "traces/format/columns/models/column_model.h"

namespace heddle::trace {

inline constexpr size_t kMostChainMembers = 32;

// What a writer decided for a chain.
struct ChainChoice {
  std::vector<uint32_t> members;  // columns, ascending
  uint64_t lowest = 0;            // address of its columns
  bool carry = false;             // threads go on from one another
};

// A model of several columns at once: it is scored by the functions below, once all other models have been.
class ChainModel final : public ColumnModel {
 public:
  void Analyse(EncoderColumns& columns, uint32_t index, bool trial) const override;
  void Score(EncoderColumns& /*columns*/, uint32_t /*index*/) const override {}
  bool Fits(EncoderColumns& columns, uint32_t index, const ModelChoice& known) const override;
  ModelResiduals Encode(const EncoderColumns& columns, uint32_t index, std::vector<int64_t>& room,
                        v1::AddressColumn& record) const override;
  RecordShape ShapeOf(const WalkedPaths::Column& total) const override;
  absl::Status ReadParameters(const v1::AddressColumn& record, DecoderColumns& columns, uint32_t index) const override;
  void ReadAddends(const v1::AddressColumn& record, std::span<const ThreadResiduals> threads, DecoderColumns& columns,
                   uint32_t index) const override;
};

// Analyse: possible chains, of columns whose ranges of addresses overlap; the second of a pair lacks the columns of the
// first that are cheap by themselves. Tells the columns what they may belong to.
std::vector<ChainChoice> FindChains(EncoderColumns& columns);

// Score: finds which of `chains` are cheaper than what was chosen so far for their columns, and gives these columns the
// model. Returns the chains that were chosen, by whose numbers ModelChoice::chain counts.
std::vector<ChainChoice> ChooseChains(std::vector<ChainChoice> chains, EncoderColumns& columns);

// Encode: gives the chains that columns of this chunk count from their numbers in the record, in `out`, and their
// columns what belongs to that.
void NumberChains(std::span<const ChainChoice> chains, EncoderColumns& columns, v1::BlockChunk& out);

// Moves what all residuals of a state have in common to the state's bias, if that takes fewer bits.
void TightenBiases(EncoderColumn& column);

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_COLUMNS_MODELS_CHAIN_MODEL_H_
