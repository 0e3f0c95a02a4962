// What a claim is worth as evidence: its score, held against rules that a reviewer would ask for.
#ifndef HEDDLE_TOOLS_STUDY_REPRODUCE_VERDICT_H_
#define HEDDLE_TOOLS_STUDY_REPRODUCE_VERDICT_H_

#include <string>

#include "tools/study/reproduce/claims.h"
#include "tools/study/reproduce/influence.h"
#include "tools/study/reproduce/score.h"

namespace heddle::tools::reproduce {

enum class Verdict {
  kNotComputed,
  kFitted,        // something was fitted to it
  kNotTested,     // both sides are the same run, or the effect is within the noise or below the floor
  kContradicted,  // the effect goes the other way; of claims without a direction: the size differs
  kFragile,       // it agrees, but one program makes it agree
  kReproduced,
};

struct Judgement {
  Verdict verdict = Verdict::kNotComputed;
  std::string reason;  // a few words; empty if the verdict says all
};

// The name in JSON: "not_tested".
const char* VerdictName(Verdict verdict);

// Effects of less than this part of the number that means no effect are none, whatever the noise: half a per cent. Of
// numbers in per cent it is half of one.
inline constexpr double kEffectFloor = 0.005;

// Judges a claim, in this order:
//   1. It was not computed, or something was fitted to it.
//   2. Every metric of it is the same for all runs that it compares, so that nothing was compared (`source` has the
//      metrics of one seed); or the effect is within the noise, or below kEffectFloor where the paper has one.
//   3. The direction is opposite; of claims without a direction, the size differs.
//   4. The direction does not agree any more without one of its programs, or one program alone is beyond
//      Claim.largest.
//   5. It is reproduced.
Judgement Judge(const PaperClaims& claims, const CheckedClaim& claim, const ClaimResult& result,
                const Influence& influence, const MetricSource& source);

}  // namespace heddle::tools::reproduce

#endif  // HEDDLE_TOOLS_STUDY_REPRODUCE_VERDICT_H_
