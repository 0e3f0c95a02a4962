// The numbers that claims are computed from, out of the results of a sweep.
#ifndef HEDDLE_TOOLS_STUDY_REPRODUCE_MEASUREMENTS_H_
#define HEDDLE_TOOLS_STUDY_REPRODUCE_MEASUREMENTS_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "proto/result.pb.h"
#include "tools/study/reproduce/claims.h"
#include "tools/study/reproduce/run_plan.h"
#include "tools/study/sweep/folder.h"

namespace heddle::tools::reproduce {

class Measurements {
 public:
  // `folder` is that of the sweep, `traces` as in PlanOptions. All must outlive the object.
  Measurements(const PaperClaims& claims, const RunPlan& plan, const sweep::SweepFolder& folder,
               const TraceFinder& traces)
      : claims_(claims), plan_(plan), folder_(folder), traces_(traces) {}

  // Metrics of the variation (as in ReplayId) with the seed. Results are read, and what needs no replay is computed,
  // when it is asked for the first time.
  MetricSource Source(size_t variation, size_t seed);

 private:
  using Numbers = std::map<std::string, double>;

  absl::StatusOr<double> Get(const std::string& path, const ReplayId& id);
  absl::StatusOr<Numbers> Limits(const claims::v1::Run& run, const std::string& kernel);
  static absl::StatusOr<Numbers> Cost(const claims::v1::Run& run);
  static absl::StatusOr<Numbers> Residency(const claims::v1::Run& run);

  const PaperClaims& claims_;
  const RunPlan& plan_;
  const sweep::SweepFolder& folder_;
  const TraceFinder& traces_;
  std::map<std::string, absl::StatusOr<result::v1::Result>> results_;  // by key
  std::map<std::string, absl::StatusOr<Numbers>> computed_;            // by run and kernel
};

}  // namespace heddle::tools::reproduce

#endif  // HEDDLE_TOOLS_STUDY_REPRODUCE_MEASUREMENTS_H_
