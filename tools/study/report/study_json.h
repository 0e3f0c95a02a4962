// A study as the data of the report page and of the figures.
#ifndef HEDDLE_TOOLS_STUDY_REPORT_STUDY_JSON_H_
#define HEDDLE_TOOLS_STUDY_REPORT_STUDY_JSON_H_

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/study/report/study.h"

namespace heddle::tools {

// Bounds on what would make the page large.
struct StudyLimits {
  size_t instructions = 60;      // per kernel: the hottest under any of its runs
  size_t series_points = 60000;  // of all cells together; a cell has 40 to 200
  size_t phases = 50000;         // of warps between barriers, of all cells together
};

// Everything that tools/study/report/page/src/data.js reads, which describes it. `source_folders`: where the source
// files that instructions name are looked for, to show their lines.
nlohmann::ordered_json StudyJson(const Study& study, const std::vector<std::string>& source_folders,
                                 const StudyLimits& limits = {});

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_STUDY_REPORT_STUDY_JSON_H_
