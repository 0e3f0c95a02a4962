// How many claims come out if the labels of the runs mean nothing: the null that a score is held against.
#ifndef HEDDLE_TOOLS_STUDY_REPRODUCE_LABEL_PERMUTATION_H_
#define HEDDLE_TOOLS_STUDY_REPRODUCE_LABEL_PERMUTATION_H_

#include <cstddef>
#include <vector>

#include "tools/study/reproduce/claims.h"
#include "tools/study/reproduce/score.h"

namespace heddle::tools::reproduce {

struct LabelPermutation {
  size_t permutations = 0;
  size_t programs = 0;    // whose labels are exchanged
  size_t claims = 0;      // with a direction, of metrics that every run has
  size_t agree = 0;       // of these, with the labels as they are
  double mean_agree = 0;  // with exchanged ones
  double p = 1;           // how often at least as many agree with exchanged labels: (1 + times) / (1 + permutations)
};

// Exchanges, within each program, the results of the runs that differ in policies alone: on the same machine with the
// same fields set. All kernels of a program are exchanged alike, because they are one case and not several. A claim
// whose number is a policy's own counter takes no part. `source` has the metrics of one seed; the noise of `results`,
// in the order of the claims, counts. The permutations are the same in every run.
LabelPermutation PermuteLabels(const PaperClaims& claims, const std::vector<ClaimResult>& results,
                               const MetricSource& source, size_t permutations);

}  // namespace heddle::tools::reproduce

#endif  // HEDDLE_TOOLS_STUDY_REPRODUCE_LABEL_PERMUTATION_H_
