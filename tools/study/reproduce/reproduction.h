// All claims of a paper with their scores: what the pages show.
#ifndef HEDDLE_TOOLS_STUDY_REPRODUCE_REPRODUCTION_H_
#define HEDDLE_TOOLS_STUDY_REPRODUCE_REPRODUCTION_H_

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "tools/study/reproduce/claims.h"
#include "tools/study/reproduce/influence.h"
#include "tools/study/reproduce/kernel_facts.h"
#include "tools/study/reproduce/label_permutation.h"
#include "tools/study/reproduce/measurements.h"
#include "tools/study/reproduce/run_plan.h"
#include "tools/study/reproduce/score.h"
#include "tools/study/reproduce/verdict.h"

namespace heddle::tools::reproduce {

// A claim under a variation that changes something it is computed from.
struct VariedResult {
  size_t variation = 0;  // index in Paper.variation
  ClaimResult result;
  bool flips = false;  // the verdict is another than with the paper as we read it
};

// What a claim is worth, by the rules of comparison.
struct JudgedClaim {
  Influence influence;
  Judgement judgement;
};

struct Reproduction {
  const PaperClaims* claims = nullptr;
  std::vector<ClaimResult> results;               // in the order of the claims
  std::vector<JudgedClaim> judged;                // the same
  LabelPermutation labels;                        // what directions are held against
  std::map<std::string, KernelFacts> kernels;     // that claims need, by name
  std::set<std::string> schedule_dependent;       // of these: above kMostScheduleDependent
  std::vector<Judgement> without_dependent;       // of the claims, without these kernels; empty if there are none
  std::set<std::string> audited;                  // claims that agree, and whose suspects were run all the same
  std::vector<std::string> registers;             // --registers; empty = as traces say
  bool paper_residency = false;                   // as many blocks per SM as the paper states
  std::vector<std::vector<VariedResult>> varied;  // by claim, those that were planned
  bool sensitivity = false;                       // every variation was planned
  uint32_t jitter = 0;                            // seeds of the noise
  uint32_t headline_jitter = 0;                   // of headlines
  std::string size;                               // of the inputs
  std::string model_version;
  uint64_t replays = 0;
  std::vector<sweep::PlannedTrace> traces;
  const Reproduction* tests = nullptr;  // the same with other inputs, for noise and variations

  struct Count {
    size_t agree = 0, of = 0;
  };
  Count structural() const;
  Count directions() const;                   // of values and trends
  Count sizes() const;                        // of values
  Count reproduced() const;                   // of claims with a direction, those that are not computed included
  Count with_verdict(Verdict verdict) const;  // of the same
  // The same as `reproduced` without kernels whose paths depend on the order of threads.
  Count reproduced_without_dependent() const;
  size_t not_computed() const;
};

// Claims that agree, to be looked at as hard as those that do not: `count` of those with suspects, chosen by their
// digests.
std::set<std::string> ChooseAudited(const Reproduction& reproduction, size_t count);

// Scores by the rules of the ledger, in its words: "agrees", "within_noise"; sizes "agrees", "differs", "none".
claims::v1::Ledger LedgerOf(const Reproduction& reproduction, const std::string& date, const std::string& command);

// The claims of a ledger, as they came out then, and as they do now by the rules of then.
struct LedgerScores {
  Reproduction::Count directions_then, directions_now, sizes_then, sizes_now;
};
LedgerScores ScoresOf(const Reproduction& reproduction, const claims::v1::Ledger& ledger);

// Evaluates every claim, with the plan's seeds, and under every variation that was planned for it. `tests` may be
// nullptr; if not, an effect has to be above its noise, too.
Reproduction Reproduce(const PaperClaims& claims, const RunPlan& plan, Measurements& measurements,
                       const Reproduction* tests);

// One page, headings from the second level on.
std::string PageOf(const Reproduction& reproduction);
nlohmann::ordered_json JsonOf(const Reproduction& reproduction);

}  // namespace heddle::tools::reproduce

#endif  // HEDDLE_TOOLS_STUDY_REPRODUCE_REPRODUCTION_H_
