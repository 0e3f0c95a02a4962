// Designs of experiments: which settings of the parameters are run, and what follows from their responses.
#ifndef HEDDLE_TOOLS_STUDY_SWEEP_DESIGN_H_
#define HEDDLE_TOOLS_STUDY_SWEEP_DESIGN_H_

#include <cstddef>
#include <span>
#include <vector>

#include "absl/status/statusor.h"

namespace heddle::tools::sweep {

// One row per run, one column per factor: which of the factor's levels it takes, from 0.
using DesignRows = std::vector<std::vector<size_t>>;

// Every level of each factor with every level of the others; the last factor changes fastest. Without factors one empty
// row.
DesignRows FullFactorial(std::span<const size_t> levels);

// Row i takes level i of every factor; a factor with one level keeps it. Refuses lists of different lengths.
absl::StatusOr<DesignRows> Paired(std::span<const size_t> levels);

// The design of Plackett and Burman for `factors` factors of two levels, 0 = low and 1 = high. It has the smallest
// number of runs above `factors` for which one of the two constructions here goes: cyclic shifts of the quadratic
// residues of a prime one below the number of runs, with a last run of low levels (all of Plackett and Burman's cyclic
// designs with a prime are of this kind; for 7 factors it is the one of table 6 of the HARP paper), and doubling. Both
// columns of every pair of factors have each of the four combinations in a quarter of the runs.
DesignRows PlackettBurman(size_t factors);

// The rows, and after them the same with all levels exchanged.
DesignRows WithFoldover(DesignRows rows);

// By factor: the mean response of the runs at its high level less that of the runs at its low level, that is the sum of
// +-response divided by half the number of runs (HARP, section 7.2.1).
std::vector<double> Effects(const DesignRows& rows, std::span<const double> responses);

}  // namespace heddle::tools::sweep

#endif  // HEDDLE_TOOLS_STUDY_SWEEP_DESIGN_H_
