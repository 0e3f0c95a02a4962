#include "tools/heddle/run_labels.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace heddle::tools {
namespace {

using result::v1::PolicyChoice;
using result::v1::Result;

// Only parameters that are not the policy's defaults tell runs apart, but a result has no defaults: those in which the
// runs of this report differ are shown.
std::string Label(const PolicyChoice& choice, const std::vector<const PolicyChoice*>& all) {
  std::vector<std::string> shown;
  for (const auto& [name, value] :
       std::map<std::string, std::string>(choice.parameter().begin(), choice.parameter().end())) {
    const bool differs = std::any_of(all.begin(), all.end(), [&](const PolicyChoice* other) {
      const auto it = other->parameter().find(name);
      return other->name() == choice.name() && it != other->parameter().end() && it->second != value;
    });
    if (differs) shown.push_back(absl::StrCat(name, "=", value));
  }
  return shown.empty() ? choice.name() : absl::StrCat(choice.name(), ":", absl::StrJoin(shown, ","));
}

std::string Parameters(const PolicyChoice& choice) {
  const std::map<std::string, std::string> sorted(choice.parameter().begin(), choice.parameter().end());
  return absl::StrCat(choice.name(), ":", absl::StrJoin(sorted, ",", absl::PairFormatter("=")));
}

}  // namespace

std::vector<Row> GroupBySeeds(const std::vector<Result>& results) {
  std::vector<Row> rows;
  std::string present;
  for (size_t i = 0; i < results.size(); ++i) {
    const std::string policies =
        absl::StrCat(Parameters(results[i].divergence()), "/", Parameters(results[i].scheduler()), "/",
                     Parameters(results[i].dispatch()), "/", Parameters(results[i].fetch()));
    const bool seeded = results[i].provenance().seed() != 0;
    if (i > 0 && seeded && policies == present) {
      ++rows.back().size;
    } else {
      rows.push_back({i, 1});
    }
    present = policies;
  }
  return rows;
}

Labels LabelRuns(const std::vector<Result>& results, const std::vector<Row>& rows) {
  std::vector<const PolicyChoice*> divergence, scheduler, dispatch, fetch;
  for (const Row& row : rows) {
    const Result& result = results[row.first];
    divergence.push_back(&result.divergence());
    scheduler.push_back(&result.scheduler());
    dispatch.push_back(&result.dispatch());
    fetch.push_back(&result.fetch());
  }
  Labels labels;
  for (const Row& row : rows) {
    const Result& result = results[row.first];
    labels.divergence.push_back(Label(result.divergence(), divergence));
    labels.scheduler.push_back(Label(result.scheduler(), scheduler));
    labels.dispatch.push_back(Label(result.dispatch(), dispatch));
    labels.fetch.push_back(Label(result.fetch(), fetch));
    labels.show_fetch |= labels.fetch.back() != labels.fetch.front();
    labels.show_dispatch |= labels.dispatch.back() != labels.dispatch.front();
  }
  return labels;
}

size_t Baseline(const std::vector<Result>& results, const std::vector<Row>& rows) {
  for (size_t i = 0; i < rows.size(); ++i) {
    if (results[rows[i].first].divergence().name() == "pdom") return i;
  }
  return 0;
}

}  // namespace heddle::tools
