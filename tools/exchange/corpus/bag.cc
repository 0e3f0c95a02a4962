#include "tools/exchange/corpus/bag.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tools/console/digest.h"
#include "tools/console/output.h"
#include "traces/base/sha256.h"
#include "traces/base/status_macros.h"

namespace heddle::tools::corpus {
namespace {

namespace fs = std::filesystem;

constexpr char kDeclaration[] = "BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n";
constexpr uintmax_t kMostTextBytes = 64u << 20;

absl::Status WriteText(const std::string& path, const std::string& text) {
  HEDDLE_ASSIGN_OR_RETURN(OutputFile file, OutputFile::Create(path));
  HEDDLE_RETURN_IF_ERROR(file.Write(text));
  return file.Commit();
}

// "BYTES.FILES" of data/.
std::string Oxum(const std::string& folder, const std::vector<std::string>& files) {
  uintmax_t bytes = 0;
  for (const std::string& file : files) {
    std::error_code error;
    bytes += fs::file_size(fs::path(folder) / "data" / file, error);
  }
  return absl::StrCat(bytes, ".", files.size());
}

// Problems of the files of one manifest.
void CompareManifest(const std::string& folder, const std::string& name, const Manifest& manifest,
                     std::vector<std::string>& problems) {
  for (const auto& [path, digest] : manifest) {
    std::error_code error;
    if (!fs::is_regular_file(fs::symlink_status(fs::path(folder) / path, error))) {
      problems.push_back(absl::StrCat(path, ": is in ", name, " but not in the folder"));
      continue;
    }
    const absl::StatusOr<std::string> found = Sha256OfFile((fs::path(folder) / path).string());
    if (!found.ok()) {
      problems.push_back(std::string(found.status().message()));
    } else if (*found != digest) {
      problems.push_back(absl::StrCat(path, ": has checksum ", found->substr(0, 12), "..., ", name, " says ",
                                      digest.substr(0, 12), "...: it was changed or damaged"));
    }
  }
}

}  // namespace

absl::Status CheckPath(const std::string& path) {
  const auto refuse = [&path](const char* what) {
    std::string shown = path.substr(0, 80);
    std::ranges::replace_if(shown, [](unsigned char c) { return c < ' ' || c == 127; }, '?');
    return absl::DataLossError(absl::StrCat("the path \"", shown, "\" ", what));
  };
  if (path.empty()) return refuse("is empty");
  if (path.size() > 1000) return refuse("is longer than 1,000 bytes");
  if (path.front() == '/') return refuse("is absolute: it leaves the folder");
  for (const unsigned char c : path) {
    if (c < ' ' || c == 127 || c == '\\') return refuse("has a control character or a backslash");
  }
  for (const absl::string_view name : absl::StrSplit(path, '/')) {
    if (name == "..") return refuse("leaves the folder with \"..\"");
    if (name.empty() || name == ".") return refuse("has an empty or \".\" name in it");
  }
  return absl::OkStatus();
}

absl::Status CheckPortable(const std::string& path) {
  HEDDLE_RETURN_IF_ERROR(CheckPath(path));
  const bool portable = std::ranges::all_of(path, [](unsigned char c) {
    return absl::ascii_isalnum(c) || c == '.' || c == '_' || c == '-' || c == '+' || c == '/';
  });
  if (portable) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("the name \"", path, "\" has other characters than letters, digits and \"._-+\": rename the file"));
}

absl::StatusOr<std::vector<std::string>> FilesBelow(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  fs::recursive_directory_iterator it(folder, error);
  for (const fs::recursive_directory_iterator end; !error && it != end; it.increment(error)) {
    const fs::file_status status = it->symlink_status(error);
    const std::string path = it->path().lexically_relative(folder).generic_string();
    if (fs::is_directory(status)) continue;
    if (!fs::is_regular_file(status)) {
      return absl::DataLossError(absl::StrCat(folder, "/", path, ": is a link or a special file, not a plain file"));
    }
    files.push_back(path);
  }
  if (error) return absl::NotFoundError(absl::StrCat(folder, ": cannot be read: ", error.message()));
  std::ranges::sort(files);
  return files;
}

absl::StatusOr<std::string> ReadSmallFile(const std::string& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return absl::NotFoundError(absl::StrCat(path, ": is not there, or no file"));
  if (fs::file_size(path, error) > kMostTextBytes) {
    return absl::DataLossError(absl::StrCat(path, ": is larger than 64 MiB, which no text of a corpus is"));
  }
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) return absl::NotFoundError(absl::StrCat(path, ": cannot be read"));
  return std::move(text).str();
}

absl::StatusOr<Manifest> ReadManifest(const std::string& path) {
  HEDDLE_ASSIGN_OR_RETURN(const std::string text, ReadSmallFile(path));
  Manifest manifest;
  int line = 0;
  for (const absl::string_view entry : absl::StrSplit(text, '\n')) {
    ++line;
    if (entry.empty()) continue;
    const auto refuse = [&](absl::string_view what) {
      return absl::DataLossError(absl::StrCat(path, ", line ", line, ": ", what));
    };
    if (entry.size() < 67 || !IsSha256(std::string(entry.substr(0, 64))) || entry.substr(64, 2) != "  ") {
      return refuse("is not \"SHA-256  PATH\"");
    }
    const std::string name(entry.substr(66));
    if (const absl::Status status = CheckPath(name); !status.ok()) return refuse(status.message());
    if (!manifest.emplace(name, std::string(entry.substr(0, 64))).second) {
      return refuse(absl::StrCat("lists ", name, " a second time"));
    }
  }
  return manifest;
}

