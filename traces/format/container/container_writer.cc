#include "traces/format/container/container_writer.h"

#include <fcntl.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "traces/base/link_target.h"
#include "traces/base/status_macros.h"
#include "traces/format/container/replaceable.h"
#include "traces/format/container/shared_frames.h"
#include "traces/format/container/wire_format.h"
#include "traces/format/limits.h"

namespace heddle::trace {
namespace {

absl::Status SystemError(absl::string_view what, absl::string_view path, int error) {
  std::string message = absl::StrCat("cannot ", what, " ", path, ": ", strerror(error));
  if (error == ENOSPC || error == EDQUOT || error == EFBIG) {
    return absl::ResourceExhaustedError(absl::StrCat(message, "; free some space or choose another directory"));
  }
  return error == ENOENT ? absl::NotFoundError(message) : absl::UnavailableError(message);
}

std::string DirectoryOf(const std::string& path) {
  size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

absl::StatusOr<std::unique_ptr<ContainerWriter>> ContainerWriter::Create(const std::string& path, int zstd_level,
                                                                         unsigned threads) {
  if (zstd_level < ZSTD_minCLevel() || zstd_level > ZSTD_maxCLevel()) {
    return absl::InvalidArgumentError(absl::StrCat("compression level ", zstd_level, " is not between ",
                                                   ZSTD_minCLevel(), " and ", ZSTD_maxCLevel()));
  }
  HEDDLE_RETURN_IF_ERROR(CheckReplaceable(path));
  const std::string target = LinkTarget(path);
  for (int attempt = 0; attempt < 100; ++attempt) {
    std::string temporary = absl::StrCat(target, ".tmp-", getpid());
    if (attempt > 0) absl::StrAppend(&temporary, "-", attempt);
    int fd = open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0) {
      return std::unique_ptr<ContainerWriter>(
          new ContainerWriter(target, std::move(temporary), fd, zstd_level, threads));
    }
    if (errno != EEXIST) return SystemError("create", temporary, errno);
  }
  return absl::AlreadyExistsError(absl::StrCat("cannot create a temporary file beside ", target, ": remove ", target,
                                               ".tmp-* that earlier runs left"));
}

ContainerWriter::ContainerWriter(std::string path, std::string temporary, int fd, int zstd_level, unsigned threads)
    : path_(std::move(path)),
      temporary_(std::move(temporary)),
      fd_(fd),
      compressor_(zstd_level, threads,
                  [this](absl::string_view compressed, size_t raw_bytes) {
                    frames_.push_back({static_cast<uint32_t>(compressed.size()), static_cast<uint32_t>(raw_bytes)});
                    return WriteAll(compressed.data(), compressed.size());
                  }),
      joiner_([this](absl::string_view raw, size_t records) {
        const uint64_t first = frame_count_ + shared_.size();
        for (size_t i = 1; i < records; ++i) shared_.push_back(first + i);
        ++frame_count_;
        return compressor_.Add(raw);
      }) {}

ContainerWriter::~ContainerWriter() {
  if (fd_ >= 0) {
    close(fd_);
    unlink(temporary_.c_str());
  }
}

absl::Status ContainerWriter::WriteAll(const char* data, size_t size) {
  while (size > 0) {
    ssize_t n = write(fd_, data, size);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return SystemError("write", temporary_, errno);
    data += n;
    size -= static_cast<size_t>(n);
    bytes_ += static_cast<uint64_t>(n);
  }
  return absl::OkStatus();
}

absl::Status ContainerWriter::CheckCount() const {
  if (records_ < kMaxFrames) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(path_, ": the format allows ", kMaxFrames, " records at most"));
}

absl::Status ContainerWriter::Append(v1::Record& record) {
  HEDDLE_RETURN_IF_ERROR(CheckCount());
  record.set_ordinal(records_);
  const size_t body = record.ByteSizeLong();
  if (body + 6 > kMaxRecordBytes) {
    return absl::ResourceExhaustedError(absl::StrCat("record ", records_, " of ", path_, " takes ", body,
                                                     " bytes, the limit of the format is ", kMaxRecordBytes));
  }
  using google::protobuf::io::CodedOutputStream;
  const size_t head = 1 + CodedOutputStream::VarintSize32(static_cast<uint32_t>(body));
  raw_.resize(head + body);
  uint8_t* out = reinterpret_cast<uint8_t*>(raw_.data());
  *out++ = kRecordTag;
  out = CodedOutputStream::WriteVarint32ToArray(static_cast<uint32_t>(body), out);
  {
    // Maps have no order of their own; the same trace must have the same bytes.
    google::protobuf::io::ArrayOutputStream array(out, static_cast<int>(body));
    CodedOutputStream coded(&array);
    coded.SetSerializationDeterministic(true);
    record.SerializeWithCachedSizes(&coded);
  }
  ++records_;
  sha_.Update(raw_.data(), raw_.size());
  if (record.has_chunk()) return joiner_.Add(raw_);
  HEDDLE_RETURN_IF_ERROR(joiner_.Close());
  ++frame_count_;
  return compressor_.Add(raw_);
}

absl::Status ContainerWriter::AppendRaw(absl::string_view raw) {
  HEDDLE_RETURN_IF_ERROR(CheckCount());
  ++records_;
  sha_.Update(raw.data(), raw.size());
  ++frame_count_;
  return compressor_.Add(raw);
}

absl::Status ContainerWriter::NumberFrames(v1::Index& index) {
  HEDDLE_RETURN_IF_ERROR(joiner_.Close());
  RecordsToFrames(shared_, index);
  auto& features = *index.mutable_required_feature();
  features.erase(std::remove(features.begin(), features.end(), kSharedFrameFeature), features.end());
  if (!shared_.empty()) *features.Add() = kSharedFrameFeature;
  return absl::OkStatus();
}

absl::Status ContainerWriter::CutBack(const Mark& mark) {
  joiner_.Discard();
  HEDDLE_RETURN_IF_ERROR(compressor_.Flush());
  while (frames_.size() > mark.frames) {
    bytes_ -= frames_.back().compressed;
    frames_.pop_back();
  }
  if (ftruncate(fd_, static_cast<off_t>(bytes_)) != 0 || lseek(fd_, 0, SEEK_END) < 0) {
    return SystemError("shorten", temporary_, errno);
  }
  records_ = mark.records;
  frame_count_ = mark.frames;
  while (!shared_.empty() && shared_.back() >= mark.records) shared_.pop_back();
  sha_ = mark.sha;
  return absl::OkStatus();
}

std::string ContainerWriter::ContentDigest() { return sha_.Finish(); }

absl::Status ContainerWriter::Commit() {
  HEDDLE_RETURN_IF_ERROR(compressor_.Flush());
  const std::string table = EncodeSeekTable(frames_);
  HEDDLE_RETURN_IF_ERROR(WriteAll(table.data(), table.size()));
  if (fsync(fd_) != 0) return SystemError("write", temporary_, errno);
  const int fd = std::exchange(fd_, -1);
  if (close(fd) != 0 || rename(temporary_.c_str(), path_.c_str()) != 0) {
    const int error = errno;
    unlink(temporary_.c_str());
    return SystemError("complete", path_, error);
  }
  // The name itself must reach the disk too; a file system that cannot do that is no reason to fail.
  const int directory = open(DirectoryOf(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory >= 0) {
    (void)fsync(directory);
    close(directory);
  }
  return absl::OkStatus();
}

}  // namespace heddle::trace
