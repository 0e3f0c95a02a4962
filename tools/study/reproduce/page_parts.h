// What the pages of papers are made of.
#ifndef HEDDLE_TOOLS_STUDY_REPRODUCE_PAGE_PARTS_H_
#define HEDDLE_TOOLS_STUDY_REPRODUCE_PAGE_PARTS_H_

#include <string>
#include <vector>

#include "proto/claims.pb.h"
#include "tools/study/reproduce/reproduction.h"

namespace heddle::tools::reproduce {

// A line of a table.
std::string Row(const std::vector<std::string>& cells);

// With the claim's decimals and unit.
std::string ClaimNumber(const claims::v1::Claim& claim, double value);

// A number with its noise: "5.0 % ± 0.1", or "not computed".
std::string Ours(const claims::v1::Claim& claim, const MeasuredTerm& term);

// All numbers of a claim; of rows how many agree and their rank correlation.
std::string OursCell(const ClaimResult& result);

// "3 of 5".
std::string Share(const Reproduction::Count& count);

// What the rules of comparison add to a paper's page: scores by verdict, the ledger, the null, audited claims,
// residency by each source, rows that depend on the order of threads, fits and deviations.
std::string RulesSection(const Reproduction& reproduction);

}  // namespace heddle::tools::reproduce

#endif  // HEDDLE_TOOLS_STUDY_REPRODUCE_PAGE_PARTS_H_
