// Running other programs, and files that go away.
#ifndef HEDDLE_TOOLS_NVCC_PROCESS_H_
#define HEDDLE_TOOLS_NVCC_PROCESS_H_

#include <string>
#include <vector>

namespace heddle::nvcc {

using Command = std::vector<std::string>;

// Runs `command` and waits for it: its exit status, 128 + the signal that ended it, or 127 if it cannot be started
// (a message says so).
int Run(const Command& command);
// Run without the command's messages, and with what it prints in `output`.
int RunQuietly(const Command& command, std::string* output);

// `command` as a line for a shell.
std::string ShellText(const Command& command);
// `command` as nvcc -dryrun writes it, which build scripts take apart: files, and folders of headers and libraries, are
// in double quotes.
std::string NvccText(const Command& command);

// A folder for intermediate files, removed with everything in it at the end, unless `keep` names where to have them.
class WorkFolder {
 public:
  explicit WorkFolder(const std::string& keep);
  ~WorkFolder();
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;

  bool ok() const { return !path_.empty(); }
  const std::string& path() const { return path_; }
  std::string File(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
  bool temporary_;
};

}  // namespace heddle::nvcc

#endif  // HEDDLE_TOOLS_NVCC_PROCESS_H_
