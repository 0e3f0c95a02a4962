#include "tools/study/suite/result_store.h"

#include <google/protobuf/text_format.h>

#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "tools/inputs/trace_file.h"
#include "tools/study/sweep/folder.h"

namespace heddle::tools::suite {

namespace v1 = ::heddle::suite::v1;

std::string ResultStore::PathOf(const std::string& program, const std::string& size) const {
  return absl::StrCat(output_, "/results/", program, ".", size, ".textproto");
}

bool ResultStore::IsThere(const std::string& program, const std::string& size) const {
  std::error_code error;
  return std::filesystem::exists(PathOf(program, size), error);
}

std::optional<v1::ProgramResult> ResultStore::Find(const v1::ProgramResult& prepared) const {
  const absl::StatusOr<std::string> text = sweep::ReadWholeFile(PathOf(prepared.program(), prepared.size()));
  v1::ProgramResult kept;
  if (!text.ok() || !google::protobuf::TextFormat::ParseFromString(*text, &kept)) return std::nullopt;
  if (kept.key() != prepared.key() || kept.key().empty() || kept.trace().empty()) return std::nullopt;
  const auto reader = OpenTrace(absl::StrCat(output_, "/", kept.trace()));
  if (!reader.ok() || (*reader)->digest() != kept.trace_digest()) return std::nullopt;
  return kept;
}

absl::Status ResultStore::Keep(const v1::ProgramResult& result) const {
  std::string text;
  google::protobuf::TextFormat::PrintToString(result, &text);
  const std::string path = PathOf(result.program(), result.size());
  return sweep::WriteDurably(path, path + ".new", text);
}

}  // namespace heddle::tools::suite
