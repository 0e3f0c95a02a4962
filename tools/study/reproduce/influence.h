// What single programs do to a claim: its number without each of them, and of each of them alone. A mean that hangs on
// one program is no evidence about the others.
#ifndef HEDDLE_TOOLS_STUDY_REPRODUCE_INFLUENCE_H_
#define HEDDLE_TOOLS_STUDY_REPRODUCE_INFLUENCE_H_

#include <optional>
#include <string>
#include <vector>

#include "tools/study/reproduce/claims.h"
#include "tools/study/reproduce/score.h"
#include "tools/study/statistics/intervals.h"

namespace heddle::tools::reproduce {

struct ProgramInfluence {
  std::string program;
  // The claim's number: of a value itself, of rows their rank correlation; orders have none, and neither has a claim
  // that cannot be computed so.
  std::optional<double> without;
  std::optional<double> alone;  // of a value
  bool flips = false;           // the direction agrees with all programs, and does not without this one
};

struct Influence {
  // By name; empty if the claim reads kernels of fewer than two programs.
  std::vector<ProgramInfluence> programs;

  // The lowest and the highest number without one program; nothing without numbers.
  std::optional<Interval> LeaveOneOut() const;
  // Whose absence moves `number`, the claim's with all programs, most; null without numbers.
  const ProgramInfluence* Most(double number) const;
  // The first whose absence flips the direction; null if there is none.
  const ProgramInfluence* Flipping() const;
};

// The number of a claim that ProgramInfluence is about; nothing if it has none.
std::optional<double> NumberOf(const ClaimResult& result);

// `result` is the claim's, evaluated with `seeds`. Its noise counts for all numbers here.
Influence InfluenceOf(const PaperClaims& claims, const CheckedClaim& claim, const std::vector<MetricSource>& seeds,
                      const ClaimResult& result);

}  // namespace heddle::tools::reproduce

#endif  // HEDDLE_TOOLS_STUDY_REPRODUCE_INFLUENCE_H_
