// Expressions of claims: how a number of a paper follows from the counters of runs.
//
//   EXPRESSION   TERM + TERM - TERM ... ; TERM: FACTOR * FACTOR / FACTOR ... ; also A < B and A > B: 1 if so, else 0
//   FACTOR       a number, -FACTOR, (EXPRESSION), a metric, or a call
//   metric       PATH@RUN: what the run RUN gives for the kernel that the expression is evaluated for
//   mean         harmonic(LIST, E), arithmetic(LIST, E), geometric(LIST, E): over the kernels of a list
//   others       sum(LIST, E), largest(LIST, E), smallest(LIST, E), of(KERNEL, E), abs(E)
//
// For example the gain in per cent of one run over another, in means as the thesis on dynamic warp formation forms
// them: 100 * (harmonic(all, ipc@dwf) / harmonic(all, ipc@pdom) - 1).
#ifndef HEDDLE_TOOLS_STUDY_REPRODUCE_EXPRESSION_H_
#define HEDDLE_TOOLS_STUDY_REPRODUCE_EXPRESSION_H_

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace heddle::tools::reproduce {

// Names of lists, with the kernels that are there; every kernel is a list of itself.
using Lists = std::map<std::string, std::vector<std::string>, std::less<>>;

// The value of a metric of a run for a kernel (empty outside of lists). An error says why there is none.
using MetricSource =
    std::function<absl::StatusOr<double>(const std::string& path, const std::string& run, const std::string& kernel)>;

// One metric that an expression needs.
struct Need {
  std::string path, run, kernel;
  auto operator<=>(const Need&) const = default;
};

struct Outcome {
  double value = 0;
  // Kernels of a mean for which some metric was missing, with the reason of the first: the mean is over the others.
  std::map<std::string, std::string> left_out;
};

class Expression {
 public:
  // Errors: where the text breaks the grammar, and lists that are unknown.
  static absl::StatusOr<Expression> Parse(std::string_view text, const Lists& lists);

  Expression(Expression&&) noexcept;
  Expression& operator=(Expression&&) noexcept;
  ~Expression();

  // For `kernel`, or for none. Means leave out kernels without a value; where all are left out, or a metric outside of
  // a mean is missing, or a number is not finite (a division by zero), it is an error.
  absl::StatusOr<Outcome> Evaluate(const MetricSource& source, const std::string& kernel = "") const;

  // Every metric that Evaluate may ask for.
  std::set<Need> Needs(const std::string& kernel = "") const;

  struct Node;

 private:
  explicit Expression(std::unique_ptr<Node> root);
  std::unique_ptr<Node> root_;
};

}  // namespace heddle::tools::reproduce

#endif  // HEDDLE_TOOLS_STUDY_REPRODUCE_EXPRESSION_H_
