#include "tests/fuzz/ptx_input.h"

#include <cstdio>
#include <cstdlib>

#include "tracegen/ptx/syntax/parse.h"
#include "tracegen/ptx/syntax/print.h"
#include "traces/base/printable.h"

namespace heddle::tracegen::ptx {
namespace {

void Require(bool holds, const char* rule, const std::string& text) {
  if (holds) return;
  std::fprintf(stderr, "%s:\n%s\n", rule, PrintableText(text).c_str());
  std::abort();
}

}  // namespace

bool ReadHostilePtx(const std::string& input) {
  ParseOptions options;
  options.limits.nodes = 1u << 18;
  options.keep_comments = !input.empty() && input.back() % 2 == 0;
  const bool is_inline = !input.empty() && input[0] == 'I';
  const absl::StatusOr<Module> first =
      is_inline ? ParseInline(input.substr(1), nullptr, options) : ParseModule(input, options);
  if (!first.ok()) {
    const std::string message(first.status().message());
    Require(IsPrintable(message) && message.size() < 1000, "a message that must not be shown", message);
    return false;
  }
  const std::string printed = Print(*first);
  if (is_inline) return true;  // a module without a head is no text
  options.keep_comments = false;
  const absl::StatusOr<Module> second = ParseModule(printed, options);
  Require(second.ok(), "what is printed cannot be read", printed + std::string(second.status().message()));
  options.keep_comments = true;
  Require(ParseModule(printed, options).ok(), "what is printed cannot be read with its comments", printed);
  const std::string again = Print(*second);
  const absl::StatusOr<Module> third = ParseModule(again);
  Require(third.ok() && Print(*third) == again, "what is printed reads to another tree", printed);
  return true;
}

}  // namespace heddle::tracegen::ptx
