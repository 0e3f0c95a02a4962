#include "tools/console/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "traces/base/printable.h"

namespace heddle::tools {

namespace {

// A message quotes names of files and of what is in them.
std::string Shown(const std::string& message) {
  // Reports have several lines; those behind the first are indented, so that they are seen to belong to it.
  return absl::StrReplaceAll(absl::StripTrailingAsciiWhitespace(PrintableText(message)), {{"\n", "\n  "}});
}

}  // namespace

int ReportError(int exit_status, const std::string& message) {
  std::fprintf(stderr, "heddle: %s\n", Shown(message).c_str());
  return exit_status;
}

int ReportError(int exit_status, const absl::Status& status) {
  return ReportError(exit_status, std::string(status.message()));
}

void Note(const std::string& message) { std::fprintf(stderr, "heddle: note: %s\n", Shown(message).c_str()); }

std::optional<size_t> TerminalWidth() {
  if (isatty(STDOUT_FILENO) == 0) return std::nullopt;
  constexpr size_t kUsualWidth = 80;
  struct winsize size = {};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kUsualWidth;
  return size.ws_col;
}

Progress::Progress(std::string label, bool wanted)
    : label_(std::move(label)),
      enabled_(wanted && isatty(STDERR_FILENO) != 0),
      start_(std::chrono::steady_clock::now()),
      last_(start_) {}

void Progress::Update(uint64_t done, uint64_t total) {
  if (!enabled_) return;
  const auto now = std::chrono::steady_clock::now();
  if (now - last_ < std::chrono::milliseconds(100)) return;
  last_ = now;
  const double share = total == 0 ? 0 : std::min(1.0, static_cast<double>(done) / static_cast<double>(total));
  const double seconds = std::chrono::duration<double>(now - start_).count();
  std::string line = absl::StrFormat("%s: %.0f %%", Printable(label_), 100 * share);
  if (seconds > 2 && share > 0.01) absl::StrAppendFormat(&line, ", %.0f s left", seconds / share * (1 - share));
  std::fprintf(stderr, "\r\033[K%s", line.c_str());
  shown_ = true;
}

void Progress::Clear() {
  if (shown_) std::fprintf(stderr, "\r\033[K");
  shown_ = false;
}

}  // namespace heddle::tools
