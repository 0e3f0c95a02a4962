// Commands register themselves, each from its own file, as policies do; the program knows none of them by name.
#ifndef HEDDLE_TOOLS_CONSOLE_COMMAND_H_
#define HEDDLE_TOOLS_CONSOLE_COMMAND_H_

#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace heddle::tools {

// A command such as `heddle replay` or `heddle trace info`. To add one: write a file with a class that derives from
// Command and one HEDDLE_COMMAND registration.
class Command {
 public:
  virtual ~Command() = default;
  // Declares the options. `app` is the command's part of the command line; it and the command outlive the parsing and
  // Run.
  virtual void AddOptions(CLI::App& app) = 0;
  // Does what the options, which have been parsed, ask for. Prints results and errors itself and returns the exit
  // status of the program.
  virtual int Run() = 0;
};

// How a command shows itself.
struct CommandInfo {
  std::string name = {};     // "replay"; "trace info" for a command of the group "trace"
  int place = 0;             // in the list of commands that --help prints, ascending
  std::string summary = {};  // one line
  std::string footer = {};   // what --help ends with
  // If there: everything behind the command belongs to it, --help and signals included. It is called with these words
  // before anything is parsed, and returns the exit status.
  int (*takes_words)(const std::vector<std::string>& words) = nullptr;
};

// All commands that are linked into the program.
class CommandRegistry {
 public:
  using Factory = std::unique_ptr<Command> (*)();
  struct Entry {
    CommandInfo info;
    Factory make;  // null: a group, of whose commands one has to be named
  };

  static CommandRegistry& Get();
  // Called before main.
  bool Add(CommandInfo info, Factory make);
  // Groups before their commands; commands of a group by their places.
  std::vector<Entry> InOrder() const;

 private:
  std::vector<Entry> entries_;
};

// What --help says of the program as a whole.
struct ProgramInfo {
  std::string name;
  std::string version;
  std::string description;
  std::string footer;
};

// Parses the command line and runs the command that it names. Returns the exit status of the program.
int RunProgram(const ProgramInfo& program, int argc, char** argv);

}  // namespace heddle::tools

// HEDDLE_COMMAND(Class, .name = "trace info", .place = 1, .summary = "..."): one in a file.
#define HEDDLE_COMMAND(Class, ...)                                                                        \
  [[maybe_unused]] static const bool Class##_is_registered = ::heddle::tools::CommandRegistry::Get().Add( \
      ::heddle::tools::CommandInfo{__VA_ARGS__},                                                          \
      []() -> std::unique_ptr<::heddle::tools::Command> { return std::make_unique<Class>(); })
// HEDDLE_COMMAND for a name that only has commands below it, or that takes all words.
#define HEDDLE_COMMAND_GROUP(...)                                  \
  [[maybe_unused]] static const bool command_group_is_registered = \
      ::heddle::tools::CommandRegistry::Get().Add(::heddle::tools::CommandInfo{__VA_ARGS__}, nullptr)

#endif  // HEDDLE_TOOLS_CONSOLE_COMMAND_H_
