#include "tools/show/run_labels.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "replay/engine/replay.h"
#include "replay/seams/block_dispatcher.h"
#include "replay/seams/divergence_policy.h"
#include "replay/seams/fetch_policy.h"
#include "replay/seams/memory_policy.h"
#include "replay/seams/warp_scheduler.h"

namespace heddle::tools {
namespace {

using result::v1::PolicyChoice;
using result::v1::Result;

// The value of a parameter by default; empty if the policy, or the parameter, is not known here.
template <typename Registry>
std::string Default(const std::string& policy, const std::string& parameter) {
  const auto entry = Registry::Get().entries().find(policy);
  if (entry == Registry::Get().entries().end()) return "";
  for (const replay::ParameterSpec& spec : entry->second.info.parameters) {
    if (spec.name == parameter) return spec.default_value;
  }
  return "";
}

// Shown are parameters in which the runs of this report differ, and those that are not as the policy has them by
// default.
template <typename Registry>
std::string Label(const PolicyChoice& choice, const std::vector<const PolicyChoice*>& all) {
  std::vector<std::string> shown;
  for (const auto& [name, value] :
       std::map<std::string, std::string>(choice.parameter().begin(), choice.parameter().end())) {
    const bool differs = std::any_of(all.begin(), all.end(), [&](const PolicyChoice* other) {
      const auto it = other->parameter().find(name);
      return other->name() == choice.name() && it != other->parameter().end() && it->second != value;
    });
    const std::string usual = Default<Registry>(choice.name(), name);
    if (differs || (!usual.empty() && value != usual)) shown.push_back(absl::StrCat(name, "=", value));
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
    const std::string policies = absl::StrCat(
        Parameters(results[i].divergence()), "/", Parameters(results[i].scheduler()), "/",
        Parameters(results[i].dispatch()), "/", Parameters(results[i].fetch()), "/", Parameters(results[i].memory()));
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
  std::vector<const PolicyChoice*> divergence, scheduler, dispatch, fetch, memory;
  for (const Row& row : rows) {
    const Result& result = results[row.first];
    divergence.push_back(&result.divergence());
    scheduler.push_back(&result.scheduler());
    dispatch.push_back(&result.dispatch());
    fetch.push_back(&result.fetch());
    memory.push_back(&result.memory());
  }
  Labels labels;
  for (const Row& row : rows) {
    const Result& result = results[row.first];
    labels.divergence.push_back(Label<replay::DivergenceRegistry>(result.divergence(), divergence));
    labels.scheduler.push_back(Label<replay::SchedulerRegistry>(result.scheduler(), scheduler));
    labels.dispatch.push_back(Label<replay::DispatchRegistry>(result.dispatch(), dispatch));
    labels.fetch.push_back(Label<replay::FetchRegistry>(result.fetch(), fetch));
    labels.memory.push_back(Label<replay::MemoryRegistry>(result.memory(), memory));
    // A machine without instruction buffers has no fetch policy, one without a data cache no memory policy.
    const bool own_fetch = result.has_fetch() && labels.fetch.back() != replay::Configuration().fetch.name;
    const bool own_dispatch = result.has_dispatch() && labels.dispatch.back() != replay::Configuration().dispatch.name;
    const bool own_memory = result.has_memory() && labels.memory.back() != replay::Configuration().memory.name;
    labels.show_memory |= own_memory || labels.memory.back() != labels.memory.front();
    labels.show_fetch |= own_fetch || labels.fetch.back() != labels.fetch.front();
    labels.show_dispatch |= own_dispatch || labels.dispatch.back() != labels.dispatch.front();
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
