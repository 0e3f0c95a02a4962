#include "tools/exchange/corpus/date.h"

#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "traces/base/status_macros.h"

namespace heddle::tools::corpus {
namespace {

absl::StatusOr<std::string> Today() {
  time_t now = time(nullptr);
  // What reproducible builds take instead of the clock (reproducible-builds.org/specs/source-date-epoch).
  if (const char* epoch = std::getenv("SOURCE_DATE_EPOCH"); epoch != nullptr) {
    int64_t seconds = 0;
    constexpr int64_t kLast = 253'402'300'799;  // of year 9999
    if (!absl::SimpleAtoi(epoch, &seconds) || seconds < 0 || seconds > kLast) {
      return absl::InvalidArgumentError(absl::StrCat("SOURCE_DATE_EPOCH=", epoch,
                                                     ": is no number of seconds since 1970, ",
                                                     "up to the year 9999; correct or unset it, or give --date"));
    }
    now = static_cast<time_t>(seconds);
  }
  struct tm utc;
  gmtime_r(&now, &utc);
  char text[16];
  strftime(text, sizeof(text), "%Y-%m-%d", &utc);
  return text;
}

}  // namespace

absl::Status AddDate(Crate::About& about) {
  if (!about.date.empty()) return absl::OkStatus();
  HEDDLE_ASSIGN_OR_RETURN(about.date, Today());
  return absl::OkStatus();
}

}  // namespace heddle::tools::corpus
