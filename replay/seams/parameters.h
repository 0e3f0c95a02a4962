// The parameters of a policy: parsed and checked once, then typed values.
#ifndef HEDDLE_REPLAY_SEAMS_PARAMETERS_H_
#define HEDDLE_REPLAY_SEAMS_PARAMETERS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "replay/seams/decimal_number.h"
#include "replay/seams/policy_info.h"

namespace heddle::replay {

// By ParameterType: kBool, kInteger, kChoice or kWord, kFraction; a kList of integers, or of words or choices.
using ParameterValue =
    std::variant<bool, int64_t, std::string, DecimalNumber, std::vector<int64_t>, std::vector<std::string>>;

// The value in its one spelling: "true", "8", "even_odd", "0.25", "3+4". ParseParameter makes the same value of it.
std::string TextOf(const ParameterValue& value);

// Which values the parameter takes, in words: "an integer from 1 to 9 (entries)".
std::string ValuesOf(const ParameterSpec& spec);

// The value that `text` stands for, or InvalidArgument: which values the parameter takes.
absl::StatusOr<ParameterValue> ParseParameter(const PolicyInfo& info, const ParameterSpec& spec, std::string_view text);

// Checked values of a policy's parameters, defaults filled in. Asking for a name or type that was not declared is a
// programming error and throws PolicyError, which ends the run with that text.
class Parameters {
 public:
  // `text` is "key=value,key=value" or empty. Errors list the known keys, the range or the choices.
  static absl::StatusOr<Parameters> Parse(const PolicyInfo& info, std::string_view text);
  // Parse without what parameters demand of one another (ParameterSpec::ways_of), for a text to which others are yet
  // to be added.
  static absl::StatusOr<Parameters> ParseSome(const PolicyInfo& info, std::string_view text);

  bool Bool(std::string_view name) const;
  int64_t Integer(std::string_view name) const;
  const std::string& Choice(std::string_view name) const;
  const std::string& Word(std::string_view name) const { return Choice(name); }
  // kFraction: the nearest floating-point number, the same on every host; and exactly, in billionths.
  double Fraction(std::string_view name) const { return Decimal(name).value(); }
  int64_t Billionths(std::string_view name) const { return Decimal(name).billionths(); }
  // kList of kInteger; of kWord or kChoice.
  const std::vector<int64_t>& Integers(std::string_view name) const;
  const std::vector<std::string>& Words(std::string_view name) const;
  // Of any type, as text.
  std::string Text(std::string_view name) const { return TextOf(Value(name)); }
  // Name -> value, every parameter of the policy, ascending.
  const std::map<std::string, ParameterValue, std::less<>>& values() const { return values_; }

 private:
  const ParameterValue& Value(std::string_view name) const;
  DecimalNumber Decimal(std::string_view name) const;
  std::string policy_;
  std::map<std::string, ParameterValue, std::less<>> values_;
};

// ParameterSpec::only_if, taken apart: "order=gto" or "order!=lrr". The text must outlive it and hold a '='.
struct ParameterCondition {
  explicit ParameterCondition(std::string_view text) {
    const size_t equals = text.find('=');
    is_equal = equals == 0 || text[equals - 1] != '!';
    name = text.substr(0, is_equal ? equals : equals - 1);
    value = text.substr(equals + 1);
  }
  std::string_view name;
  std::string_view value;
  bool is_equal = true;
};

// Whether any rule of the policy reads the parameter (ParameterSpec::only_if) when all have these values.
bool IsRead(const PolicyInfo& info, const ParameterSpec& spec, const Parameters& parameters);
// For an assignment "KEY=VALUE" of a text that has been parsed into `parameters`: "greedy=last_issue has no effect:
// order=lrr" if no rule reads it, else empty.
std::string WithoutEffect(const PolicyInfo& info, const Parameters& parameters, std::string_view assignment);

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_SEAMS_PARAMETERS_H_
