// What is said about a wrong command line.
#ifndef HEDDLE_TOOLS_CONSOLE_USAGE_ERRORS_H_
#define HEDDLE_TOOLS_CONSOLE_USAGE_ERRORS_H_

#include <CLI/CLI.hpp>
#include <string>

namespace heddle::tools {

// Why `app`, whose parsing has thrown `error`, cannot understand its command line. Of an option or a command that there
// is not, CLI11 would say that the argument was not expected: this names the one that was probably meant.
std::string UsageMessage(const CLI::App& app, const CLI::ParseError& error);

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_CONSOLE_USAGE_ERRORS_H_
