// What a model of addresses does for writers and readers: analyse, score, encode, decode.
#ifndef HEDDLE_TRACES_FORMAT_COLUMNS_MODELS_COLUMN_MODEL_H_
#define HEDDLE_TRACES_FORMAT_COLUMNS_MODELS_COLUMN_MODEL_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "proto/trace.pb.h"
#include "traces/format/columns/models/decoder_columns.h"
#include "traces/format/columns/models/encoder_columns.h"
#include "traces/format/columns/residuals/residuals.h"

namespace heddle::trace {

// The residuals of a column under its model.
struct ModelResiduals {
  enum class Kind : uint8_t {
    kNone,     // the model has none
    kZeros,    // one for every access, all of them 0
    kNumbers,  // `numbers`
  };
  Kind kind = Kind::kNone;
  bool by_access = false;  // kNumbers: one for every access; else none for the first of each thread
  std::span<const int64_t> numbers = {};
};

// What the record of a column must hold.
struct RecordShape {
  uint64_t bases = 0;      // elements of base_dd
  uint64_t steps = 0;      // elements of step_dd
  uint64_t residuals = 0;  // residual_count
  bool terms = false;      // there may be counted_block, reset_block, stride and further_term
  bool chain_bias = false;
  bool scalable = true;  // residuals may be scaled; else the threads of the column are counted in any case
};

// One way to predict the addresses of a column from others (proto/trace.proto, AddressColumn.Model). Models have no
// state: what they find is kept with the columns. They are asked once per column of a chunk, never per address.
class ColumnModel {
 public:
  // --- Writers.

  // Analyse: notes what is to be known of the column before any model is scored or kept. With `trial` true, models are
  // about to be scored. May run for several columns at the same time.
  virtual void Analyse(EncoderColumns& /*columns*/, uint32_t /*index*/, bool /*trial*/) const {}

  // Score: becomes the column's choice, with EncoderColumn::bits, if that is cheaper than what was chosen so far.
  virtual void Score(EncoderColumns& columns, uint32_t index) const = 0;

  // What the column, of which an earlier chunk chose `known` of this model, is expected to be again.
  virtual Expected Expects(const EncoderColumns& /*columns*/, uint32_t /*index*/, const ModelChoice& /*known*/) const {
    return Expected::kNothing;
  }

  // Whether `known`, of this model, holds for the column of this chunk too.
  virtual bool Fits(EncoderColumns& columns, uint32_t index, const ModelChoice& known) const = 0;

  // Encode: fills in what the record of the column has but for its residuals, which it returns. They lie in the column
  // or in `room`. May run for several columns at the same time.
  virtual ModelResiduals Encode(const EncoderColumns& columns, uint32_t index, std::vector<int64_t>& room,
                                v1::AddressColumn& record) const = 0;

  // --- Readers.

  // Of a column with so many accesses.
  virtual RecordShape ShapeOf(const WalkedPaths::Column& total) const = 0;

  // Decode, first: finds what the addresses of the column count from. Refuses (DataLoss) parameters that the format
  // forbids.
  virtual absl::Status ReadParameters(const v1::AddressColumn& record, DecoderColumns& columns,
                                      uint32_t index) const = 0;

  // Decode, then: finds what is added to that for each access. The residuals are in the column's storage already, none
  // if all are 0. `threads` are the accesses by thread if the model has no residual for every access.
  virtual void ReadAddends(const v1::AddressColumn& record, std::span<const ThreadResiduals> threads,
                           DecoderColumns& columns, uint32_t index) const = 0;

 protected:
  ~ColumnModel() = default;  // there is one object of each model, for ever
};

// The model of a record; null if there is none of that number.
const ColumnModel* FindModel(v1::AddressColumn::Model model);

// Refuses the record of a column for breaking `rule`.
absl::Status RefuseColumn(const v1::AddressColumn& record, absl::string_view rule);

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_COLUMNS_MODELS_COLUMN_MODEL_H_
