// Recording the traces of a corpus from their sources.
#ifndef HEDDLE_TOOLS_EXCHANGE_CORPUS_BUILD_H_
#define HEDDLE_TOOLS_EXCHANGE_CORPUS_BUILD_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/exchange/corpus/crate.h"

namespace heddle::tools::corpus {

// What became of one trace.
struct BuiltTrace {
  std::string path;     // in data/
  std::string outcome;  // in words
  bool good = false;
  bool has_recipe = false;
};

// Records every trace with a recipe again with `capture`, a program that takes the arguments of `heddle capture`, and
// compares its digest with the described one. The corpus does not change.
absl::StatusOr<std::vector<BuiltTrace>> RebuildCorpus(const std::string& folder,
                                                      const std::vector<std::string>& capture);

struct BuildRequest {
  std::string folder;   // of the corpus; made if it is not there
  std::string kernels;  // folder with a folder NAME for each kernel: sources, and recipes of several sizes
  // tiny: NAME.tiny.textproto, small: NAME.textproto, large and paper: NAME.large.textproto, NAME.paper.textproto.
  std::string size = "tiny";
  std::string only;    // regular expression (POSIX extended) that a kernel's name must have a match of; empty = all
  uint32_t jobs = 1;   // recordings at once
  bool again = false;  // record what is up to date, too
  Crate::About about;  // of a new corpus
  std::vector<std::string> capture;
  std::function<void(uint64_t done, uint64_t total)> progress;
};
// Records the kernels that have a recipe of the size, each to data/traces/NAME.htrace with its folder in
// data/sources/NAME and what lies beside these folders in data/sources. Left alone are traces whose recording names the
// recipe and the source as they are now. Recordings go to FOLDER.building first: what was interrupted goes on with
// those that were complete. The corpus changes at the end, and is the same to the byte for the same kernels, date and
// capture, in however many steps it was built. Traces that cannot be recorded are told and left out. Refuses a second
// build of the same corpus at the same time.
absl::StatusOr<std::vector<BuiltTrace>> BuildCorpus(const BuildRequest& request);

}  // namespace heddle::tools::corpus

#endif  // HEDDLE_TOOLS_EXCHANGE_CORPUS_BUILD_H_
