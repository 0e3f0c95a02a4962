// How a kernel's run went over time, for the report page.
#ifndef HEDDLE_TOOLS_STUDY_REPORT_STUDY_SERIES_H_
#define HEDDLE_TOOLS_STUDY_REPORT_STUDY_SERIES_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

#include "tools/study/report/study.h"

namespace heddle::tools {

// A width of bins, in cycles, with which no cell of a kernel has more than `points`; 0 if none has a time series.
uint64_t SeriesWidth(const std::vector<const Study::Cell*>& cells, size_t points);

// The time series of a cell's launches one after the other, in bins of `width`: a bin of the result counts where it
// begins. Null without series.
nlohmann::ordered_json SeriesJson(const Study::Cell& cell, uint64_t width);

// The phases of warps between barriers, whole warps only, at most `most` phases: per warp [launch, block, warp, SM,
// start, run, wait, run, wait, ...] in cycles. Null without any.
nlohmann::ordered_json WarpsJson(const Study::Cell& cell, size_t most);

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_STUDY_REPORT_STUDY_SERIES_H_
