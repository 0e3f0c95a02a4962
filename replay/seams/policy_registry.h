// Policies declare themselves, with parameters and counters, from their own file.
#ifndef HEDDLE_REPLAY_SEAMS_POLICY_REGISTRY_H_
#define HEDDLE_REPLAY_SEAMS_POLICY_REGISTRY_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "replay/seams/policy_origin.h"

namespace heddle::replay {

enum class ParameterType { kBool, kInteger, kChoice };

// Members that a declaration leaves out take these values.
struct ParameterSpec {
  std::string name = {};
  ParameterType type = ParameterType::kInteger;
  std::string default_value = {};  // as text, in the syntax of the type
  std::string unit = {};           // "cycles", "entries", ...; empty for a bare number or a choice
  int64_t minimum = 0;             // kInteger
  int64_t maximum = 0;
  std::vector<std::string> choices = {};  // kChoice
  // "order=gto" or "order!=lrr": read only if that parameter, declared before this one, is read and has, or has not,
  // that value; empty = always.
  std::string only_if = {};
  // kInteger with a minimum of 1 or more, the ways of a table: the parameter of the table's entries, declared before
  // this one, which they have to divide.
  std::string ways_of = {};
  std::string description = {};
  std::string source = {};  // where the rule or the default comes from
};

struct CounterSpec {
  std::string name = {};
  std::string unit = {};
  std::string description = {};
  enum class Combine { kSum, kMaximum } combine = Combine::kSum;  // over SMs and ports
};

// A policy of the same seam to which this one comes down on some machines.
struct SamePolicy {
  std::string policy = {};
  // "core.ibuffer.fetch_when=EMPTY": the field and its value, as `--set` writes them, with which the two decide alike
  // whenever the parameters that both have are equal.
  std::string machine = {};
};

// Properties that decide which policies go together.
struct PolicyTraits {
  // Divergence: warps are formed anew after every instruction, and several slots may be at one PC.
  bool regroups_every_instruction = false;
  // Divergence: where nothing diverges, threads of a full warp may still fill up a partial one. Policies that regroup
  // every instruction do so too.
  bool fills_partial_warps = false;
  // Divergence: a thread may sit in a lane that is not its home lane.
  bool any_lane = false;
  // Divergence: threads keep to their home lanes unless the boolean parameter of this name is false; empty = `any_lane`
  // alone decides.
  std::string lane_aware_parameter = {};
  // Divergence: even-odd home lane swizzle is decided by the parameter of this name; empty = no swizzle.
  std::string swizzle_parameter = {};
  // Divergence: forming a warp takes the cycles of the integer parameter of this name; empty = no time.
  std::string delay_parameter = {};
  // Divergence: all threads of a slot are of one static warp (a warp-size row of their block).
  bool static_warps = false;
  // Divergence: threads of a warp that have come to the immediate post-dominator of a branch wait there until all
  // others of the warp come, for however long that takes.
  bool waits_at_post_dominators = false;
  // Divergence: one issue may hold several PCs (MIMD), so bounds for warps do not hold.
  bool mixed_pcs = false;
  // Dispatch: gives single warps, not whole blocks, so that threads of different static warps cannot be put together.
  bool by_warp = false;
  // Dispatch: a warp may have to wait for the others of its block elsewhere than at a barrier, which a scheduler that
  // holds warps back does not see.
  bool waits_for_siblings = false;
  // Dispatch: blocks take the registers of the integer parameter of this name more per thread; empty = none.
  std::string extra_registers_parameter = {};
  // Scheduler: may let no warp issue though some could.
  bool holds_back = false;
  // Scheduler: GridAssigned changes what it does, so no SM may be ahead of the others when the grid is assigned.
  bool hears_grid_assigned = false;
  // Scheduler: only together with a policy that regroups every instruction, for the reason given.
  bool needs_regrouping = false;
  std::string needs_regrouping_reason = {};
};

struct PolicyInfo {
  std::string name = {};
  std::string summary = {};  // one sentence
  std::string source = {};   // paper and section
  PolicyTraits traits = {};
  std::vector<ParameterSpec> parameters = {};
  std::vector<CounterSpec> counters = {};
  std::vector<SamePolicy> same_as = {};
};

// Checked values of a policy's parameters, defaults filled in. Asking for a name or type that was not declared is a
// programming error and throws PolicyError, which ends the run with that text.
class Parameters {
 public:
  // `text` is "key=value,key=value" or empty. Errors list the known keys, the range or the choices.
  static absl::StatusOr<Parameters> Parse(const PolicyInfo& info, std::string_view text);
  // The same without what parameters demand of one another (ParameterSpec::ways_of), for a text to which others are yet
  // to be added.
  static absl::StatusOr<Parameters> ParseSome(const PolicyInfo& info, std::string_view text);

  bool Bool(std::string_view name) const;
  int64_t Integer(std::string_view name) const;
  const std::string& Choice(std::string_view name) const;
  // Name -> value as text, every parameter of the policy.
  const std::map<std::string, std::string, std::less<>>& values() const { return values_; }

 private:
  const std::string& Value(std::string_view name) const;
  std::string policy_;
  std::map<std::string, std::string, std::less<>> values_;
};

// Lower-case letters, digits and underscores, a letter first: other names could not be given in a command.
bool IsPolicyName(std::string_view name);
// What is wrong with a policy's declaration, with the names of policy and parameter: a default out of its range, a
// condition on a parameter that is not declared before, ways that may be 0.
absl::Status CheckDeclaration(const PolicyInfo& info);
// Throws PolicyError if something is.
void StopOnBadDeclaration(const PolicyInfo& info);

// Whether any rule of the policy reads the parameter (ParameterSpec::only_if) when all have these values.
bool IsRead(const PolicyInfo& info, const ParameterSpec& spec, const Parameters& parameters);
// For an assignment "KEY=VALUE" of a text that has been parsed into `parameters`: "greedy=last_issue has no effect:
// order=lrr" if no rule reads it, else empty.
std::string WithoutEffect(const PolicyInfo& info, const Parameters& parameters, std::string_view assignment);

// Whether a divergence policy with these parameters may put a thread in a lane that is not its home lane.
bool MaySitInAnyLane(const PolicyInfo& info, const Parameters& parameters);
// Whether home lanes are swizzled (Fung, section 4.1): thread t of a block belongs to lane
// (t mod W) xor (t / W mod 2) instead of t mod W.
bool SwizzlesHomeLanes(const PolicyInfo& info, const Parameters& parameters);

absl::Status UnknownPolicyError(std::string_view kind, std::string_view name, const std::vector<std::string>& known);

// Throw PolicyError: the policy is wrong, not the run.
[[noreturn]] void StopOnDuplicatePolicy(const std::string& name);
[[noreturn]] void StopOnNoPolicy(const std::string& name);

template <typename Policy, typename Context>
class PolicyRegistry {
 public:
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

  // `kind` is what messages call it: "divergence policy", "scheduler", "dispatcher".
  absl::StatusOr<const Entry*> Find(std::string_view kind, std::string_view name) const {
    const auto it = entries_.find(name);
    if (it != entries_.end()) return &it->second;
    std::vector<std::string> known;
    known.reserve(entries_.size());
    for (const auto& [key, entry] : entries_) known.push_back(key);
    return UnknownPolicyError(kind, name, known);
  }

 private:
  std::map<std::string, Entry, std::less<>> entries_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_SEAMS_POLICY_REGISTRY_H_
