// The page of `heddle report`: one file that needs nothing else.
#ifndef HEDDLE_TOOLS_STUDY_REPORT_REPORT_PAGE_H_
#define HEDDLE_TOOLS_STUDY_REPORT_REPORT_PAGE_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace heddle::tools {

// The page without data, as tools/study/report/page builds it; empty in a build without npm.
std::string_view ReportTemplate();

// The page with `data` (JSON) and the title in it. The data are compressed (gzip) and in base 64, which the page
// undoes. FailedPrecondition if the template has no place for them, as an empty one.
absl::StatusOr<std::string> ReportPage(std::string_view page, const std::string& data, std::string_view title);

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_STUDY_REPORT_REPORT_PAGE_H_
