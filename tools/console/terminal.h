// What people see on standard error: errors, notes, progress.
#ifndef HEDDLE_TOOLS_CONSOLE_TERMINAL_H_
#define HEDDLE_TOOLS_CONSOLE_TERMINAL_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"

namespace heddle::tools {

// Exit statuses of `heddle`.
inline constexpr int kSuccess = 0;
inline constexpr int kFailed = 1;      // the run failed: a bad trace, a full disk, a kernel that a policy cannot run
inline constexpr int kWrongUsage = 2;  // the command line, or a file that it names, is wrong; nothing was run

// Prints "heddle: MESSAGE" on standard error, with further lines of it indented, and returns `exit_status`.
int ReportError(int exit_status, const std::string& message);
int ReportError(int exit_status, const absl::Status& status);

// Prints "heddle: note: MESSAGE".
void Note(const std::string& message);

// Columns of the terminal that standard output is; nothing if it is none.
std::optional<size_t> TerminalWidth();

// One line on standard error that is rewritten in place, at most ten times a second; nothing if that is no terminal.
class Progress {
 public:
  Progress(std::string label, bool wanted);
  ~Progress() { Clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void Update(uint64_t done, uint64_t total);
  // Wipes the line, before something else is printed.
  void Clear();

 private:
  std::string label_;
  bool enabled_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point last_;
};

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_CONSOLE_TERMINAL_H_
