// Whether a claim comes out: ours against the paper's, in direction and in size.
#ifndef HEDDLE_TOOLS_STUDY_REPRODUCE_SCORE_H_
#define HEDDLE_TOOLS_STUDY_REPRODUCE_SCORE_H_

#include <map>
#include <string>
#include <vector>

#include "tools/study/reproduce/claims.h"

namespace heddle::tools::reproduce {

enum class Direction {
  kNone,  // the claim has none
  kAgrees,
  kOpposite,     // an effect the other way, or where the paper has none
  kWithinNoise,  // the paper has an effect; ours is not beyond the noise
};

enum class Size { kNone, kAgrees, kDiffers };

// Names in JSON and ledgers: "within_noise", "differs".
const char* DirectionName(Direction direction);
const char* SizeName(Size size);

// A number over the seeds of the noise. One seed has no range.
struct Measured {
  std::vector<double> seeds;
  double least_noise = 0;  // known from other runs
  double mean() const;
  double noise() const;  // half the range, or `least_noise` if that is more
};

// One number of a claim: its value, a term of its order, or a row.
struct MeasuredTerm {
  std::string label;    // of a term; a row's kernel
  std::string problem;  // if there is no number
  Measured ours;
  double paper = 0;  // of a row
};

struct ClaimResult {
  const claims::v1::Claim* claim = nullptr;
  std::string problem;                          // why it could not be computed; then nothing else is set but `terms`
  std::vector<MeasuredTerm> terms;              // one for a value
  std::map<std::string, std::string> left_out;  // kernels that means are without, and why
  Direction direction = Direction::kNone;
  Size size = Size::kNone;
  // Of rows and orders: how many of how many agree. Rows: in size; orders: neighbours.
  size_t agreeing = 0, compared = 0;
  double rank_correlation = 0;     // of rows: Spearman's; 0 without an order
  std::vector<double> step_noise;  // of orders: of the difference of each term from the next

  bool computed() const { return problem.empty(); }
  // Neither direction nor size contradicts the paper.
  bool comes_out() const {
    return computed() && (direction == Direction::kNone || direction == Direction::kAgrees) && size != Size::kDiffers;
  }
};

// Evaluates a claim with one source of metrics per seed.
//
// A value: its effect is what it is beyond `neutral`. An effect of ours counts if it is larger than the noise; it
// agrees if it has the sign of the paper's. Where the paper's is not beyond `no_effect`, ours must not be beyond that
// (or the noise) either. The size agrees within `tolerance`, or `tolerance_per_cent` of the paper's value. An order:
// each term must be above the next by more than the noise of their difference, or all of them are not `kAgrees`. Rows:
// the direction agrees if Spearman's rank correlation of ours with the paper's is at least 0.5, with `neutral` if at
// least three quarters of the rows are on the paper's side of it; the size if at least half of the rows do. Structural
// claims have no direction; the size must agree in every number. `noisy`: the same claim with several seeds, such as
// with smaller inputs; its noise counts where that of `seeds` is less.
ClaimResult Evaluate(const CheckedClaim& claim, const std::vector<MetricSource>& seeds,
                     const ClaimResult* noisy = nullptr);

}  // namespace heddle::tools::reproduce

#endif  // HEDDLE_TOOLS_STUDY_REPRODUCE_SCORE_H_
