// Where results go: standard output, or a file that appears under its name only when it is complete.
#ifndef HEDDLE_TOOLS_HEDDLE_OUTPUT_H_
#define HEDDLE_TOOLS_HEDDLE_OUTPUT_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace heddle::tools {

// Writes all of `text` to standard output. A reader that has gone away (`| head`) is not an error: the rest is dropped.
absl::Status WriteStandardOutput(const std::string& text);

// True once that has happened: a command with much to print may stop.
bool StandardOutputIsClosed();

// The result file of a run. Created before the run, so that a wrong folder is told at once and not after an hour.
class OutputFile {
 public:
  // "-" is standard output. A name that exists and is no regular file (a pipe, a device) is written to directly; else
  // the contents go to a temporary file beside it.
  static absl::StatusOr<OutputFile> Create(const std::string& path);
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  // Removes the temporary file if there was no Commit.
  ~OutputFile();

  absl::Status Write(const std::string& text);
  // Flushes to the disk and renames. Errors leave nothing under the final name.
  absl::Status Commit();

  bool is_standard_output() const { return path_ == "-"; }

 private:
  OutputFile(std::string path, std::string temporary, int file);
  absl::Status Failed(const char* what) const;  // from errno

  std::string path_;
  std::string temporary_;  // empty if written directly
  int file_ = -1;
};

// Makes Ctrl-C and the signal of `kill` remove the temporary file of an OutputFile and end the program with 130 or 143;
// makes a closed pipe an error of write instead of the end of the program. Called once, at the start.
void HandleSignals();

// The file that a signal removes from now on; empty = none. For writers that are no OutputFile.
void RemoveWhenInterrupted(const std::string& temporary);

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_HEDDLE_OUTPUT_H_
