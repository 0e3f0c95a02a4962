// Frozen scores of a paper's claims: what came out at a date, by the rules and with the claims of that date. Later
// rules and later claims are counted beside it, never in its place.
#ifndef HEDDLE_TOOLS_STUDY_REPRODUCE_LEDGER_H_
#define HEDDLE_TOOLS_STUDY_REPRODUCE_LEDGER_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/claims.pb.h"

namespace heddle::tools::reproduce {

// Of everything that a claim is judged by: kind, expressions, the paper's numbers, tolerances. Words are no part of it,
// and neither are the runs, whose faults may be mended.
std::string ClaimDigest(const claims::v1::Claim& claim);

// Reads a ledger. Errors: no such file; a text that is none.
absl::StatusOr<claims::v1::Ledger> ReadLedger(const std::string& path);

// Refuses a paper that lacks a claim of the ledger, or judges it by something else, naming it.
absl::Status CheckAgainstLedger(const claims::v1::Paper& paper, const claims::v1::Ledger& ledger);

}  // namespace heddle::tools::reproduce

#endif  // HEDDLE_TOOLS_STUDY_REPRODUCE_LEDGER_H_
