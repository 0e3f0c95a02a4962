#include "tools/study/reproduce/verdict.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace heddle::tools::reproduce {
namespace {

namespace v1 = claims::v1;

constexpr double kPerCent = 100;

// Whether the claim compares runs, and they are the same in everything that it reads.
bool ComparesNothing(const CheckedClaim& claim, const MetricSource& source) {
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> runs;  // by metric and kernel
  for (const Need& need : claim.Needs()) runs[{need.path, need.kernel}].push_back(need.run);
  bool compares = false;
  for (const auto& [what, names] : runs) {
    std::vector<double> numbers;
    for (const std::string& run : names) {
      if (const absl::StatusOr<double> number = source(what.first, run, what.second); number.ok()) {
        numbers.push_back(*number);
      }
    }
    if (numbers.size() < 2) continue;
    compares = true;
    if (std::ranges::adjacent_find(numbers, std::not_equal_to<>()) != numbers.end()) return false;
  }
  return compares;
}

double FloorOf(const v1::Claim& claim) {
  return kEffectFloor * (claim.unit() == "%" ? kPerCent : std::abs(claim.neutral()));
}

// Whether the paper has an effect and ours is too small to be one.
bool BelowFloor(const ClaimResult& result) {
  const v1::Claim& claim = *result.claim;
  if (claim.order_size() != 0) {
    for (size_t i = 1; i < result.terms.size(); ++i) {
      const double above = result.terms[i - 1].ours.mean();
      const double below = result.terms[i].ours.mean();
      if (std::abs(above - below) < kEffectFloor * std::max(std::abs(above), std::abs(below))) return true;
    }
    return false;
  }
  if (claim.row_size() != 0 || !claim.has_neutral()) return false;
  if (claim.has_paper() && std::abs(claim.paper() - claim.neutral()) <= claim.no_effect()) return false;
  return std::abs(result.terms[0].ours.mean() - claim.neutral()) < FloorOf(claim);
}

// A program that alone has more than the largest effect that the paper states; null if there is none.
const ProgramInfluence* BeyondLargest(const v1::Claim& claim, const Influence& influence) {
  if (!claim.has_largest()) return nullptr;
  const double largest = claim.largest() - claim.neutral();
  const auto beyond = std::ranges::find_if(influence.programs, [&](const ProgramInfluence& one) {
    if (!one.alone.has_value()) return false;
    const double effect = *one.alone - claim.neutral();
    return (effect > 0) == (largest > 0) && std::abs(effect) > std::abs(largest);
  });
  return beyond == influence.programs.end() ? nullptr : &*beyond;
}

}  // namespace

const char* VerdictName(Verdict verdict) {
  switch (verdict) {
    case Verdict::kNotComputed:
      return "not_computed";
    case Verdict::kFitted:
      return "fitted";
    case Verdict::kNotTested:
      return "not_tested";
    case Verdict::kContradicted:
      return "contradicted";
    case Verdict::kFragile:
      return "fragile";
    case Verdict::kReproduced:
      return "reproduced";
  }
  return "not_computed";
}

Judgement Judge(const PaperClaims& claims, const CheckedClaim& checked, const ClaimResult& result,
                const Influence& influence, const MetricSource& source) {
  const v1::Claim& claim = *result.claim;
  if (!result.computed()) return {Verdict::kNotComputed, result.problem};
  if (claims.IsFitted(claim.id())) return {Verdict::kFitted, "something was fitted to it"};
  if (claim.kind() != v1::STRUCTURAL) {
    if (ComparesNothing(checked, source)) return {Verdict::kNotTested, "the runs that it compares are the same"};
    if (result.direction == Direction::kWithinNoise) return {Verdict::kNotTested, "within the noise"};
    if (result.direction != Direction::kNone && BelowFloor(result)) return {Verdict::kNotTested, "below the floor"};
  }
  const bool contradicted =
      result.direction == Direction::kNone ? result.size == Size::kDiffers : result.direction == Direction::kOpposite;
  if (contradicted) return {Verdict::kContradicted, ""};
  if (const ProgramInfluence* const one = influence.Flipping(); one != nullptr) {
    return {Verdict::kFragile, absl::StrCat("not without ", one->program)};
  }
  if (const ProgramInfluence* const one = BeyondLargest(claim, influence); one != nullptr) {
    return {Verdict::kFragile, absl::StrCat(one->program, " is beyond the paper's largest")};
  }
  return {Verdict::kReproduced, ""};
}

}  // namespace heddle::tools::reproduce
