// How a policy declares itself: what it is called, what can be set, what it counts.
#ifndef HEDDLE_REPLAY_SEAMS_POLICY_INFO_H_
#define HEDDLE_REPLAY_SEAMS_POLICY_INFO_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "replay/seams/policy_traits.h"

namespace heddle::replay {

class Parameters;

enum class ParameterType {
  kBool,
  kInteger,   // from `minimum` to `maximum`
  kChoice,    // one of `choices`
  kFraction,  // a decimal number from `lowest` to `highest` (DecimalNumber)
  kWord,      // 1 to kMostLetters letters, digits, '_', '-' and '.'
  kList,      // items of type `list_of`, joined by '+': "3+4+4"; nothing for an empty list
};

inline constexpr size_t kMostLetters = 64;  // of a word

// Members that a declaration leaves out take these values.
struct ParameterSpec {
  std::string name = {};
  ParameterType type = ParameterType::kInteger;
  std::string default_value = {};  // as text, in the syntax of the type
  std::string unit = {};           // "cycles", "entries", ...; empty for a bare number or a choice
  int64_t minimum = 0;             // kInteger, also as items of a list
  int64_t maximum = 0;
  std::string lowest = {};  // kFraction: as text, "0"
  std::string highest = {};
  std::vector<std::string> choices = {};  // kChoice, also as items of a list
  // kList: kInteger, kWord or kChoice, and how many items there may be.
  ParameterType list_of = ParameterType::kInteger;
  size_t least_items = 0;
  size_t most_items = 0;
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
  // A count is of what has happened in the launch until now: it begins at 0 and does not fall. A gauge is of what there
  // is at present, such as blocks that run or tokens that are left; a launch's result has it as the launch ends.
  enum class Kind { kCount, kGauge } kind = Kind::kCount;

  // Whether values of bins of time, and of launches, add up. Else a bin has the value at its end, and launches together
  // have the largest.
  bool adds_up() const { return combine == Combine::kSum && kind == Kind::kCount; }
};

// A policy of the same seam to which this one comes down on some machines.
struct SamePolicy {
  std::string policy = {};
  // "core.ibuffer.fetch_when=EMPTY": the field and its value, as `--set` writes them, with which the two decide alike
  // whenever the parameters that both have are equal.
  std::string machine = {};
};

struct PolicyInfo {
  std::string name = {};
  std::string summary = {};  // one sentence
  std::string source = {};   // paper and section
  PolicyTraits traits = {};
  // Completes the traits with what follows from the parameters; may be empty. TraitsOf calls it.
  std::function<void(const Parameters&, PolicyTraits&)> traits_by_parameters = {};
  std::vector<ParameterSpec> parameters = {};
  std::vector<CounterSpec> counters = {};
  std::vector<SamePolicy> same_as = {};

  // The parameter of that name; null if there is none.
  const ParameterSpec* Find(std::string_view parameter) const {
    for (const ParameterSpec& spec : parameters) {
      if (spec.name == parameter) return &spec;
    }
    return nullptr;
  }
};

// The traits that a policy has with these parameters, which are its own.
PolicyTraits TraitsOf(const PolicyInfo& info, const Parameters& parameters);

// Lower-case letters, digits and underscores, a letter first: other names could not be given in a command.
bool IsPolicyName(std::string_view name);
// What is wrong with a policy's declaration, with the names of policy and parameter: a default out of its range, a
// condition on a parameter that is not declared before, ways that may be 0, traits by a parameter that is not declared.
absl::Status CheckDeclaration(const PolicyInfo& info);
// Throws PolicyError if something is.
void StopOnBadDeclaration(const PolicyInfo& info);

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_SEAMS_POLICY_INFO_H_
