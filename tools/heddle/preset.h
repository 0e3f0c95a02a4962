// Combinations of machine and policies that have a name.
#ifndef HEDDLE_TOOLS_HEDDLE_PRESET_H_
#define HEDDLE_TOOLS_HEDDLE_PRESET_H_

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tools/heddle/replay_run.h"

namespace heddle::tools {

// A file NAME.preset beside the machines, or of the user: lines "key: value", comments behind '#'. Keys: description,
// and machine, divergence, scheduler, dispatch, fetch, memory with what the option of that name takes.
struct Preset {
  std::string name;
  std::string description;
  std::vector<std::pair<std::string, std::string>> parts;  // option without dashes, value; in the order of the file
};

// Names of the presets there are, ascending.
std::vector<std::string> PresetNames();

// Loads `name` from the presets' folder, or a file if `name` ends in .preset. Unknown names list the known ones; errors
// in the text give file and line.
absl::StatusOr<Preset> LoadPreset(const std::string& name);

// Sets what arguments.preset names, save the options that `given` says the command line has. Returns the parts as they
// are run, for a note: "preset baws: --machine baws_gtx480 ...". Errors are LoadPreset's.
absl::StatusOr<std::string> ApplyPreset(ReplayArguments& arguments,
                                        const std::function<bool(const std::string& option)>& given);

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_HEDDLE_PRESET_H_
