// Whether two lists of numbers have the same order.
#ifndef HEDDLE_TOOLS_STUDY_STATISTICS_RANK_CORRELATION_H_
#define HEDDLE_TOOLS_STUDY_STATISTICS_RANK_CORRELATION_H_

#include <optional>
#include <vector>

namespace heddle::tools {

// Spearman's rank correlation of two lists of equal length, from -1 to 1; ties take their mean rank. Nothing with fewer
// than two pairs, or if one side is
// constant, or if a number is not finite: then there is no order.
std::optional<double> RankCorrelation(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_STUDY_STATISTICS_RANK_CORRELATION_H_
