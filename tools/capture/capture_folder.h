// Where the device processes of a captured program leave their traces, and how one trace is made of them.
#ifndef HEDDLE_TOOLS_CAPTURE_CAPTURE_FOLDER_H_
#define HEDDLE_TOOLS_CAPTURE_CAPTURE_FOLDER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tracegen/application/settings.h"

namespace heddle::tracegen {

// What one device process has left behind.
struct ProcessTrace {
  CaptureOutcome outcome;
  bool finished = false;   // it has told its outcome: it was not killed
  std::string trace;       // its file; empty if it has none
  std::string incomplete;  // what it had written when it stopped; empty if there is none
};

// A private folder beside the final trace, so that a rename completes it; removed with everything in it at the end.
class CaptureFolder {
 public:
  // It is locked as long as this object lives. Errors: the folder of `output` does not exist or may not be written;
  // `output` is something else than a file.
  static absl::StatusOr<std::unique_ptr<CaptureFolder>> Create(const std::string& output);
  ~CaptureFolder();
  CaptureFolder(const CaptureFolder&) = delete;
  CaptureFolder& operator=(const CaptureFolder&) = delete;

  const std::string& path() const { return path_; }  // absolute

  // Waits for all device processes, and returns what they left, in order of their start.
  std::vector<ProcessTrace> Collect() const;

 private:
  CaptureFolder(std::string path, int owner) : path_(std::move(path)), owner_(owner) {}
  std::string path_;
  int owner_;  // the file that is locked
};

// Removes the folders that captures of `output` have left which were killed, and returns what to tell about that, and
// about what captures of other traces have left beside it, which may be wanted. Empty if there is nothing to tell. What
// a capture or one of its device processes still uses, here or on another machine, is left alone.
std::vector<std::string> RemoveStaleFolders(const std::string& output);

// Moves the traces to `output`: one trace becomes that file, several are merged into it, in their order. If they cannot
// be merged (other targets or options of the compiler), they become `output`.1, `output`.2, ... (numbers of files that
// are no traces are left out): `files` gets the names.
absl::Status PlaceTraces(const std::vector<ProcessTrace>& traces, const std::string& output, int zstd_level,
                         unsigned threads, std::vector<std::string>* files);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TOOLS_CAPTURE_CAPTURE_FOLDER_H_
