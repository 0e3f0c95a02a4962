#include "tools/console/option_checks.h"

#include <algorithm>
#include <chrono>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace heddle::tools {
namespace {

bool IsDigits(absl::string_view text) { return !text.empty() && std::ranges::all_of(text, absl::ascii_isdigit); }

bool IsWholeNumber(absl::string_view text, uint64_t least, uint64_t most) {
  uint64_t number = 0;
  // CLI11 would read what has a leading 0 as octal afterwards.
  return IsDigits(text) && (text[0] != '0' || text.size() == 1) && absl::SimpleAtoi(text, &number) && number >= least &&
         number <= most;
}

bool IsCalendarDay(absl::string_view text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return false;
  int year = 0;
  unsigned month = 0;
  unsigned day = 0;
  if (!IsDigits(text.substr(0, 4)) || !absl::SimpleAtoi(text.substr(0, 4), &year) || !IsDigits(text.substr(5, 2)) ||
      !absl::SimpleAtoi(text.substr(5, 2), &month) || !IsDigits(text.substr(8)) ||
      !absl::SimpleAtoi(text.substr(8), &day)) {
    return false;
  }
  return std::chrono::year_month_day(std::chrono::year(year), std::chrono::month(month), std::chrono::day(day)).ok();
}

}  // namespace

CLI::Validator NotEmpty() {
  return CLI::Validator([](std::string& text) { return text.empty() ? std::string("an empty text") : ""; }, "");
}

CLI::Validator WholeNumberFromTo(uint64_t least, uint64_t most) {
  return CLI::Validator(
      [least, most](std::string& text) -> std::string {
        if (IsWholeNumber(text, least, most)) return "";
        return absl::StrCat("\"", text, "\" is no whole number from ", least, " to ", most);
      },
      absl::StrCat("from ", least, " to ", most));
}

CLI::Validator PositiveWholeNumber() {
  return CLI::Validator(
      [](std::string& text) -> std::string {
        if (IsWholeNumber(text, 1, uint64_t{1} << 62)) return "";
        return absl::StrCat("\"", text, "\" is no whole number from 1 to 2^62");
      },
      "");
}

CLI::Validator NumberFromTo(double least, double most) {
  return CLI::Validator(
      [least, most](std::string& text) -> std::string {
        double number = 0;
        if (absl::SimpleAtod(text, &number) && number >= least && number <= most) return "";
        return absl::StrCat("\"", text, "\" is no number from ", least, " to ", most);
      },
      "");
}

CLI::Validator CalendarDay() {
  return CLI::Validator(
      [](std::string& text) -> std::string {
        if (IsCalendarDay(text)) return "";
        return absl::StrCat("\"", text, "\" is no day written YYYY-MM-DD");
      },
      "");
}

}  // namespace heddle::tools
