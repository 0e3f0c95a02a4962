// What one launch adds to a number of a kernel.
#ifndef HEDDLE_TOOLS_STUDY_CORRELATE_TERM_H_
#define HEDDLE_TOOLS_STUDY_CORRELATE_TERM_H_

#include <optional>

namespace heddle::tools::correlate {

// A count, or the two sums of a quotient. Over launches both are added before they are divided: a mean of quotients
// would count a short launch as much as a long one.
struct Term {
  double over = 0;
  std::optional<double> by;
};

}  // namespace heddle::tools::correlate

#endif  // HEDDLE_TOOLS_STUDY_CORRELATE_TERM_H_
