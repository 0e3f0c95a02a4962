// What a corpus says about itself: data/ro-crate-metadata.json, an RO-Crate 1.2 (https://w3id.org/ro/crate/1.2).
#ifndef HEDDLE_TOOLS_EXCHANGE_CORPUS_CRATE_H_
#define HEDDLE_TOOLS_EXCHANGE_CORPUS_CRATE_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "traces/format/read/reader.h"

namespace heddle::tools::corpus {

// A trace as the crate describes it.
struct DescribedTrace {
  std::string path;    // in data/
  std::string digest;  // of its contents (TraceReader::digest), not of the file
  std::string recipe;  // in data/; empty if the trace cannot be built
  std::string kernels;
  std::string license;
  uint64_t launches = 0;
  uint64_t threads = 0;
  uint64_t thread_instructions = 0;
};

// The identifier of a licence in the crate: an SPDX name becomes its page at spdx.org, an address stays.
std::string LicenseId(const std::string& license);

// Entities by "@id". Files are described by path, each with licence, size and SHA-256; each trace is the result of a
// CreateAction whose objects are its sources and the properties of its recording.
class Crate {
 public:
  struct About {
    std::string name;
    std::string description;
    std::string license;  // SPDX name or address; of whatever has no other
    std::string author;
    std::string date;  // YYYY-MM-DD
  };
  static Crate Create(const About& about);
  // Refuses what is no RO-Crate 1.2, entities without or with the same "@id", and files whose path leaves the folder.
  static absl::StatusOr<Crate> Parse(const std::string& text);
  // Indented, ends with a line end; entities in the order of their identifiers, whatever was described first.
  std::string Text() const;

  std::string name() const;
  std::string license() const;  // "@id" of the whole corpus's

  // Describes a file of data/, anew if it was described before.
  void SetFile(const std::string& path, uint64_t bytes, const std::string& sha256, const std::string& license);
  // And what the recording of a trace says about itself. `recipe` and `sources` are paths in data/; may be empty.
  void SetTrace(const std::string& path, const trace::TraceReader& trace, const std::string& recipe,
                const std::vector<std::string>& sources);

  std::vector<DescribedTrace> Traces() const;
  // Described files in a folder of data/, ascending.
  std::vector<std::string> FilesBelow(const std::string& folder) const;
  // SHA-256 that a file is described with; empty if it is not described.
  std::string FileDigest(const std::string& path) const;
  // Takes a file's description away, and that of its recording if it is a trace.
  void RemoveFile(const std::string& path);
  // Licence of a file; empty if it has none or is not described.
  std::string FileLicense(const std::string& path) const;

  // Compares with the files of data/ (paths from there): one line for each that is not described or has no licence, for
  // each described one that is not there, and for sizes and digests that differ. `folder` is data/.
  std::vector<std::string> Check(const std::string& folder, const std::vector<std::string>& files) const;

 private:
  using Json = nlohmann::ordered_json;
  Json* Find(std::string_view id);
  const Json* Find(std::string_view id) const;
  Json& Entity(const std::string& id);  // added if it is not there
  void AddLicense(const std::string& id);
  void AddReference(Json& entity, const char* member, const std::string& id);
  void RemoveEntity(const std::string& id);
  void RemoveReference(Json& entity, const char* member, const std::string& id);
  void RemoveRecording(const std::string& path);

  Json graph_ = Json::array();
};

inline constexpr char kMetadataFile[] = "ro-crate-metadata.json";

}  // namespace heddle::tools::corpus

#endif  // HEDDLE_TOOLS_EXCHANGE_CORPUS_CRATE_H_
