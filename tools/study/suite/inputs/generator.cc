#include "tools/study/suite/inputs/generator.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "traces/base/status_macros.h"
#include "traces/base/suggest.h"

namespace heddle::tools::suite {
namespace {

std::map<std::string, InputGenerator>& Generators() {
  static auto& generators = *new std::map<std::string, InputGenerator>;
  return generators;
}

}  // namespace

const std::map<std::string, InputGenerator>& InputGenerators() { return Generators(); }

bool AddInputGenerator(InputGenerator generator) {
  std::string name = generator.name;
  return Generators().emplace(std::move(name), std::move(generator)).second;
}

absl::StatusOr<InputSettings> CompleteSettings(const std::string& generator, const InputSettings& settings) {
  const auto found = Generators().find(generator);
  if (found == Generators().end()) {
    std::vector<std::string> known;
    for (const auto& [name, unused] : Generators()) known.push_back(name);
    return absl::InvalidArgumentError(UnknownNameMessage("generator", generator, known));
  }
  InputSettings complete;
  std::vector<std::string> known;
  for (const InputParameter& parameter : found->second.parameters) {
    complete[parameter.name] = parameter.otherwise;
    known.push_back(parameter.name);
  }
  for (const auto& [name, value] : settings) {
    const auto parameter = std::ranges::find(found->second.parameters, name, &InputParameter::name);
    if (parameter == found->second.parameters.end()) {
      return absl::InvalidArgumentError(UnknownNameMessage(absl::StrCat("parameter of ", generator), name, known));
    }
    if (value < parameter->least || value > parameter->most) {
      return absl::InvalidArgumentError(
          absl::StrCat(generator, ": ", name, "=", value, " is not from ", parameter->least, " to ", parameter->most));
    }
    complete[name] = value;
  }
  return complete;
}

absl::StatusOr<std::string> MakeInput(const std::string& generator, uint64_t seed, const InputSettings& settings) {
  HEDDLE_ASSIGN_OR_RETURN(const InputSettings complete, CompleteSettings(generator, settings));
  Random random(seed);
  return Generators().at(generator).make(random, complete);
}

}  // namespace heddle::tools::suite
