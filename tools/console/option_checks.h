// What several options of the command line demand of their texts. CLI11 puts the option's name before the message.
#ifndef HEDDLE_TOOLS_CONSOLE_OPTION_CHECKS_H_
#define HEDDLE_TOOLS_CONSOLE_OPTION_CHECKS_H_

#include <CLI/CLI.hpp>
#include <cstdint>

namespace heddle::tools {

// Without a text an option would mean what it means when it is not there; it comes from a variable that is not set.
CLI::Validator NotEmpty();

// A whole number from `least` to `most`, which the help shows. CLI11's own checks read -5 as 2^64 - 5, and 010 as 8.
CLI::Validator WholeNumberFromTo(uint64_t least, uint64_t most);

// A whole number from 1 to 2^62.
CLI::Validator PositiveWholeNumber();

// A number from `least` to `most`. CLI11's Range lets "nan" pass.
CLI::Validator NumberFromTo(double least, double most);

// A day of the calendar as YYYY-MM-DD.
CLI::Validator CalendarDay();

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_CONSOLE_OPTION_CHECKS_H_
