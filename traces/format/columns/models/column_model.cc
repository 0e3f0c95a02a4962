#include "traces/format/columns/models/column_model.h"

#include "absl/strings/str_cat.h"
#include "traces/format/columns/models/chain_model.h"
#include "traces/format/columns/models/counted_model.h"
#include "traces/format/columns/models/induction_model.h"
#include "traces/format/columns/models/relative_model.h"
#include "traces/format/columns/models/separable_model.h"
#include "traces/format/columns/models/time_model.h"

namespace heddle::trace {

const ColumnModel* FindModel(v1::AddressColumn::Model model) {
  static constexpr SeparableModel separable;
  static constexpr TimeModel time;
  static constexpr RelativeModel relative;
  static constexpr ChainModel chain;
  static constexpr InductionModel induction;
  static constexpr CountedModel counted;
  switch (model) {
    case v1::AddressColumn::SEPARABLE:
      return &separable;
    case v1::AddressColumn::TIME:
      return &time;
    case v1::AddressColumn::RELATIVE:
      return &relative;
    case v1::AddressColumn::CHAIN:
      return &chain;
    case v1::AddressColumn::INDUCTION:
      return &induction;
    case v1::AddressColumn::COUNTED:
      return &counted;
    default:
      return nullptr;
  }
}

absl::Status RefuseColumn(const v1::AddressColumn& record, absl::string_view rule) {
  return absl::DataLossError(absl::StrCat("column of instruction ", record.instruction(),
                                          record.operand() == 0 ? "" : absl::StrCat(", operand ", record.operand()),
                                          ": ", rule));
}

}  // namespace heddle::trace
