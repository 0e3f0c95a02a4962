#include "traces/format/container/frame_scan.h"

#include <zstd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "traces/base/status_macros.h"
#include "traces/format/limits.h"

namespace heddle::trace {
namespace {

constexpr uint64_t kLargestHeader = 18;  // RFC 8878, section 3.1.1.1
constexpr uint64_t kSmallestFrame = 9;   // magic, descriptor, size, one empty block
constexpr uint64_t kChecksumBytes = 4;
// Steps from block to block before a file is given up: hostile bytes may look like the start of a long frame
// everywhere.
constexpr uint64_t kMostSteps = uint64_t{1} << 24;

uint32_t LittleEndian(const char* from, int bytes) {
  uint32_t value = 0;
  for (int i = 0; i < bytes; ++i) value |= static_cast<uint32_t>(static_cast<uint8_t>(from[i])) << (8 * i);
  return value;
}

class FrameScanner {
 public:
  explicit FrameScanner(const ByteSource& source) : source_(source), end_(source.size()) {}

  absl::StatusOr<ScannedFrames> Run() {
    for (uint64_t at = 0; at < end_ && !out_.has_seek_table;) {
      FoundFrame frame{at, {}};
      HEDDLE_ASSIGN_OR_RETURN(bool found, FrameAt(at, frame));
      if (found) {
        if (out_.frames.size() == kMaxFrames) {
          return absl::DataLossError(absl::StrCat("more than ", kMaxFrames, " frames"));
        }
        out_.frames.push_back(frame);
        at += frame.entry.compressed;
      } else if (!out_.has_seek_table) {
        HEDDLE_ASSIGN_OR_RETURN(uint64_t next, NextMagic(at + 1));
        out_.lost.push_back({at, next - at});
        at = next;
      }
    }
    if (out_.frames.empty()) return absl::DataLossError("no frame of a trace is in it");
    return std::move(out_);
  }

 private:
  absl::Status Read(uint64_t at, std::span<char> out) const { return source_.Read(at, out); }

  // True if a frame with content size starts at `at` and ends within the file.
  absl::StatusOr<bool> FrameAt(uint64_t at, FoundFrame& frame) {
    std::array<char, kLargestHeader> header{};
    const uint64_t size = std::min<uint64_t>(header.size(), end_ - at);
    if (size < 4) return false;
    HEDDLE_RETURN_IF_ERROR(Read(at, std::span(header).first(size)));
    const uint32_t magic = LittleEndian(header.data(), 4);
    if (magic == kSkippableMagic && size >= 8 && at + 8 + LittleEndian(header.data() + 4, 4) == end_) {
      out_.has_seek_table = true;
      return false;
    }
    if (magic != ZSTD_MAGICNUMBER || size < kSmallestFrame) return false;
    const unsigned long long content = ZSTD_getFrameContentSize(header.data(), size);
    if (content == ZSTD_CONTENTSIZE_ERROR || content == ZSTD_CONTENTSIZE_UNKNOWN || content > kMaxRecordBytes) {
      return false;
    }
    const uint8_t descriptor = static_cast<uint8_t>(header[4]);
    const bool single_segment = (descriptor & 0x20) != 0;
    constexpr int kDictionaryBytes[] = {0, 1, 2, 4};
    const int content_bytes = descriptor >> 6 == 0 ? (single_segment ? 1 : 0) : 1 << (descriptor >> 6);
    uint64_t next = at + 5 + (single_segment ? 0 : 1) + static_cast<uint64_t>(kDictionaryBytes[descriptor & 3]) +
                    static_cast<uint64_t>(content_bytes);
    for (bool last = false; !last;) {
      std::array<char, 3> block{};
      if (next + block.size() > end_) return false;
      if (++steps_ > kMostSteps) return absl::DataLossError("too much of it is damaged to look for frames");
      HEDDLE_RETURN_IF_ERROR(Read(next, block));
      const uint32_t bits = LittleEndian(block.data(), 3);
      last = (bits & 1) != 0;
      constexpr uint32_t kRepeated = 1, kReserved = 3;
      const uint32_t type = bits >> 1 & 3;
      if (type == kReserved) return false;
      next += block.size() + (type == kRepeated ? 1 : bits >> 3);
      if (next - at > ZSTD_compressBound(kMaxRecordBytes)) return false;
    }
    if ((descriptor & 0x04) != 0) next += kChecksumBytes;
    if (next > end_) return false;
    frame.entry = {static_cast<uint32_t>(next - at), static_cast<uint32_t>(content)};
    return true;
  }

  // The next place from `at` on where the magic number of a frame or of the seek table stands; the end if there is
  // none.
  absl::StatusOr<uint64_t> NextMagic(uint64_t at) const {
    constexpr uint64_t kPiece = 1u << 16;
    std::string bytes;
    for (; at + 4 <= end_; at += bytes.size() - 3) {
      bytes.resize(std::min(kPiece, end_ - at));
      HEDDLE_RETURN_IF_ERROR(Read(at, bytes));
      for (size_t i = 0; i + 4 <= bytes.size(); ++i) {
        const uint32_t magic = LittleEndian(bytes.data() + i, 4);
        if (magic == ZSTD_MAGICNUMBER || magic == kSkippableMagic) return at + i;
      }
    }
    return end_;
  }

  const ByteSource& source_;
  const uint64_t end_;
  uint64_t steps_ = 0;
  ScannedFrames out_;
};

}  // namespace

absl::StatusOr<ScannedFrames> ScanFrames(const ByteSource& source) { return FrameScanner(source).Run(); }

}  // namespace heddle::trace
