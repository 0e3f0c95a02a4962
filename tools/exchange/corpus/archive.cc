#include "tools/exchange/corpus/archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tools/exchange/corpus/bag.h"
#include "traces/base/status_macros.h"

namespace heddle::tools::corpus {
namespace {

namespace fs = std::filesystem;

constexpr size_t kBufferBytes = 1 << 16;

struct FreeWriter {
  void operator()(archive* writer) const { archive_write_free(writer); }
};
struct FreeReader {
  void operator()(archive* reader) const { archive_read_free(reader); }
};
struct FreeEntry {
  void operator()(archive_entry* entry) const { archive_entry_free(entry); }
};

std::string Reason(archive* handle) {
  const char* text = archive_error_string(handle);
  // Damage and misuse have numbers of the system too, whose texts would only mislead.
  const int number = archive_errno(handle);
  const bool of_system = number > 0 && number != EILSEQ && number != EINVAL;
  return absl::StrCat(text == nullptr ? "unknown error" : text, of_system ? absl::StrCat(": ", strerror(number)) : "");
}

absl::Status AddFile(archive* writer, const std::string& from, const std::string& name) {
  std::error_code error;
  const uintmax_t size = fs::file_size(from, error);
  std::ifstream file(from, std::ios::binary);
  if (error || !file) return absl::NotFoundError(absl::StrCat(from, ": cannot be read"));
  const std::unique_ptr<archive_entry, FreeEntry> entry(archive_entry_new());
  archive_entry_set_pathname(entry.get(), name.c_str());
  archive_entry_set_size(entry.get(), static_cast<int64_t>(size));
  archive_entry_set_filetype(entry.get(), AE_IFREG);
  archive_entry_set_perm(entry.get(), 0644);
  archive_entry_set_mtime(entry.get(), 0, 0);
  if (archive_write_header(writer, entry.get()) != ARCHIVE_OK) return absl::UnavailableError(Reason(writer));
  std::vector<char> buffer(kBufferBytes);
  uintmax_t written = 0;
  while (file.read(buffer.data(), static_cast<std::streamsize>(buffer.size())), file.gcount() > 0) {
    const auto count = static_cast<size_t>(file.gcount());
    if (archive_write_data(writer, buffer.data(), count) != static_cast<la_ssize_t>(count)) {
      return absl::UnavailableError(Reason(writer));
    }
    written += count;
  }
  if (written != size) return absl::DataLossError(absl::StrCat(from, ": changed while it was packed"));
  return absl::OkStatus();
}

// The contents of the entry that the reader is at. `left` is what the archive may still unpack to.
absl::Status WriteEntry(archive* reader, const std::string& path, uint64_t& left) {
  std::error_code error;
  fs::create_directories(fs::path(path).parent_path(), error);
  if (error) return absl::UnavailableError(absl::StrCat(path, ": cannot create its folder: ", error.message()));
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (file < 0) return absl::UnavailableError(absl::StrCat(path, ": cannot create the file: ", strerror(errno)));
  std::vector<char> buffer(kBufferBytes);
  absl::Status status;
  while (status.ok()) {
    const la_ssize_t got = archive_read_data(reader, buffer.data(), buffer.size());
    if (got == 0) break;
    if (got < 0) {
      status = absl::DataLossError(Reason(reader));
    } else if (static_cast<uint64_t>(got) > left) {
      status = absl::ResourceExhaustedError("would unpack to far more than its size: refused as a bomb");
    } else {
      left -= static_cast<uint64_t>(got);
      for (la_ssize_t done = 0; done < got && status.ok();) {
        const ssize_t written = write(file, buffer.data() + done, static_cast<size_t>(got - done));
        if (written < 0 && errno != EINTR) {
          status = absl::UnavailableError(absl::StrCat(path, ": cannot write: ", strerror(errno)));
        }
        if (written > 0) done += written;
      }
    }
  }
  if (close(file) != 0 && status.ok()) {
    status = absl::UnavailableError(absl::StrCat(path, ": cannot write: ", strerror(errno)));
  }
  return status;
}

}  // namespace

absl::Status PackTar(const std::string& folder, const std::string& top, const std::string& target) {
  HEDDLE_ASSIGN_OR_RETURN(const std::vector<std::string> files, FilesBelow(folder));
  const std::string temporary = absl::StrCat(target, ".tmp.", getpid());
  const std::unique_ptr<archive, FreeWriter> writer(archive_write_new());
  archive_write_set_format_pax_restricted(writer.get());
  absl::Status status;
  if (archive_write_open_filename(writer.get(), temporary.c_str()) != ARCHIVE_OK) {
    status = absl::UnavailableError(Reason(writer.get()));
  }
  for (size_t i = 0; i < files.size() && status.ok(); ++i) {
    status = AddFile(writer.get(), absl::StrCat(folder, "/", files[i]), absl::StrCat(top, "/", files[i]));
  }
  if (status.ok() && archive_write_close(writer.get()) != ARCHIVE_OK) {
    status = absl::UnavailableError(Reason(writer.get()));
  }
  if (status.ok() && rename(temporary.c_str(), target.c_str()) != 0) {
    status = absl::UnavailableError(strerror(errno));
  }
  if (status.ok()) return status;
  unlink(temporary.c_str());
  return absl::Status(status.code(), absl::StrCat(target, ": cannot be packed: ", status.message()));
}

absl::Status UnpackTar(const std::string& path, const std::string& folder, const UnpackLimits& limits) {
  const auto refuse = [&path](const absl::Status& why) {
    return absl::Status(why.code(), absl::StrCat(path, ": ", why.message()));
  };
  std::error_code error;
  const uintmax_t size = fs::file_size(path, error);
  if (error) return refuse(absl::NotFoundError(error.message()));
  const std::unique_ptr<archive, FreeReader> reader(archive_read_new());
  archive_read_support_format_tar(reader.get());
  archive_read_support_filter_gzip(reader.get());
  archive_read_support_filter_xz(reader.get());
  archive_read_support_filter_bzip2(reader.get());
  archive_read_support_filter_zstd(reader.get());
  if (archive_read_open_filename(reader.get(), path.c_str(), kBufferBytes) != ARCHIVE_OK) {
    return refuse(absl::DataLossError(absl::StrCat("is no tar: ", Reason(reader.get()))));
  }
  constexpr uint64_t kAlways = 1 << 20;
  uint64_t left = limits.bytes;
  if (size < limits.bytes / limits.ratio) left = std::min<uint64_t>(left, kAlways + size * limits.ratio);
  uint64_t files = 0;
  std::string top;
  std::set<std::string> seen;
  while (true) {
    archive_entry* entry = nullptr;
    const int got = archive_read_next_header(reader.get(), &entry);
    if (got == ARCHIVE_EOF) break;
    if (got != ARCHIVE_OK && got != ARCHIVE_WARN) return refuse(absl::DataLossError(Reason(reader.get())));
    const char* raw = archive_entry_pathname(entry);
    std::string name = raw == nullptr ? "" : raw;
    const bool is_folder = archive_entry_filetype(entry) == AE_IFDIR;
    while (is_folder && name.ends_with('/')) name.pop_back();
    if (absl::Status status = CheckPath(name); !status.ok()) return refuse(status);
    if (archive_entry_hardlink(entry) != nullptr || archive_entry_symlink(entry) != nullptr ||
        (archive_entry_filetype(entry) != AE_IFREG && !is_folder)) {
      return refuse(absl::DataLossError(absl::StrCat("\"", name, "\" is a link or a special file")));
    }
    const size_t slash = name.find('/');
    const std::string first = name.substr(0, slash);
    if (top.empty()) top = first;
    if (first != top) return refuse(absl::DataLossError("has files in more than one folder: it is no packed corpus"));
    if (++files > limits.files) return refuse(absl::ResourceExhaustedError("has too many entries: refused as a bomb"));
    if (is_folder) continue;
    if (slash == std::string::npos) return refuse(absl::DataLossError("has a file outside of its folder"));
    const std::string inside = name.substr(slash + 1);
    if (!seen.insert(inside).second) return refuse(absl::DataLossError(absl::StrCat("has \"", name, "\" twice")));
    if (absl::Status status = WriteEntry(reader.get(), absl::StrCat(folder, "/", inside), left); !status.ok()) {
      return refuse(status);
    }
  }
  if (seen.empty()) return refuse(absl::DataLossError("has no files: it is no packed corpus"));
  return absl::OkStatus();
}

}  // namespace heddle::tools::corpus
