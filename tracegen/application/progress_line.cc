#include "tracegen/application/progress_line.h"

#include <cstdio>
#include <utility>

#include "absl/strings/str_format.h"

namespace heddle::tracegen {
namespace {

constexpr std::chrono::milliseconds kProgressStep(200);

}  // namespace

std::optional<double> ProgressLine::SecondsIfDue() const {
  const auto now = std::chrono::steady_clock::now();
  if (now - last_shown_ < kProgressStep) return std::nullopt;
  return std::chrono::duration<double>(now - start_).count();
}

void ProgressLine::Show(const std::string& text) {
  last_shown_ = std::chrono::steady_clock::now();
  is_shown_ = true;
  absl::FPrintF(stderr, "\r\033[K%s", text);
  std::fflush(stderr);
}

void ProgressLine::Clear() {
  if (std::exchange(is_shown_, false)) absl::FPrintF(stderr, "\r\033[K");
}

}  // namespace heddle::tracegen