absl::Status SealBag(const std::string& folder, const std::vector<std::string>& info) {
  HEDDLE_ASSIGN_OR_RETURN(const std::vector<std::string> files, FilesBelow(folder + "/data"));
  std::string manifest;
  for (const std::string& file : files) {
    HEDDLE_RETURN_IF_ERROR(CheckPath(file));
    HEDDLE_ASSIGN_OR_RETURN(const std::string digest, Sha256OfFile(absl::StrCat(folder, "/data/", file)));
    absl::StrAppend(&manifest, digest, "  data/", file, "\n");
  }
  std::string information = absl::StrCat("Payload-Oxum: ", Oxum(folder, files), "\n");
  for (const std::string& line : info) absl::StrAppend(&information, line, "\n");
  std::string tags;
  for (const auto& [name, text] : std::map<std::string, std::string>{
           {"bag-info.txt", information}, {"bagit.txt", kDeclaration}, {"manifest-sha256.txt", manifest}}) {
    HEDDLE_RETURN_IF_ERROR(WriteText(absl::StrCat(folder, "/", name), text));
    absl::StrAppend(&tags, HexSha256(text), "  ", name, "\n");
  }
  return WriteText(folder + "/tagmanifest-sha256.txt", tags);
}

absl::StatusOr<std::vector<std::string>> CheckBag(const std::string& folder) {
  const absl::StatusOr<std::string> declaration = ReadSmallFile(folder + "/bagit.txt");
  if (!declaration.ok()) {
    return absl::NotFoundError(
        absl::StrCat(folder, ": is no corpus: it has no bagit.txt (`heddle corpus init` makes one)"));
  }
  std::vector<std::string> problems;
  if (*declaration != kDeclaration) problems.push_back("bagit.txt: is not that of a BagIt 1.0 bag in UTF-8");
  const absl::StatusOr<Manifest> manifest = ReadManifest(folder + "/manifest-sha256.txt");
  if (!manifest.ok()) return manifest.status();
  const absl::StatusOr<Manifest> tags = ReadManifest(folder + "/tagmanifest-sha256.txt");
  if (!tags.ok()) return tags.status();
  HEDDLE_ASSIGN_OR_RETURN(const std::vector<std::string> files, FilesBelow(folder));

  CompareManifest(folder, "tagmanifest-sha256.txt", *tags, problems);
  CompareManifest(folder, "manifest-sha256.txt", *manifest, problems);
  std::vector<std::string> payload;
  for (const std::string& file : files) {
    const bool in_payload = file.starts_with("data/");
    if (in_payload) payload.push_back(file.substr(5));
    if (file == "tagmanifest-sha256.txt" || (in_payload ? manifest : tags)->contains(file)) continue;
    problems.push_back(absl::StrCat(file, ": is in the folder but in no manifest"));
  }
  for (const auto& [path, digest] : *manifest) {
    if (!path.starts_with("data/")) problems.push_back(absl::StrCat(path, ": is in the manifest of data/"));
  }
  HEDDLE_ASSIGN_OR_RETURN(const std::string information, ReadSmallFile(folder + "/bag-info.txt"));
  const std::string oxum = absl::StrCat("Payload-Oxum: ", Oxum(folder, payload), "\n");
  if (information.find(oxum) == std::string::npos) {
    problems.push_back(absl::StrCat("bag-info.txt: its Payload-Oxum is not ", oxum.substr(14, oxum.size() - 15),
                                    ", bytes and files of data/"));
  }
  return problems;
}

absl::Status CopyFile(const std::string& from, const std::string& to) {
  const int input = open(from.c_str(), O_RDONLY | O_CLOEXEC);
  if (input < 0) return absl::NotFoundError(absl::StrCat(from, ": cannot be read: ", strerror(errno)));
  const int output = open(to.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  absl::Status status;
  const auto fail = [&status](const std::string& path, const char* what) {
    if (status.ok()) status = absl::UnavailableError(absl::StrCat(path, ": ", what, ": ", strerror(errno)));
  };
  if (output < 0) fail(to, "cannot create the file");
  std::vector<char> buffer(1 << 16);
  while (status.ok()) {
    const ssize_t got = read(input, buffer.data(), buffer.size());
    if (got == 0) break;
    if (got < 0 && errno != EINTR) fail(from, "cannot be read");
    for (ssize_t done = 0; done < got && status.ok();) {
      const ssize_t written = write(output, buffer.data() + done, static_cast<size_t>(got - done));
      if (written < 0 && errno != EINTR) fail(to, "cannot write");
      if (written > 0) done += written;
    }
  }
  close(input);
  if (output >= 0 && close(output) != 0) fail(to, "cannot write");
  return status;
}

}  // namespace heddle::tools::corpus
