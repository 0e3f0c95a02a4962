#include "traces/format/container/replaceable.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "proto/trace.pb.h"
#include "traces/format/container/wire_format.h"

namespace heddle::trace {
namespace {

constexpr size_t kStartBytes = ZSTD_BLOCKSIZE_MAX + 64;  // a frame's header and its first block

absl::StatusOr<std::string> ReadStart(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return absl::PermissionDeniedError(strerror(errno));
  std::string start(kStartBytes, '\0');
  size_t size = 0;
  while (size < start.size()) {
    const ssize_t n = read(file, start.data() + size, start.size() - size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    size += static_cast<size_t>(n);
  }
  close(file);
  start.resize(size);
  return start;
}

// The first record of a trace is its header; anybody's compressed file starts otherwise.
bool StartsWithHeader(std::span<const uint8_t> record) {
  size_t at = 0;
  const auto takes = [&](uint8_t tag) {
    if (at >= record.size() || record[at] != tag) return false;
    ++at;
    return true;
  };
  const auto skip_number = [&] {
    while (at < record.size() && (record[at] & 0x80) != 0) ++at;
    ++at;
  };
  if (!takes(kRecordTag)) return false;
  skip_number();
  if (takes(kOrdinalTag)) skip_number();
  return takes(kHeaderTag);
}

bool StartsAsTrace(absl::string_view start) {
  uint32_t magic = 0;
  if (start.size() < sizeof(magic)) return false;
  for (size_t i = 0; i < sizeof(magic); ++i) magic |= uint32_t{static_cast<uint8_t>(start[i])} << (8 * i);
  if (magic != ZSTD_MAGICNUMBER) return false;
  const std::unique_ptr<ZSTD_DCtx, size_t (*)(ZSTD_DCtx*)> context(ZSTD_createDCtx(), ZSTD_freeDCtx);
  std::array<uint8_t, 32> record{};
  ZSTD_inBuffer in = {start.data(), start.size(), 0};
  ZSTD_outBuffer out = {record.data(), record.size(), 0};
  while (in.pos < in.size && out.pos < out.size) {
    const size_t before = in.pos + out.pos;
    if (ZSTD_isError(ZSTD_decompressStream(context.get(), &out, &in)) || in.pos + out.pos == before) break;
  }
  // A frame that gives nothing is damaged, and nobody can say any more whose it was.
  return out.pos == 0 || StartsWithHeader(std::span(record).first(out.pos));
}

}  // namespace

absl::Status CheckReplaceable(const std::string& path) {
  struct stat info{};
  if (stat(path.c_str(), &info) != 0) return absl::OkStatus();
  if (!S_ISREG(info.st_mode)) {
    return absl::InvalidArgumentError(absl::StrCat("cannot write ", path, ": it exists and is not a regular file"));
  }
  if (info.st_size == 0) return absl::OkStatus();
  const absl::StatusOr<std::string> start = ReadStart(path);
  if (start.ok() && StartsAsTrace(*start)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("cannot write ", path, ": a file of ", info.st_size, " bytes is there that ",
                   start.ok() ? "is no Heddle trace" : absl::StrCat("cannot be read (", start.status().message(), ")"),
                   "; choose another name, or remove it first"));
}

}  // namespace heddle::trace
