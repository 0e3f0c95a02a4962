// Metrics of runs, seen otherwise: remembered, or without some kernels, or with the labels of runs exchanged.
#ifndef HEDDLE_TOOLS_STUDY_REPRODUCE_METRIC_SOURCES_H_
#define HEDDLE_TOOLS_STUDY_REPRODUCE_METRIC_SOURCES_H_

#include <set>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "tools/study/reproduce/expression.h"

namespace heddle::tools::reproduce {

// The same metrics; each is asked of `source` once.
MetricSource Remembered(MetricSource source);

// The same metrics; those of `kernels` are missing.
MetricSource Without(MetricSource source, std::set<std::string> kernels);

// By kernel and run: the run whose metrics are given in its place. A run that is not there stands for itself.
using Exchange = absl::flat_hash_map<std::string, absl::flat_hash_map<std::string, std::string>>;
// `source` and `exchange` must outlive the result.
MetricSource Exchanged(const MetricSource& source, const Exchange& exchange);

}  // namespace heddle::tools::reproduce

#endif  // HEDDLE_TOOLS_STUDY_REPRODUCE_METRIC_SOURCES_H_
