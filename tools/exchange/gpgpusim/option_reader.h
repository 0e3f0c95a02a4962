// Options on their way into a machine: which are used up, what became of them, and the first error.
#ifndef HEDDLE_TOOLS_EXCHANGE_GPGPUSIM_OPTION_READER_H_
#define HEDDLE_TOOLS_EXCHANGE_GPGPUSIM_OPTION_READER_H_

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "tools/exchange/gpgpusim/config_file.h"
#include "tools/exchange/gpgpusim/import_machine.h"

namespace heddle::tools {

// An option as it counts: the last one of that name, or GPGPU-Sim's default.
struct OptionValue {
  std::string name;
  std::string text;
  std::string place;  // empty for a default
  bool given() const { return !place.empty(); }
  // For comments: "line 12: -gpgpu_n_mem", or "GPGPU-Sim's default of -gpgpu_n_mem".
  std::string Source() const;
};

class OptionReader {
 public:
  OptionReader(std::vector<ConfigOption> options, ImportedMachine& imported);

  bool Given(std::string_view name) const;
  // The value that counts of an option that is given and not taken.
  std::string Peek(std::string_view name) const;
  // The options are those of GPGPU-Sim 2.x, whose core is another one: it alone counts "shaders", later versions
  // clusters.
  bool version2() const { return version2_; }
  // Uses up all options of these names; they are aliases, the first one names the default.
  OptionValue Take(std::initializer_list<std::string_view> names, std::string_view default_text);
  // All names that were asked for: the options that a machine is made of.
  const std::vector<std::string>& asked() const { return asked_; }
  // Options that nobody has taken, in the order of the file.
  const std::vector<ConfigOption>& rest() const { return rest_; }

  // A whole number; 0 after an error.
  uint64_t Number(const OptionValue& option);
  uint64_t Number(const OptionValue& option, const std::string& text);
  // Any text but "0" and "" is true; flags without a value are true if given.
  bool Flag(const OptionValue& option);

  // Sets a field and notes its source.
  void Set(const std::string& path, const std::string& value, const std::string& source);
  void Set(const std::string& path, uint64_t value, const std::string& source);
  // The source of an entry of a list as a whole.
  void SetSource(const std::string& path, const std::string& source);
  // A number taken as it is.
  void SetNumber(const std::string& path, const OptionValue& option);

  void Note(ImportOutcome outcome, const OptionValue& option, const std::string& what);
  // Remembers the first one.
  void Error(const OptionValue& option, const std::string& what);
  void Error(absl::Status status);
  const absl::Status& status() const { return status_; }
  // As far as it has come.
  const machine::v1::Machine& machine() const { return imported_.machine; }

 private:
  ImportedMachine& imported_;
  std::vector<ConfigOption> rest_;
  std::vector<std::string> asked_;
  const bool version2_;
  absl::Status status_;
};

// The parts of a machine, in this order.
void ImportCore(OptionReader& reader);
void ImportFirstLevels(OptionReader& reader);
// The network's own settings, from the file that the configuration names; empty if it was not found.
void ImportNetwork(OptionReader& reader, const std::vector<ConfigOption>& settings);
void ImportL2(OptionReader& reader);
void ImportDram(OptionReader& reader);
// What is left over: says what it is.
void ImportRest(OptionReader& reader);

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_EXCHANGE_GPGPUSIM_OPTION_READER_H_
