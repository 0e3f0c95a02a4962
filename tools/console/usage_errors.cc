#include "tools/console/usage_errors.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "traces/base/suggest.h"

namespace heddle::tools {
namespace {

// The names of options as they are written: "--divergence", "-o".
std::vector<std::string> LongNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    names.insert(names.end(), option->get_lnames().begin(), option->get_lnames().end());
  }
  return names;
}

std::string UnknownOption(const CLI::App& app, const std::string& word) {
  const std::string name = word.substr(0, word.find('='));
  // A single dash before a long name is a slip, too; one letter is like any other.
  const std::string letters = name.substr(std::min(name.find_first_not_of('-'), name.size()));  // "--=x" has none
  const std::string nearest = letters.size() < 2 ? "" : NearestName(letters, LongNames(app));
  return absl::StrCat("unknown option ", letters.empty() ? word : name,
                      nearest.empty() ? "" : absl::StrCat(": did you mean --", nearest, "?"));
}

}  // namespace

std::string UsageMessage(const CLI::App& app, const CLI::ParseError& error) {
  const bool may_be_unknown = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr ||
                              dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
  const std::vector<std::string> words = app.remaining(/*recurse=*/true);
  if (!may_be_unknown || words.empty()) return error.what();
  std::vector<std::string> commands;
  const CLI::App* parsed = &app;
  while (!parsed->get_subcommands().empty()) {
    parsed = parsed->get_subcommands().front();
    commands.push_back(parsed->get_name());
  }
  for (const std::string& word : words) {
    if (word.starts_with('-') && word.find_first_not_of('-') != std::string::npos) return UnknownOption(*parsed, word);
  }
  std::vector<std::string> known;
  for (const CLI::App* command : parsed->get_subcommands([](const CLI::App*) { return true; })) {
    known.push_back(command->get_name());
  }
  if (known.empty()) return error.what();
  commands.push_back("command");
  return UnknownNameMessage(absl::StrJoin(commands, " "), words.front(), known);
}

}  // namespace heddle::tools
