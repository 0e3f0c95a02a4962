#include "tools/exchange/gpgpusim/option_reader.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "replay/machine/machine.h"

namespace heddle::tools {

std::string OptionValue::Source() const {
  return given() ? absl::StrCat(place, ": ", name) : absl::StrCat("GPGPU-Sim's default of ", name);
}

OptionReader::OptionReader(std::vector<ConfigOption> options, ImportedMachine& imported)
    : imported_(imported), rest_(std::move(options)), version2_(Given("-gpgpu_n_shader")) {}

bool OptionReader::Given(std::string_view name) const {
  return std::ranges::any_of(rest_, [&](const ConfigOption& option) { return option.name == name; });
}

std::string OptionReader::Peek(std::string_view name) const {
  std::string value;
  for (const ConfigOption& option : rest_) {
    if (option.name == name) value = option.value;
  }
  return value;
}

OptionValue OptionReader::Take(std::initializer_list<std::string_view> names, std::string_view default_text) {
  asked_.insert(asked_.end(), names.begin(), names.end());
  OptionValue value{std::string(*names.begin()), std::string(default_text), ""};
  std::erase_if(rest_, [&](const ConfigOption& option) {
    if (std::ranges::find(names, option.name) == names.end()) return false;
    if (value.given()) {
      Note(ImportOutcome::kDifferent, value, absl::StrCat("the value of ", option.place, " counts"));
    }
    value = {option.name, option.value, option.place};
    return true;
  });
  return value;
}

uint64_t OptionReader::Number(const OptionValue& option, const std::string& text) {
  uint64_t number = 0;
  if (!absl::SimpleAtoi(text, &number)) {
    Error(option, absl::StrCat("\"", text, "\" is no whole number below 2^64"));
    return 0;
  }
  return number;
}

uint64_t OptionReader::Number(const OptionValue& option) { return Number(option, option.text); }

bool OptionReader::Flag(const OptionValue& option) {
  if (option.given() && option.text.empty()) return true;
  if (option.text == "0" || option.text == "1") return option.text == "1";
  Error(option, absl::StrCat("\"", option.text, "\" is not 0 or 1"));
  return false;
}

void OptionReader::Set(const std::string& path, const std::string& value, const std::string& source) {
  Error(replay::Override(imported_.machine, absl::StrCat(path, "=", value)));
  imported_.sources[path] = source;
}

void OptionReader::Set(const std::string& path, uint64_t value, const std::string& source) {
  Set(path, absl::StrCat(value), source);
}

void OptionReader::SetSource(const std::string& path, const std::string& source) { imported_.sources[path] = source; }

void OptionReader::SetNumber(const std::string& path, const OptionValue& option) {
  Set(path, Number(option), option.Source());
}

void OptionReader::Note(ImportOutcome outcome, const OptionValue& option, const std::string& what) {
  imported_.notes.push_back({outcome, option.place,
                             absl::StrCat(option.name, option.text.empty() ? "" : " ", option.text),
                             absl::StrCat(what, option.given() ? "" : " (GPGPU-Sim's default)")});
}

void OptionReader::Error(const OptionValue& option, const std::string& what) {
  Error(absl::InvalidArgumentError(absl::StrCat(option.Source(), ": ", what)));
}

void OptionReader::Error(absl::Status status) {
  if (status_.ok()) status_ = std::move(status);
}

}  // namespace heddle::tools
