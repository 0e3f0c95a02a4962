#include "tools/exchange/gpgpusim/import_machine.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "replay/machine/machine.h"
#include "tools/exchange/gpgpusim/config_file.h"
#include "tools/exchange/gpgpusim/machine_text.h"
#include "tools/exchange/gpgpusim/option_reader.h"
#include "traces/base/status_macros.h"

namespace heddle::tools {
namespace {

struct OutcomeTitle {
  ImportOutcome outcome;
  const char* title;
};
constexpr OutcomeTitle kTitles[] = {
    {ImportOutcome::kUnknown, "Unknown options, not represented:"},
    {ImportOutcome::kNotRepresented, "Not represented:"},
    {ImportOutcome::kDifferent, "Represented in another way:"},
    {ImportOutcome::kCommandLine, "A matter of the run; say to `heddle replay`:"},
    {ImportOutcome::kNoTiming, "Without effect on the machine:"},
};

// The settings of the network's file that the last -inter_config_file names; none if it cannot be had.
absl::StatusOr<std::vector<ConfigOption>> NetworkSettings(
    const std::vector<ConfigOption>& options,
    const std::function<std::optional<std::string>(const std::string& file)>& read_network) {
  std::string file;
  for (const ConfigOption& option : options) {
    if (option.name == "-inter_config_file") file = option.value;
  }
  const std::optional<std::string> text = file.empty() ? std::nullopt : read_network(file);
  if (!text.has_value()) return std::vector<ConfigOption>();
  return ParseNetworkFile(*text, file);
}

}  // namespace

absl::StatusOr<ImportedMachine> ImportMachine(
    const std::vector<ConfigText>& configs, const std::string& name,
    const std::function<std::optional<std::string>(const std::string& file)>& read_network) {
  std::vector<ConfigOption> options;
  for (const ConfigText& config : configs) {
    HEDDLE_ASSIGN_OR_RETURN(std::vector<ConfigOption> parsed, ParseOptions(config.text, config.file));
    options.insert(options.end(), parsed.begin(), parsed.end());
  }
  if (options.empty()) return absl::InvalidArgumentError("there is no option in it, such as -gpgpu_n_clusters 15");
  HEDDLE_ASSIGN_OR_RETURN(const std::vector<ConfigOption> network, NetworkSettings(options, read_network));

  ImportedMachine imported;
  imported.machine.set_name(name);
  imported.machine.set_description("imported from a configuration of GPGPU-Sim");
  OptionReader reader(std::move(options), imported);
  ImportCore(reader);
  ImportFirstLevels(reader);
  ImportNetwork(reader, network);
  ImportDram(reader);
  ImportL2(reader);  // how many slices there are in all depends on the controllers
  ImportRest(reader);
  if (!reader.status().ok()) return reader.status();
  if (const absl::Status status = replay::CheckMachine(imported.machine); !status.ok()) {
    const std::string message(status.message());
    const auto source = imported.sources.find(message.substr(0, message.find_first_of(": ")));
    return absl::InvalidArgumentError(absl::StrCat(
        source == imported.sources.end() ? "the machine is not possible here" : source->second, ": ", message));
  }
  std::ranges::stable_sort(imported.notes, {}, &ImportNote::outcome);
  return imported;
}

std::vector<std::string> NotesText(const ImportedMachine& imported, ImportOutcome outcome) {
  std::vector<std::string> lines;
  for (const ImportNote& note : imported.notes) {
    if (note.outcome != outcome) continue;
    if (lines.empty()) lines.push_back(std::ranges::find(kTitles, outcome, &OutcomeTitle::outcome)->title);
    lines.push_back(absl::StrCat("  ", note.place, note.place.empty() ? "" : ": ", note.option,
                                 note.what.empty() ? "" : ": ", note.what));
  }
  return lines;
}

std::string ImportText(const ImportedMachine& imported, const std::vector<std::string>& files) {
  std::string text = absl::StrCat("# Imported by `heddle machines import ", absl::StrJoin(files, " "),
                                  "`. Every value has the line that it comes from.\n");
  for (const OutcomeTitle& title : kTitles) {
    const std::vector<std::string> lines = NotesText(imported, title.outcome);
    if (!lines.empty()) absl::StrAppend(&text, "#\n");
    for (const std::string& line : lines) absl::StrAppend(&text, "# ", line, "\n");
  }
  return absl::StrCat(text, MachineText(imported.machine, imported.sources));
}

}  // namespace heddle::tools
