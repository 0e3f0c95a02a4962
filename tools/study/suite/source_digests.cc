#include "tools/study/suite/source_digests.h"

#include "absl/strings/str_cat.h"
#include "tools/console/digest.h"
#include "tools/study/suite/source_tree.h"
#include "traces/base/status_macros.h"

namespace heddle::tools::suite {

absl::StatusOr<std::vector<std::string>> DifferingSources(const ::heddle::suite::v1::Suite& suite,
                                                          const std::string& source) {
  HEDDLE_ASSIGN_OR_RETURN(const SourceTree sources, SourceTree::Open(source));
  std::vector<std::string> lines;
  const auto compare = [&](const std::string& place, const absl::StatusOr<std::string>& there,
                           const std::string& wanted) {
    if (!there.ok()) {
      lines.push_back(absl::StrCat(place, ": ", there.status().message()));
    } else if (*there != wanted) {
      lines.push_back(absl::StrCat(place, ": the sources have sha256: \"", *there, "\""));
    }
  };
  for (const auto& program : suite.program()) {
    const std::string place = absl::StrCat("program ", program.name());
    if (!program.path().empty()) {
      compare(place, sources.Digest({program.path().begin(), program.path().end()}), program.sha256());
    }
    const auto& reference = program.reference();
    if (!reference.path().empty()) {
      compare(absl::StrCat(place, ": reference"), sources.Digest({reference.path().begin(), reference.path().end()}),
              reference.sha256());
    }
  }
  for (const auto& data : suite.data()) {
    if (data.from().empty()) continue;
    compare(absl::StrCat("data ", data.name()), Sha256OfFile(absl::StrCat(source, "/", data.from())), data.sha256());
  }
  return lines;
}

}  // namespace heddle::tools::suite
