#include "tools/study/reproduce/reproduction.h"

#include <algorithm>

#include "tools/study/reproduce/ledger.h"
#include "tools/study/reproduce/metric_sources.h"

namespace heddle::tools::reproduce {
namespace {

namespace v1 = claims::v1;

constexpr size_t kPermutations = 999;

// Whether a claim counts among the directions; those that cannot be computed count.
bool CountsForDirection(const ClaimResult& result) {
  if (result.claim->kind() == v1::STRUCTURAL) return false;
  return !result.computed() || result.direction != Direction::kNone;
}

JudgedClaim JudgedOf(const PaperClaims& claims, const CheckedClaim& claim, const std::vector<MetricSource>& seeds,
                     const ClaimResult& result) {
  JudgedClaim judged;
  judged.influence = InfluenceOf(claims, claim, seeds, result);
  judged.judgement = Judge(claims, claim, result, judged.influence, seeds[0]);
  return judged;
}

bool SameVerdict(const ClaimResult& a, const ClaimResult& b) {
  return a.computed() == b.computed() && a.direction == b.direction && a.size == b.size;
}

}  // namespace

Reproduction::Count Reproduction::structural() const {
  Count count;
  for (const ClaimResult& result : results) {
    if (!result.computed() || result.claim->kind() != v1::STRUCTURAL) continue;
    ++count.of;
    count.agree += result.comes_out();
  }
  return count;
}

Reproduction::Count Reproduction::directions() const {
  Count count;
  for (const ClaimResult& result : results) {
    if (!result.computed() || result.direction == Direction::kNone || result.claim->kind() == v1::STRUCTURAL) continue;
    ++count.of;
    count.agree += result.direction == Direction::kAgrees;
  }
  return count;
}

Reproduction::Count Reproduction::sizes() const {
  Count count;
  for (const ClaimResult& result : results) {
    if (!result.computed() || result.size == Size::kNone || result.claim->kind() == v1::STRUCTURAL) continue;
    ++count.of;
    count.agree += result.size == Size::kAgrees;
  }
  return count;
}

size_t Reproduction::not_computed() const {
  return static_cast<size_t>(std::ranges::count_if(results, [](const ClaimResult& one) { return !one.computed(); }));
}

Reproduction::Count Reproduction::with_verdict(Verdict verdict) const {
  Count count;
  for (size_t i = 0; i < results.size(); ++i) {
    if (!CountsForDirection(results[i])) continue;
    ++count.of;
    count.agree += judged[i].judgement.verdict == verdict;
  }
  return count;
}

Reproduction::Count Reproduction::reproduced() const { return with_verdict(Verdict::kReproduced); }

Reproduction::Count Reproduction::reproduced_without_dependent() const {
  Count count;
  for (size_t i = 0; i < without_dependent.size(); ++i) {
    if (!CountsForDirection(results[i])) continue;
    ++count.of;
    count.agree += without_dependent[i].verdict == Verdict::kReproduced;
  }
  return count;
}

std::set<std::string> ChooseAudited(const Reproduction& all, size_t count) {
  std::map<std::string, std::string> by_digest;
  for (const ClaimResult& result : all.results) {
    const v1::Claim& claim = *result.claim;
    if (claim.kind() == v1::STRUCTURAL || claim.suspect().empty() || !result.comes_out()) continue;
    by_digest[ClaimDigest(claim)] = claim.id();
  }
  std::set<std::string> chosen;
  for (const auto& [digest, id] : by_digest) {
    if (chosen.size() < count) chosen.insert(id);
  }
  return chosen;
}

v1::Ledger LedgerOf(const Reproduction& all, const std::string& date, const std::string& command) {
  v1::Ledger ledger;
  ledger.set_paper(all.claims->paper.name());
  ledger.set_date(date);
  ledger.set_model_version(all.model_version);
  ledger.set_command(command);
  for (const ClaimResult& result : all.results) {
    v1::LedgerEntry& entry = *ledger.add_entry();
    entry.set_claim(result.claim->id());
    entry.set_digest(ClaimDigest(*result.claim));
    entry.set_direction(DirectionName(result.direction));
    entry.set_size(SizeName(result.size));
    entry.set_computed(result.computed());
  }
  return ledger;
}

LedgerScores ScoresOf(const Reproduction& all, const v1::Ledger& ledger) {
  std::map<std::string, const ClaimResult*> now;
  for (const ClaimResult& result : all.results) now[result.claim->id()] = &result;
  LedgerScores scores;
  for (const v1::LedgerEntry& entry : ledger.entry()) {
    const ClaimResult& result = *now.at(entry.claim());
    if (result.claim->kind() == v1::STRUCTURAL) continue;
    const bool agrees = result.computed();
    if (entry.direction() != DirectionName(Direction::kNone)) {
      ++scores.directions_then.of;
      ++scores.directions_now.of;
      scores.directions_then.agree += entry.direction() == DirectionName(Direction::kAgrees);
      scores.directions_now.agree += agrees && result.direction == Direction::kAgrees;
    }
    if (entry.size() != SizeName(Size::kNone)) {
      ++scores.sizes_then.of;
      ++scores.sizes_now.of;
      scores.sizes_then.agree += entry.size() == SizeName(Size::kAgrees);
      scores.sizes_now.agree += agrees && result.size == Size::kAgrees;
    }
  }
  return scores;
}

Reproduction Reproduce(const PaperClaims& claims, const RunPlan& plan, Measurements& measurements,
                       const Reproduction* tests) {
  Reproduction all;
  all.claims = &claims;
  all.tests = tests;
  all.model_version = plan.plan().model_version;
  all.replays = plan.points();
  all.traces = plan.plan().traces;
  all.kernels = plan.kernels();
  for (const auto& [kernel, facts] : all.kernels) {
    if (facts.schedule_dependent.value_or(0) > kMostScheduleDependent) all.schedule_dependent.insert(kernel);
  }
  std::vector<MetricSource> sources;
  for (size_t i = 0; i < claims.claims.size(); ++i) {
    const CheckedClaim& claim = claims.claims[i];
    while (sources.size() < plan.Seeds(*claim.claim)) {
      sources.push_back(Remembered(measurements.Source(0, sources.size())));
    }
    const std::vector<MetricSource> seeds(sources.begin(),
                                          sources.begin() + static_cast<ptrdiff_t>(plan.Seeds(*claim.claim)));
    const ClaimResult* const noise_of_tests = tests == nullptr ? nullptr : &tests->results[i];
    all.results.push_back(Evaluate(claim, seeds, noise_of_tests));
    all.judged.push_back(JudgedOf(claims, claim, seeds, all.results.back()));
    if (!all.schedule_dependent.empty()) {
      std::vector<MetricSource> without;
      for (const MetricSource& seed : seeds) without.push_back(Without(seed, all.schedule_dependent));
      const ClaimResult result = Evaluate(claim, without, noise_of_tests);
      all.without_dependent.push_back(JudgedOf(claims, claim, without, result).judgement);
    }
    std::vector<VariedResult>& varied = all.varied.emplace_back();
    // A variation has one seed, so it is compared with that seed alone, with the noise of all.
    const ClaimResult& noisy = all.results.back();
    const ClaimResult base = seeds.size() == 1 ? noisy : Evaluate(claim, {seeds[0]}, &noisy);
    for (int v = 0; v < claims.paper.variation_size(); ++v) {
      const size_t variation = static_cast<size_t>(v) + 1;
      if (!plan.Varies(variation, *claim.claim)) continue;
      VariedResult one{static_cast<size_t>(v), Evaluate(claim, {measurements.Source(variation, 0)}, &noisy), false};
      one.flips = one.result.computed() && !SameVerdict(one.result, base);
      varied.push_back(std::move(one));
    }
  }
  if (!sources.empty()) all.labels = PermuteLabels(claims, all.results, sources[0], kPermutations);
  return all;
}

}  // namespace heddle::tools::reproduce
