// A directory for the files of a program that is started: a compiler, an assembler.
#ifndef HEDDLE_TRACEGEN_SCRATCH_TEMPORARY_DIRECTORY_H_
#define HEDDLE_TRACEGEN_SCRATCH_TEMPORARY_DIRECTORY_H_

#include <string>
#include <tuple>

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"

namespace heddle::tracegen {

// Removed with everything in it at the end.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    if (llvm::sys::fs::createUniqueDirectory("heddle-compile", path_)) path_.clear();
  }
  ~TemporaryDirectory() {
    if (!path_.empty()) std::ignore = llvm::sys::fs::remove_directories(path_);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  // Whether it could be made.
  bool ok() const { return !path_.empty(); }
  std::string path() const { return std::string(path_); }
  std::string File(const std::string& name) const { return path() + "/" + name; }

 private:
  llvm::SmallString<128> path_;
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_SCRATCH_TEMPORARY_DIRECTORY_H_
