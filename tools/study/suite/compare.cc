#include "tools/study/suite/compare.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "traces/base/printable.h"
#include "traces/base/status_macros.h"
#include "traces/format/program/kernel_pattern.h"

namespace heddle::tools::suite {
namespace {

using ::heddle::suite::v1::Check;
using ::heddle::suite::v1::Compare;
using trace::KernelPattern;

absl::Status Wrong(const std::string& what) { return absl::FailedPreconditionError(what); }

std::string Shown(std::string_view text) { return Printable(CutText(text, 60)); }

constexpr std::string_view kBetween = " \t\r,;=";  // what is between words

// Takes the first line of a text away, and returns it without its end.
std::string_view TakeLine(std::string_view& text) {
  const size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

// A word of a text, and its number if it is one. Signs of punctuation at its ends do not count.
struct Word {
  std::string_view text;
  std::optional<double> number;
};

Word ReadWord(std::string_view text) {
  constexpr std::string_view kPunctuation = ",;:()[]{}=";
  Word word;
  const size_t first = text.find_first_not_of(kPunctuation);
  if (first == std::string_view::npos) return {text, std::nullopt};
  word.text = text.substr(first, text.find_last_not_of(kPunctuation) + 1 - first);
  double number = 0;
  const char start = word.text.front();
  // Words such as "inf" and "nan" are numbers to a parser, too; "info" and "nano" are not.
  if ((absl::ascii_isalnum(static_cast<unsigned char>(start)) || start == '-' || start == '+' || start == '.') &&
      absl::SimpleAtod(std::string(word.text), &number)) {
    word.number = number;
  }
  return word;
}

absl::StatusOr<std::vector<Word>> ReadWords(const Compare& compare, const std::string& lines, const std::string& text) {
  HEDDLE_ASSIGN_OR_RETURN(const KernelPattern wanted, KernelPattern::Parse(lines));
  HEDDLE_ASSIGN_OR_RETURN(const KernelPattern unwanted, KernelPattern::Parse(compare.without()));
  std::vector<Word> words;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string_view line = TakeLine(rest);
    if (!wanted.Matches(line) || (!compare.without().empty() && unwanted.Matches(line))) continue;
    for (size_t at = line.find_first_not_of(kBetween); at != std::string_view::npos;) {
      const size_t end = line.find_first_of(kBetween, at);
      Word word = ReadWord(line.substr(at, end == std::string_view::npos ? end : end - at));
      at = line.find_first_not_of(kBetween, end);
      if (!compare.only_numbers() || word.number.has_value()) words.push_back(word);
    }
  }
  return words;
}

bool IsNear(const Compare& compare, double given, double right) {
  if (!std::isfinite(given) || !std::isfinite(right)) return false;
  const double difference = std::abs(given - right);
  return difference <= compare.absolute() ||
         difference <= compare.relative() * std::max(std::abs(given), std::abs(right));
}

// Counts differences, and keeps the first in words.
class Differences {
 public:
  void Add(const std::string& text) {
    if (count_++ == 0) first_ = text;
  }
  absl::Status Judge(uint64_t all, double allowed) const {
    if (static_cast<double>(count_) <= allowed * static_cast<double>(all)) return absl::OkStatus();
    return Wrong(absl::StrCat(count_, " of ", all, " differ, the first: ", first_));
  }

 private:
  uint64_t count_ = 0;
  std::string first_;
};

absl::Status CompareText(const Compare& compare, const std::string& given, const std::string& right) {
  HEDDLE_ASSIGN_OR_RETURN(const std::vector<Word> ours, ReadWords(compare, compare.lines(), given));
  const std::string& lines = compare.reference_lines().empty() ? compare.lines() : compare.reference_lines();
  HEDDLE_ASSIGN_OR_RETURN(const std::vector<Word> theirs, ReadWords(compare, lines, right));
  if (ours.size() != theirs.size() || ours.empty()) {
    return Wrong(absl::StrCat(ours.size(), " words to compare with ", theirs.size()));
  }
  Differences differences;
  for (size_t i = 0; i < ours.size(); ++i) {
    const bool numbers = ours[i].number.has_value() && theirs[i].number.has_value();
    if (numbers && IsNear(compare, *ours[i].number, *theirs[i].number)) continue;
    if (!numbers && ours[i].text == theirs[i].text) continue;
    differences.Add(absl::StrCat("word ", i, ": ", Shown(ours[i].text), " for ", Shown(theirs[i].text)));
  }
  return differences.Judge(ours.size(), compare.differing());
}

absl::Status CompareFloats(const Compare& compare, const std::string& given, const std::string& right) {
  if (given.size() != right.size() || given.empty() || given.size() % sizeof(float) != 0) {
    return Wrong(absl::StrCat(given.size(), " bytes to compare with ", right.size(), ", as numbers of four"));
  }
  Differences differences;
  const size_t count = given.size() / sizeof(float);
  for (size_t i = 0; i < count; ++i) {
    float ours = 0;
    float theirs = 0;
    std::memcpy(&ours, given.data() + i * sizeof(float), sizeof(float));
    std::memcpy(&theirs, right.data() + i * sizeof(float), sizeof(float));
    if (!IsNear(compare, ours, theirs)) differences.Add(absl::StrCat("number ", i, ": ", ours, " for ", theirs));
  }
  return differences.Judge(count, compare.differing());
}

absl::Status CompareBytes(const std::string& given, const std::string& right) {
  if (given.size() != right.size() || given.empty()) {
    return Wrong(absl::StrCat(given.size(), " bytes to compare with ", right.size()));
  }
  const auto [ours, theirs] = std::ranges::mismatch(given, right);
  if (ours == given.end()) return absl::OkStatus();
  return Wrong(absl::StrCat("byte ", ours - given.begin(), " differs"));
}

}  // namespace

absl::Status CheckLines(const Check& check, const std::string& text) {
  std::vector<std::string_view> lines;
  for (std::string_view rest = text; !rest.empty();) lines.push_back(TakeLine(rest));
  for (const std::string& expression : check.has()) {
    HEDDLE_ASSIGN_OR_RETURN(const KernelPattern pattern, KernelPattern::Parse(expression));
    if (std::ranges::none_of(lines, [&](std::string_view line) { return pattern.Matches(line); })) {
      return Wrong(absl::StrCat("no line that it printed matches ", expression));
    }
  }
  for (const std::string& expression : check.lacks()) {
    HEDDLE_ASSIGN_OR_RETURN(const KernelPattern pattern, KernelPattern::Parse(expression));
    for (const std::string_view line : lines) {
      if (pattern.Matches(line)) return Wrong(absl::StrCat("it printed \"", Shown(line), "\""));
    }
  }
  return absl::OkStatus();
}

absl::Status CompareContents(const Compare& compare, const std::string& given, const std::string& right) {
  switch (compare.format()) {
    case ::heddle::suite::v1::BYTES:
      return CompareBytes(given, right);
    case ::heddle::suite::v1::FLOATS:
      return CompareFloats(compare, given, right);
    default:
      return CompareText(compare, given, right);
  }
}

}  // namespace heddle::tools::suite
