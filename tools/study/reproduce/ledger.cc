#include "tools/study/reproduce/ledger.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <map>

#include "absl/strings/str_cat.h"
#include "tools/study/sweep/folder.h"
#include "traces/base/proto_text.h"
#include "traces/base/sha256.h"
#include "traces/base/status_macros.h"

namespace heddle::tools::reproduce {

namespace v1 = claims::v1;

std::string ClaimDigest(const v1::Claim& claim) {
  v1::Claim judged = claim;
  for (v1::Term& term : *judged.mutable_order()) term.clear_label();
  judged.clear_where();
  judged.clear_statement();
  judged.clear_unit();
  judged.clear_decimals();
  judged.clear_suspect();
  judged.clear_remark();
  judged.clear_not_computed();
  judged.clear_headline();
  judged.clear_largest();
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    judged.SerializeToCodedStream(&coded);
  }
  return HexSha256(bytes);
}

absl::StatusOr<v1::Ledger> ReadLedger(const std::string& path) {
  HEDDLE_ASSIGN_OR_RETURN(const std::string text, sweep::ReadWholeFile(path));
  v1::Ledger ledger;
  if (const absl::Status status = ParseProtoText(text, ledger); !status.ok()) {
    return absl::Status(status.code(), absl::StrCat(path, ": ", status.message()));
  }
  return ledger;
}

absl::Status CheckAgainstLedger(const v1::Paper& paper, const v1::Ledger& ledger) {
  std::map<std::string, std::string> digests;
  for (const v1::Claim& claim : paper.claim()) digests[claim.id()] = ClaimDigest(claim);
  for (const v1::LedgerEntry& entry : ledger.entry()) {
    const auto found = digests.find(entry.claim());
    if (found == digests.end()) {
      return absl::InvalidArgumentError(absl::StrCat("claim ", entry.claim(), " of the ledger of ", ledger.date(),
                                                     " is gone: put it back, with not_computed if need be"));
    }
    if (found->second != entry.digest()) {
      return absl::InvalidArgumentError(absl::StrCat("claim ", entry.claim(), " is judged by something else than in ",
                                                     "the ledger of ", ledger.date(),
                                                     ": put it back, and add a claim of another name"));
    }
  }
  return absl::OkStatus();
}

}  // namespace heddle::tools::reproduce
