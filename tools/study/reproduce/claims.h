// The claims of a paper, read and checked.
#ifndef HEDDLE_TOOLS_STUDY_REPRODUCE_CLAIMS_H_
#define HEDDLE_TOOLS_STUDY_REPRODUCE_CLAIMS_H_

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/claims.pb.h"
#include "tools/study/reproduce/expression.h"

namespace heddle::tools::reproduce {

// A claim with its expressions: of `value` one, of `order` one per term, of `row` the one for every row, else none.
struct CheckedClaim {
  const claims::v1::Claim* claim = nullptr;
  std::vector<Expression> expressions;

  // Every metric that it is computed from.
  std::set<Need> Needs() const;
};

struct PaperClaims {
  claims::v1::Paper paper;
  Lists lists;                                                    // without kernels that are missing
  std::map<std::string, claims::v1::Run, std::less<>> runs;       // `like` resolved, defaults filled in
  std::map<std::string, claims::v1::Kernel, std::less<>> kernel;  // by name
  std::vector<CheckedClaim> claims;                               // point into `paper`
  std::optional<claims::v1::Ledger> ledger;                       // frozen scores, if there are some

  // The program that a kernel is of: its name where nothing else is said.
  const std::string& ProgramOf(const std::string& kernel) const;
  // Whether the claim is what something was fitted to, so that it is no evidence.
  bool IsFitted(const std::string& claim) const;

  PaperClaims() = default;
  PaperClaims(PaperClaims&&) = default;
  PaperClaims(const PaperClaims&) = delete;
};

// Names of the papers in the folder of claims, ascending.
std::vector<std::string> ListPapers();

// Reads `name` from the folder of claims (beside the installed program, else in the source tree), or a file if it ends
// in .textproto. Refuses, with the file and the claim: what is no such text, names that are given twice or unknown,
// claims without a kind or with several contents, numbers that are missing or have no use, expressions that cannot be
// evaluated, fits to other runs than baselines, and claims that differ from the ledger beside the file (NAME.ledger).
absl::StatusOr<std::unique_ptr<PaperClaims>> ReadPaper(const std::string& name);

// True for a run that needs no kernel.
bool IsWithoutKernel(const claims::v1::Run& run);

}  // namespace heddle::tools::reproduce

#endif  // HEDDLE_TOOLS_STUDY_REPRODUCE_CLAIMS_H_
