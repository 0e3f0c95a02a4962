#include "tools/study/suite/placeholders.h"

#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"
#include "traces/base/status_macros.h"

namespace heddle::tools::suite {
namespace {

constexpr std::array<std::string_view, 5> kKnown = {"source", "reference", "data", "home", "toolkit"};

// Calls `plain` with the pieces of a text, and `name` with what is in braces between them.
template <typename Plain, typename Name>
absl::Status Split(std::string_view text, Plain plain, Name name) {
  size_t at = 0;
  while (at < text.size()) {
    const size_t brace = text.find('{', at);
    plain(text.substr(at, brace == std::string_view::npos ? brace : brace - at));
    if (brace == std::string_view::npos) break;
    if (text.substr(brace, 2) == "{{") {
      plain("{");
      at = brace + 2;
      continue;
    }
    const size_t end = text.find('}', brace);
    if (end == std::string_view::npos || end == brace + 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("\"", std::string(text), "\": a brace begins {NAME}; {{ is a brace itself"));
    }
    HEDDLE_RETURN_IF_ERROR(name(std::string(text.substr(brace + 1, end - brace - 1))));
    at = end + 1;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<std::string>> PlaceholdersOf(std::string_view text) {
  std::vector<std::string> names;
  HEDDLE_RETURN_IF_ERROR(Split(
      text, [](std::string_view) {},
      [&](const std::string& name) {
        names.push_back(name);
        return absl::OkStatus();
      }));
  return names;
}

bool Placeholders::IsKnown(std::string_view name) { return std::ranges::find(kKnown, name) != kKnown.end(); }

absl::StatusOr<std::string> Placeholders::Expand(std::string_view text) const {
  std::string all;
  HEDDLE_RETURN_IF_ERROR(Split(
      text, [&](std::string_view plain) { all += plain; },
      [&](const std::string& name) -> absl::Status {
        const auto value = values_.find(name);
        if (value == values_.end()) {
          return absl::InvalidArgumentError(
              absl::StrCat("\"", std::string(text), "\": {", name, "} stands for nothing here"));
        }
        absl::StrAppend(&all, value->second);
        return absl::OkStatus();
      }));
  return all;
}

absl::StatusOr<::heddle::suite::v1::Command> Placeholders::Expand(const ::heddle::suite::v1::Command& command) const {
  ::heddle::suite::v1::Command all = command;
  for (std::string& argument : *all.mutable_argument()) {
    HEDDLE_ASSIGN_OR_RETURN(argument, Expand(argument));
  }
  for (::heddle::suite::v1::Variable& variable : *all.mutable_environment()) {
    HEDDLE_ASSIGN_OR_RETURN(*variable.mutable_value(), Expand(variable.value()));
  }
  HEDDLE_ASSIGN_OR_RETURN(*all.mutable_input(), Expand(all.input()));
  return all;
}

}  // namespace heddle::tools::suite
