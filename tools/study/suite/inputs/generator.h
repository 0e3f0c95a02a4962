// Inputs that Heddle makes where public ones are gone: each kind registers itself, from its own file.
#ifndef HEDDLE_TOOLS_STUDY_SUITE_INPUTS_GENERATOR_H_
#define HEDDLE_TOOLS_STUDY_SUITE_INPUTS_GENERATOR_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "traces/base/random.h"

namespace heddle::tools::suite {

// A number that a generator takes, with what it is if nobody says, and its bounds.
struct InputParameter {
  std::string name;
  std::string what;
  uint64_t otherwise = 0;
  uint64_t least = 0;
  uint64_t most = 0;
};

// Values of all parameters.
using InputSettings = std::map<std::string, uint64_t>;

struct InputGenerator {
  std::string name;
  std::string what;  // one line: contents and form
  std::vector<InputParameter> parameters;
  // The bytes of the file. The same random numbers and settings give the same bytes on every host.
  std::string (*make)(Random& random, const InputSettings& settings);
};

// All generators, by name.
const std::map<std::string, InputGenerator>& InputGenerators();

// Called before main.
bool AddInputGenerator(InputGenerator generator);

// `settings` with what is not set filled in. InvalidArgument for an unknown generator or parameter, and for a value out
// of its bounds.
absl::StatusOr<InputSettings> CompleteSettings(const std::string& generator, const InputSettings& settings);

// The file's bytes; the errors of CompleteSettings.
absl::StatusOr<std::string> MakeInput(const std::string& generator, uint64_t seed, const InputSettings& settings);

}  // namespace heddle::tools::suite

#define HEDDLE_INPUT_GENERATOR(...) \
  [[maybe_unused]] static const bool input_registered = AddInputGenerator(InputGenerator{__VA_ARGS__})

#endif  // HEDDLE_TOOLS_STUDY_SUITE_INPUTS_GENERATOR_H_
