// Machines from the configuration files of GPGPU-Sim (2.x, 3.x, 4.x) and Accel-Sim.
#ifndef HEDDLE_TOOLS_EXCHANGE_GPGPUSIM_IMPORT_MACHINE_H_
#define HEDDLE_TOOLS_EXCHANGE_GPGPUSIM_IMPORT_MACHINE_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/machine.pb.h"

namespace heddle::tools {

// What became of an option that is not simply a value of the machine.
enum class ImportOutcome {
  kDifferent,       // represented, but not in the same way
  kNotRepresented,  // the model has no such thing
  kCommandLine,     // a matter of the run, not of the machine
  kUnknown,         // not an option of GPGPU-Sim or Accel-Sim that this import knows
  kNoTiming,        // of statistics, power, functional simulation: cycles do not depend on it
};

struct ImportNote {
  ImportOutcome outcome;
  std::string place;   // "line 12"; empty for a default
  std::string option;  // with its value
  std::string what;    // empty for kNoTiming
};

struct ImportedMachine {
  machine::v1::Machine machine;
  std::map<std::string, std::string> sources;  // by the path of the field, see MachineText
  std::vector<ImportNote> notes;               // by outcome, then in the order of the file
};

struct ConfigText {
  std::string file;  // for the places of errors; empty: they are only lines
  std::string text;
};

// `configs` are taken one after another, the last value of an option counts. `read_network` gives the contents of the
// network's file that a configuration names (-inter_config_file), if it can be had. The machine has passed
// CheckMachine. Errors: InvalidArgument with the place of a malformed value, or with the field of an impossible
// machine; nothing is guessed: what a file does not say is GPGPU-Sim's own default, and marked so.
absl::StatusOr<ImportedMachine> ImportMachine(
    const std::vector<ConfigText>& configs, const std::string& name,
    const std::function<std::optional<std::string>(const std::string& file)>& read_network);

// Title and notes of one outcome, lines without "# "; empty if there are none.
std::vector<std::string> NotesText(const ImportedMachine& imported, ImportOutcome outcome);

// The machine file: all notes as comments, then the machine.
std::string ImportText(const ImportedMachine& imported, const std::vector<std::string>& files);

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_EXCHANGE_GPGPUSIM_IMPORT_MACHINE_H_
