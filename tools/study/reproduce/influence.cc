#include "tools/study/reproduce/influence.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "tools/study/reproduce/metric_sources.h"

namespace heddle::tools::reproduce {
namespace {

std::vector<MetricSource> WithoutAll(const std::vector<MetricSource>& seeds, const std::set<std::string>& kernels) {
  std::vector<MetricSource> left;
  left.reserve(seeds.size());
  for (const MetricSource& seed : seeds) left.push_back(Without(seed, kernels));
  return left;
}

}  // namespace

std::optional<Interval> Influence::LeaveOneOut() const {
  std::optional<Interval> interval;
  for (const ProgramInfluence& one : programs) {
    if (!one.without.has_value()) continue;
    if (!interval.has_value()) interval = Interval{*one.without, *one.without};
    interval->low = std::min(interval->low, *one.without);
    interval->high = std::max(interval->high, *one.without);
  }
  return interval;
}

const ProgramInfluence* Influence::Most(double number) const {
  const ProgramInfluence* most = nullptr;
  for (const ProgramInfluence& one : programs) {
    if (!one.without.has_value()) continue;
    if (most == nullptr || std::abs(*one.without - number) > std::abs(*most->without - number)) most = &one;
  }
  return most;
}

const ProgramInfluence* Influence::Flipping() const {
  const auto found = std::ranges::find_if(programs, &ProgramInfluence::flips);
  return found == programs.end() ? nullptr : &*found;
}

std::optional<double> NumberOf(const ClaimResult& result) {
  if (!result.computed() || result.claim->order_size() != 0) return std::nullopt;
  if (result.claim->row_size() != 0) return result.rank_correlation;
  return result.terms[0].ours.mean();
}

Influence InfluenceOf(const PaperClaims& claims, const CheckedClaim& claim, const std::vector<MetricSource>& seeds,
                      const ClaimResult& result) {
  Influence influence;
  if (!result.computed()) return influence;
  std::map<std::string, std::set<std::string>> kernels_of;
  std::set<std::string> all;
  for (const Need& need : claim.Needs()) {
    if (need.kernel.empty() || result.left_out.contains(need.kernel)) continue;
    kernels_of[claims.ProgramOf(need.kernel)].insert(need.kernel);
    all.insert(need.kernel);
  }
  if (kernels_of.size() < 2) return influence;
  for (const auto& [program, kernels] : kernels_of) {
    ProgramInfluence& one = influence.programs.emplace_back();
    one.program = program;
    const ClaimResult without = Evaluate(claim, WithoutAll(seeds, kernels), &result);
    one.without = NumberOf(without);
    one.flips = result.direction == Direction::kAgrees && without.computed() &&
                without.direction != Direction::kAgrees && without.direction != Direction::kNone;
    if (claim.claim->value().empty()) continue;
    std::set<std::string> others;
    std::ranges::set_difference(all, kernels, std::inserter(others, others.end()));
    one.alone = NumberOf(Evaluate(claim, WithoutAll(seeds, others)));
  }
  return influence;
}

}  // namespace heddle::tools::reproduce
