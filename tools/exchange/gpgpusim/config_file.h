// The files that configure GPGPU-Sim and Accel-Sim, as lists of options with the places where they stand.
#ifndef HEDDLE_TOOLS_EXCHANGE_GPGPUSIM_CONFIG_FILE_H_
#define HEDDLE_TOOLS_EXCHANGE_GPGPUSIM_CONFIG_FILE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace heddle::tools {

struct ConfigOption {
  std::string name;   // with its dash, as it stands there: "-gpgpu_n_mem"; in a network's file the key
  std::string value;  // without quotes, what was on several lines joined by single blanks; empty for a flag
  std::string place;  // "line 12", or "trace.config, line 12"
};

// Options of a gpgpusim.config or trace.config: "-name value" separated by blanks or line ends, # begins a comment,
// values in double quotes may have blanks and line ends, a name without value is a flag. `file` goes into the places;
// empty: they are only lines. Errors: InvalidArgument with the place of a quote that is not closed or a value that no
// option takes.
absl::StatusOr<std::vector<ConfigOption>> ParseOptions(const std::string& text, const std::string& file);

// Settings of a BookSim file, such as config_fermi_islip.icnt: "key = value;", // begins a comment. Errors:
// InvalidArgument with the place of what is not of this form.
absl::StatusOr<std::vector<ConfigOption>> ParseNetworkFile(const std::string& text, const std::string& file);

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_EXCHANGE_GPGPUSIM_CONFIG_FILE_H_
