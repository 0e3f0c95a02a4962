#include "traces/format/program/kernel_pattern.h"

#include <re2/re2.h>

#include "absl/strings/str_cat.h"

namespace heddle::trace {
namespace {

constexpr size_t kLongestShown = 80;  // characters of an expression in a message

// Whether a set in brackets holds [=a=] or [.a.], which RE2 would take for ordinary characters.
bool HasEquivalents(std::string_view expression) {
  bool in_set = false;
  for (size_t i = 0; i < expression.size(); ++i) {
    const char next = i + 1 < expression.size() ? expression[i + 1] : '\0';
    if (expression[i] == '\\') {
      ++i;
    } else if (!in_set && expression[i] == '[') {
      in_set = true;
      if (next == '^') ++i;
      if (i + 1 < expression.size() && expression[i + 1] == ']') ++i;  // in first place it does not end the set
    } else if (in_set && expression[i] == ']') {
      in_set = false;
    } else if (in_set && expression[i] == '[' && (next == '=' || next == '.')) {
      return true;
    } else if (in_set && expression[i] == '[' && next == ':') {
      const size_t end = expression.find(":]", i + 2);
      if (end == std::string_view::npos) return false;
      i = end + 1;
    }
  }
  return false;
}

}  // namespace

absl::StatusOr<KernelPattern> KernelPattern::Parse(const std::string& expression) {
  KernelPattern pattern;
  if (expression.empty()) return pattern;
  if (HasEquivalents(expression)) {
    return absl::InvalidArgumentError(absl::StrCat("\"", expression.substr(0, kLongestShown),
                                                   "\": [=a=] and [.a.] in a set are not supported; write a"));
  }
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_posix_syntax(true);
  options.set_encoding(re2::RE2::Options::EncodingLatin1);  // names are bytes
  options.set_never_capture(true);
  auto compiled = std::make_shared<const re2::RE2>(expression, options);
  if (!compiled->ok()) {
    const bool is_long = expression.size() > kLongestShown;
    return absl::InvalidArgumentError(
        absl::StrCat("\"", expression.substr(0, kLongestShown), is_long ? "..." : "",
                     "\": not a regular expression: ", compiled->error().substr(0, kLongestShown)));
  }
  pattern.compiled_ = std::move(compiled);
  return pattern;
}

bool KernelPattern::Matches(std::string_view name) const {
  return compiled_ == nullptr || re2::RE2::PartialMatch(re2::StringPiece(name.data(), name.size()), *compiled_);
}

}  // namespace heddle::trace
