// Intervals: how far a number may be from what one wants to know.
#ifndef HEDDLE_TOOLS_STUDY_STATISTICS_INTERVALS_H_
#define HEDDLE_TOOLS_STUDY_STATISTICS_INTERVALS_H_

#include <cstddef>
#include <optional>
#include <vector>

namespace heddle::tools {

struct Interval {
  double low = 0;
  double high = 0;
  bool Contains(double value) const { return low <= value && value <= high; }
};

// The middle one of the values, or the mean of the two middle ones; nothing if there are none.
std::optional<double> Median(std::vector<double> values);

// The value below which Student's t with so many degrees of freedom lies with this probability, in (0, 1). `degrees` is
// at least 1.
double StudentQuantile(double probability, size_t degrees);

// What the probability of an event may be that happened so many times of so many: the interval of Clopper and Pearson
// (The use of confidence or fiducial limits, Biometrika 26, 1934), which covers with at least this confidence. From 0
// to 1 without trials.
Interval BinomialInterval(size_t happened, size_t trials, double confidence);

// Where one more draw lies with this confidence, if it and the sample are drawn from one normal distribution: the mean,
// and to both sides t * s * sqrt(1 + 1/n). Nothing for fewer than three.
std::optional<Interval> PredictionInterval(const std::vector<double>& sample, double confidence);
// The same for the difference of two more draws, which are independent: 0, and to both sides t * s * sqrt(2).
std::optional<Interval> DifferenceInterval(const std::vector<double>& sample, double confidence);

// How often an interval held what it was made without.
struct Coverage {
  size_t covered = 0;
  size_t trials = 0;
  Interval probability;  // of covering, with the same confidence
};
// Leaves out one after the other, and asks the interval of the others.
Coverage LeaveOneOut(const std::vector<double>& sample, double confidence);
// The same for differences: leaves out the first and the second, the third and the fourth, and so on. Each is in one
// pair, so that the trials are independent.
Coverage LeavePairsOut(const std::vector<double>& sample, double confidence);

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_STUDY_STATISTICS_INTERVALS_H_
