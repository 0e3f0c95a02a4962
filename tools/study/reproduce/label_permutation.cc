#include "tools/study/reproduce/label_permutation.h"

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/study/reproduce/metric_sources.h"

namespace heddle::tools::reproduce {
namespace {

namespace v1 = claims::v1;

// Runs by machine and fields: whose labels can be exchanged.
std::vector<std::vector<std::string>> ExchangeableRuns(const PaperClaims& claims, const std::set<std::string>& used) {
  std::map<std::string, std::vector<std::string>> groups;
  for (const auto& [name, run] : claims.runs) {
    if (!used.contains(name) || run.has_limits() || IsWithoutKernel(run)) continue;
    groups[absl::StrCat(run.machine(), " ", absl::StrJoin(run.set(), " "))].push_back(name);
  }
  std::vector<std::vector<std::string>> several;
  for (auto& [machine, names] : groups) {
    if (names.size() > 1) several.push_back(std::move(names));
  }
  return several;
}

class Permuter {
 public:
  Permuter(const PaperClaims& claims, const std::vector<ClaimResult>& results) {
    std::set<std::string> used;
    for (size_t i = 0; i < results.size(); ++i) {
      if (!Takes(results[i], claims.claims[i])) continue;
      taken_.push_back(i);
      for (const Need& need : claims.claims[i].Needs()) {
        used.insert(need.run);
        if (!need.kernel.empty()) kernels_[claims.ProgramOf(need.kernel)].insert(need.kernel);
      }
    }
    groups_ = ExchangeableRuns(claims, used);
  }

  const std::vector<size_t>& taken() const { return taken_; }
  size_t programs() const { return kernels_.size(); }

  Exchange Draw() {
    Exchange exchange;
    for (const auto& [program, kernels] : kernels_) {
      for (const std::vector<std::string>& group : groups_) {
        std::vector<std::string> labels = group;
        // std::shuffle may give another order with another library.
        for (size_t i = labels.size(); i > 1; --i) std::swap(labels[i - 1], labels[random_() % i]);
        for (const std::string& kernel : kernels) {
          for (size_t i = 0; i < group.size(); ++i) exchange[kernel][group[i]] = labels[i];
        }
      }
    }
    return exchange;
  }

 private:
  static bool Takes(const ClaimResult& result, const CheckedClaim& claim) {
    if (!result.computed() || result.direction == Direction::kNone || result.claim->kind() == v1::STRUCTURAL) {
      return false;
    }
    return std::ranges::none_of(claim.Needs(),
                                [](const Need& need) { return absl::StrContains(need.path, "_counter"); });
  }

  std::vector<size_t> taken_;                             // indices of claims
  std::map<std::string, std::set<std::string>> kernels_;  // by program
  std::vector<std::vector<std::string>> groups_;
  std::mt19937_64 random_;
};

}  // namespace

LabelPermutation PermuteLabels(const PaperClaims& claims, const std::vector<ClaimResult>& results,
                               const MetricSource& source, size_t permutations) {
  Permuter permuter(claims, results);
  LabelPermutation null;
  null.permutations = permutations;
  null.programs = permuter.programs();
  null.claims = permuter.taken().size();
  const auto agree = [&](const MetricSource& metrics) {
    size_t count = 0;
    for (const size_t i : permuter.taken()) {
      count += Evaluate(claims.claims[i], {metrics}, &results[i]).direction == Direction::kAgrees;
    }
    return count;
  };
  null.agree = agree(source);
  size_t as_many = 0;
  size_t sum = 0;
  for (size_t i = 0; i < permutations; ++i) {
    const Exchange exchange = permuter.Draw();
    const size_t count = agree(Exchanged(source, exchange));
    as_many += count >= null.agree;
    sum += count;
  }
  if (permutations != 0) null.mean_agree = static_cast<double>(sum) / static_cast<double>(permutations);
  null.p = static_cast<double>(1 + as_many) / static_cast<double>(1 + permutations);
  return null;
}

}  // namespace heddle::tools::reproduce
