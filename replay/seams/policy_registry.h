// Where policies register themselves, from their own files.
#ifndef HEDDLE_REPLAY_SEAMS_POLICY_REGISTRY_H_
#define HEDDLE_REPLAY_SEAMS_POLICY_REGISTRY_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "replay/seams/parameters.h"
#include "replay/seams/policy_info.h"
#include "replay/seams/policy_origin.h"

namespace heddle::replay {

absl::Status UnknownPolicyError(std::string_view kind, std::string_view name, const std::vector<std::string>& known);

// Throw PolicyError: the policy is wrong, not the run.
[[noreturn]] void StopOnDuplicatePolicy(const std::string& name);
[[noreturn]] void StopOnNoPolicy(const std::string& name);

// All policies of a seam. `Policy` is its interface, which names the seam: kSeam as commands and results do
// ("divergence"), kKind as messages do ("divergence policy"). `Context` is what a policy gets when it is made.
template <typename Policy, typename Context>
class PolicyRegistry {
 public:
  static constexpr const char* kSeam = Policy::kSeam;
  static constexpr const char* kKind = Policy::kKind;
  using Factory = std::function<std::unique_ptr<Policy>(const Context&, const Parameters&)>;
  struct Entry {
    PolicyInfo info;
    Factory make;
    PolicyOrigin origin;
  };

  static PolicyRegistry& Get() {
    static PolicyRegistry registry;
    return registry;
  }

  // Called by HEDDLE_REGISTER_AT_SEAM before main, or while a library is loaded. Throws PolicyError on a name that is
  // taken, on a declaration that contradicts itself, and later on if the factory makes nothing.
  bool Register(PolicyInfo info, Factory make) {
    StopOnBadDeclaration(info);
    std::string name = info.name;
    Factory checked = [name, make = std::move(make)](const Context& context, const Parameters& parameters) {
      std::unique_ptr<Policy> policy = make(context, parameters);
      if (policy == nullptr) StopOnNoPolicy(name);
      return policy;
    };
    if (!entries_.emplace(name, Entry{std::move(info), std::move(checked), PresentOrigin()}).second)
      StopOnDuplicatePolicy(name);
    return true;
  }

  // In alphabetical order of the names.
  const std::map<std::string, Entry, std::less<>>& entries() const { return entries_; }

  // The names alone.
  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    names.reserve(entries_.size());
    for (const auto& [name, entry] : entries_) names.push_back(name);
    return names;
  }

  // InvalidArgument with the nearest name and all others if there is no policy of that name.
  absl::StatusOr<const Entry*> Find(std::string_view name) const {
    const auto it = entries_.find(name);
    if (it != entries_.end()) return &it->second;
    return UnknownPolicyError(kKind, name, Names());
  }

 private:
  std::map<std::string, Entry, std::less<>> entries_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_SEAMS_POLICY_REGISTRY_H_
