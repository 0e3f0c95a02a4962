#include "tools/inputs/packed_file.h"

#include <google/protobuf/io/gzip_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <algorithm>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace heddle::tools {
namespace {

constexpr size_t kLeastBytes = 18;  // the header and the trailer (RFC 1952)

// What the last four bytes say of the size, modulo 2^32 (RFC 1952, ISIZE).
uint32_t SizeInTrailer(const std::string& packed) {
  uint32_t size = 0;
  for (size_t i = 1; i <= 4; ++i) size = size << 8 | static_cast<uint8_t>(packed[packed.size() - i]);
  return size;
}

}  // namespace

absl::StatusOr<std::string> Unpack(const std::string& packed, uint64_t most_bytes) {
  constexpr char kMagic[] = "\x1f\x8b";
  if (!absl::StartsWith(packed, kMagic)) return absl::InvalidArgumentError("is not compressed by gzip");
  if (packed.size() < kLeastBytes || packed.size() > std::numeric_limits<int>::max()) {
    return absl::InvalidArgumentError(absl::StrCat("has ", packed.size(), " bytes, which is no file of gzip"));
  }
  google::protobuf::io::ArrayInputStream bytes(packed.data(), static_cast<int>(packed.size()));
  google::protobuf::io::GzipInputStream stream(&bytes, google::protobuf::io::GzipInputStream::GZIP);
  std::string text;
  const void* part = nullptr;
  int size = 0;
  while (stream.Next(&part, &size)) {
    if (static_cast<uint64_t>(size) > most_bytes - text.size()) {
      return absl::InvalidArgumentError(absl::StrCat("unpacks to more than the ", most_bytes, " bytes that are read"));
    }
    text.append(static_cast<const char*>(part), static_cast<size_t>(size));
  }
  // The stream takes the end of the file for the end of the data, so that a file which is cut short is known by its
  // trailer alone.
  if (stream.ZlibErrorCode() < 0 || static_cast<uint32_t>(text.size()) != SizeInTrailer(packed)) {
    return absl::InvalidArgumentError("is a file of gzip that is damaged or cut short; get it again");
  }
  return text;
}

}  // namespace heddle::tools
