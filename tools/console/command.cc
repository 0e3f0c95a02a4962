#include "tools/console/command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tools/console/output.h"
#include "tools/console/terminal.h"
#include "tools/console/usage_errors.h"
#include "traces/base/suggest.h"

namespace heddle::tools {
namespace {

// The group that a command is of; empty if it is of none.
std::string GroupOf(const std::string& name) {
  const size_t blank = name.find(' ');
  return blank == std::string::npos ? "" : name.substr(0, blank);
}

std::string LastWord(const std::string& name) {
  const std::string group = GroupOf(name);
  return group.empty() ? name : name.substr(group.size() + 1);
}

std::vector<std::string> CommandNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return names;
}

int WrongUsage(const std::string& program, const CLI::App& app, const CLI::ParseError& error) {
  std::string command = program;
  for (const CLI::App* parsed = &app; !parsed->get_subcommands().empty();) {
    parsed = parsed->get_subcommands().front();
    absl::StrAppend(&command, " ", parsed->get_name());
  }
  return ReportError(kWrongUsage, absl::StrCat(UsageMessage(app, error), "; see `", command, " --help`"));
}

}  // namespace

CommandRegistry& CommandRegistry::Get() {
  static CommandRegistry registry;
  return registry;
}

bool CommandRegistry::Add(CommandInfo info, Factory make) {
  entries_.push_back({std::move(info), make});
  return true;
}

std::vector<CommandRegistry::Entry> CommandRegistry::InOrder() const {
  std::vector<Entry> entries = entries_;
  std::ranges::sort(entries, {}, [](const Entry& entry) {
    const std::string group = GroupOf(entry.info.name);
    return std::tuple(!group.empty(), group, entry.info.place);
  });
  return entries;
}

int RunProgram(const ProgramInfo& program, int argc, char** argv) {
  const std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  const std::vector<CommandRegistry::Entry> entries = CommandRegistry::Get().InOrder();
  for (const CommandRegistry::Entry& entry : entries) {
    if (entry.info.takes_words == nullptr || words.empty() || words[0] != entry.info.name) continue;
    return entry.info.takes_words({words.begin() + 1, words.end()});
  }
  HandleSignals();

  CLI::App app(program.description, program.name);
  app.set_version_flag("--version", absl::StrCat(program.name, " ", program.version));
  app.footer(program.footer);
  app.require_subcommand(1);
  std::map<const CLI::App*, std::unique_ptr<Command>> commands;
  for (const auto& [info, make] : entries) {
    const std::string group = GroupOf(info.name);
    CLI::App& parent = group.empty() ? app : *app.get_subcommand(group);
    CLI::App& part = *parent.add_subcommand(LastWord(info.name), info.summary);
    if (!info.footer.empty()) part.footer(info.footer);
    if (make != nullptr) {
      commands.emplace(&part, make()).first->second->AddOptions(part);
    } else if (info.takes_words == nullptr) {
      part.require_subcommand(1);
    }
  }

  // CLI11 would say only that the argument was not expected.
  const std::vector<std::string> names = CommandNames(app);
  if (!words.empty() && !words[0].starts_with('-') && std::ranges::find(names, words[0]) == names.end()) {
    return ReportError(
        kWrongUsage, absl::StrCat(UnknownNameMessage("command", words[0], names), "; see `", program.name, " --help`"));
  }
  try {  // CLI11 throws, we do not
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    const absl::Status written = WriteStandardOutput(app.help());  // of the command that was asked for
    return written.ok() ? kSuccess : ReportError(kFailed, written);
  } catch (const CLI::CallForVersion& version) {
    const absl::Status written = WriteStandardOutput(absl::StrCat(version.what(), "\n"));
    return written.ok() ? kSuccess : ReportError(kFailed, written);
  } catch (const CLI::ParseError& error) {
    return WrongUsage(program.name, app, error);
  }

  const CLI::App* parsed = &app;
  while (!parsed->get_subcommands().empty()) parsed = parsed->get_subcommands().front();
  return commands.at(parsed)->Run();
}

}  // namespace heddle::tools
