// How many counters the columns of a chunk may have between them.
#ifndef HEDDLE_TRACES_FORMAT_COLUMNS_MODELS_COUNTER_BUDGET_H_
#define HEDDLE_TRACES_FORMAT_COLUMNS_MODELS_COUNTER_BUDGET_H_

#include <algorithm>
#include <span>
#include <vector>

#include "traces/format/columns/models/induction_counts.h"

namespace heddle::trace {

// The distinct counters that columns of models INDUCTION and COUNTED have taken so far: at most kMostInductionCounters.
class CounterBudget {
 public:
  void Clear() { taken_.clear(); }

  // Whether there may be the counters of `terms` too.
  bool Allows(std::span<const InductionTerm> terms) const {
    size_t counters = taken_.size();
    for (const InductionTerm& term : terms) counters += !Has(term.counter);
    return counters <= kMostInductionCounters;
  }

  void Take(std::span<const InductionTerm> terms) {
    for (const InductionTerm& term : terms) {
      if (!Has(term.counter)) taken_.push_back(term.counter);
    }
  }

 private:
  bool Has(const InductionCounter& counter) const {
    return std::find(taken_.begin(), taken_.end(), counter) != taken_.end();
  }

  std::vector<InductionCounter> taken_;
};

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_COLUMNS_MODELS_COUNTER_BUDGET_H_
