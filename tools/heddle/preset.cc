#include "tools/heddle/preset.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "replay/machine/machine.h"
#include "traces/base/suggest.h"

namespace heddle::tools {
namespace {

constexpr char kEnding[] = ".preset";

std::filesystem::path PresetsDirectory() { return std::filesystem::path(replay::MachinesDirectory()) / "presets"; }

// The argument that an option without dashes sets; null if there is none.
std::string* PartOf(ReplayArguments& arguments, const std::string& option) {
  if (option == "machine") return &arguments.machine;
  if (option == "divergence") return &arguments.policies.divergence;
  if (option == "scheduler") return &arguments.policies.scheduler;
  if (option == "dispatch") return &arguments.policies.dispatch;
  if (option == "fetch") return &arguments.policies.fetch;
  if (option == "memory") return &arguments.policies.memory;
  return nullptr;
}

}  // namespace

std::vector<std::string> PresetNames() {
  std::vector<std::string> names;
  std::error_code error;  // no such folder: no presets
  for (const auto& entry : std::filesystem::directory_iterator(PresetsDirectory(), error)) {
    if (entry.path().extension() == kEnding) names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

absl::StatusOr<Preset> LoadPreset(const std::string& name) {
  const bool is_path = name.ends_with(kEnding);
  const std::vector<std::string> known = PresetNames();
  if (!is_path && std::find(known.begin(), known.end(), name) == known.end()) {
    return absl::InvalidArgumentError(UnknownNameMessage("preset", name, known));
  }
  const std::string path = is_path ? name : (PresetsDirectory() / (name + kEnding)).string();
  std::ifstream file(path);
  if (!file) return absl::NotFoundError(absl::StrCat(path, ": cannot be read"));
  Preset preset;
  preset.name = name;
  std::string text;
  for (int line = 1; std::getline(file, text); ++line) {
    text = std::string(absl::StripAsciiWhitespace(text.substr(0, text.find('#'))));
    if (text.empty()) continue;
    const auto refuse = [&](const std::string& what) {
      return absl::InvalidArgumentError(absl::StrCat(path, ", line ", line, ": ", what));
    };
    const size_t colon = text.find(':');
    if (colon == std::string::npos) return refuse(absl::StrCat("lines are \"key: value\", not \"", text, "\""));
    const std::string key = text.substr(0, colon);
    const std::string value(absl::StripAsciiWhitespace(text.substr(colon + 1)));
    if (value.empty()) return refuse(absl::StrCat(key, " has no value"));
    if (key == "description") {
      preset.description = value;
      continue;
    }
    ReplayArguments any;
    if (PartOf(any, key) == nullptr) {
      return refuse(UnknownNameMessage(
          "key", key, {"description", "machine", "divergence", "scheduler", "dispatch", "fetch", "memory"}));
    }
    for (const auto& [earlier, unused] : preset.parts) {
      if (earlier == key) return refuse(absl::StrCat(key, " is given twice"));
    }
    preset.parts.emplace_back(key, value);
  }
  return preset;
}

absl::StatusOr<std::string> ApplyPreset(ReplayArguments& arguments,
                                        const std::function<bool(const std::string& option)>& given) {
  const absl::StatusOr<Preset> preset = LoadPreset(arguments.preset);
  if (!preset.ok()) {
    return absl::Status(preset.status().code(), absl::StrCat("--preset: ", preset.status().message()));
  }
  std::vector<std::string> parts;
  for (const auto& [option, value] : preset->parts) {
    std::string& part = *PartOf(arguments, option);
    if (!given(option)) part = value;
    parts.push_back(absl::StrCat("--", option, " ", part, given(option) ? " (as given)" : ""));
  }
  return absl::StrCat("preset ", preset->name, ": ", absl::StrJoin(parts, " "));
}

}  // namespace heddle::tools
