#include "traces/format/kernel_pattern.h"

#include <re2/re2.h>

#include "absl/strings/str_cat.h"

namespace heddle::trace {
namespace {

constexpr size_t kLongestShown = 80;  // characters of an expression in a message

}  // namespace

absl::StatusOr<KernelPattern> KernelPattern::Parse(const std::string& expression) {
  KernelPattern pattern;
  if (expression.empty()) return pattern;
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
