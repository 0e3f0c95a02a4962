// Collections of traces on disk: what the subcommands of `heddle corpus` do. A corpus is a folder with a BagIt bag; its
// payload, data/, holds traces/, sources/, licence texts if they were added, and the RO-Crate that describes them all.
#ifndef HEDDLE_TOOLS_EXCHANGE_CORPUS_CORPUS_H_
#define HEDDLE_TOOLS_EXCHANGE_CORPUS_CORPUS_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tools/exchange/corpus/crate.h"

namespace heddle::tools::corpus {

// A new, empty corpus. Refuses a folder that is there and not empty, and a corpus without name, description or licence.
absl::Status InitCorpus(const std::string& folder, const Crate::About& about);

struct AddRequest {
  std::vector<std::string> files;  // .htrace goes to data/traces/, the rest to data/ below `under`
  std::string under = "sources";
  std::string license;  // SPDX name or address; empty = the corpus's own
  // A folder that is copied to data/sources/NAME with all it has, and the recipe in it that the traces were made from.
  std::string sources;
  std::string recipe;
  bool replaces_sources = false;  // what data/sources/NAME has besides goes away
};
// Copies and describes files, and seals the bag anew, once. A file of the same name is replaced. Traces must open. If
// one file cannot be added the corpus stays as it was. Returns the paths in data/ that were added.
absl::StatusOr<std::vector<std::string>> AddToCorpus(const std::string& folder, std::span<const AddRequest> requests);

// The description. NotFound if the folder is no corpus.
absl::StatusOr<Crate> ReadCrate(const std::string& folder);

// Checksums, descriptions, licences, and every trace as `heddle trace check` does. One line per problem; empty = good.
absl::StatusOr<std::vector<std::string>> VerifyCorpus(const std::string& folder);

// NAME.tar, NAME.tar.sha256 and NAME.ro-crate-metadata.json in the folder `target`, NAME from the corpus. Refuses a
// corpus that does not verify. Returns the path of the tar.
absl::StatusOr<std::string> PackCorpus(const std::string& folder, const std::string& target);

struct GetRequest {
  std::string source;  // folder, archive, or address of an archive
  std::string folder;  // new
  std::string sha256;  // of the archive; empty = not compared
  uint64_t most_bytes = uint64_t{1} << 40;
  std::function<void(uint64_t done, uint64_t total)> progress;
};
// Fetches, unpacks beside the new folder, verifies, and only then gives it its name. An interrupted download is resumed
// by the same call; an archive that does not verify is discarded.
absl::Status GetCorpus(const GetRequest& request);

}  // namespace heddle::tools::corpus

#endif  // HEDDLE_TOOLS_EXCHANGE_CORPUS_CORPUS_H_
