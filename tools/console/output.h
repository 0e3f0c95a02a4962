// Where results go: standard output, or a file that appears under its name only when it is complete.
#ifndef HEDDLE_TOOLS_CONSOLE_OUTPUT_H_
#define HEDDLE_TOOLS_CONSOLE_OUTPUT_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace heddle::tools {

// Writes all of `text` to standard output, with control characters other than line ends and tabs as escapes
// (traces/base/printable.h): what a trace, a result or a file name holds must not act on a terminal. A reader that
// has gone away (`| head`) is not an error: the rest is dropped.
absl::Status WriteStandardOutput(std::string_view text);

// True once that has happened: a command with much to print may stop.
bool StandardOutputIsClosed();

// Refuses an output that is one of the files which it is made from, whatever it is called: "--draw x: is the trace
// itself" for the option "--draw" and what = "the trace itself". "-" and devices never are.
absl::Status CheckNotAnInput(const std::string& option, const std::string& output,
                             const std::vector<std::string>& inputs, const std::string& what);

// Whether the file of that name, which need not exist, is the folder or in it, whatever links lead there.
bool IsInFolder(const std::string& path, const std::string& folder);

// An option and the file that it names; empty = not given.
struct NamedOutput {
  std::string option;
  std::string path;
};
// Refuses outputs of one command that would replace one another, or mix on standard output.
absl::Status CheckDifferentOutputs(const std::vector<NamedOutput>& outputs);

// The result file of a run. Created before the run, so that a wrong folder is told at once and not after an hour.
class OutputFile {
 public:
  // "-" is standard output. A name that exists and is no regular file (a pipe, a device) is written to directly; else
  // the contents go to a temporary file beside it, or beside what it leads to. InvalidArgument for a name that cannot
  // be a file's.
  static absl::StatusOr<OutputFile> Create(const std::string& path);
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  // Removes the temporary file if there was no Commit.
  ~OutputFile();

  // Text: to standard output as WriteStandardOutput does, to a file as it is.
  absl::Status Write(std::string_view text);
  // Bytes as they are, wherever they go: for what is no text.
  absl::Status WriteBytes(std::string_view bytes);
  // Flushes to the disk and renames. Errors leave nothing under the final name.
  absl::Status Commit();

  bool is_standard_output() const { return path_ == "-"; }
  // The file beside the final one that Commit will rename, for who fills it by its name instead of with Write; empty if
  // what is written goes to its place directly.
  const std::string& temporary() const { return temporary_; }

 private:
  OutputFile(std::string path, std::string temporary, int file);
  absl::Status Failed(const char* what) const;  // from errno

  std::string path_;
  std::string temporary_;  // empty if written directly
  int file_ = -1;
};

// Makes Ctrl-C and the signal of `kill` remove the temporary files of all OutputFiles and end the program with 130 or
// 143, telling that nothing was written if that is so; makes a crash do the same, with a line that names the run and
// the policy's call that it happened in, before it ends the program as it would have; makes a closed pipe an error of
// write instead of the end of the program. Called once, at the start.
void HandleSignals();

// While such an object lives, the first Ctrl-C, or signal of `kill`, is only noted, so that what is complete can be
// written; the second one ends the program at once. One at a time.
class NoteInterrupts {
 public:
  NoteInterrupts();
  ~NoteInterrupts();
  NoteInterrupts(const NoteInterrupts&) = delete;
  NoteInterrupts& operator=(const NoteInterrupts&) = delete;
  // The exit status of a program that was ended by the signal; 0 if none came.
  int status() const;
};

// The file that a signal removes from now on, too; empty = none. For the one writer that is no OutputFile. Once the
// file has its final name, a signal leaves it alone.
void RemoveWhenInterrupted(const std::string& temporary);

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_CONSOLE_OUTPUT_H_
