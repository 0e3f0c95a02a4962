// When a corpus is published.
#ifndef HEDDLE_TOOLS_EXCHANGE_CORPUS_DATE_H_
#define HEDDLE_TOOLS_EXCHANGE_CORPUS_DATE_H_

#include "absl/status/status.h"
#include "tools/exchange/corpus/crate.h"

namespace heddle::tools::corpus {

// Fills in the date of publication if none is given: $SOURCE_DATE_EPOCH, or today. InvalidArgument if the variable
// holds something else.
absl::Status AddDate(Crate::About& about);

}  // namespace heddle::tools::corpus

#endif  // HEDDLE_TOOLS_EXCHANGE_CORPUS_DATE_H_
