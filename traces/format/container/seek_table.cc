#include "traces/format/container/seek_table.h"

#include <zstd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "traces/base/status_macros.h"
#include "traces/format/limits.h"

namespace heddle::trace {
namespace {

constexpr uint64_t kHeaderBytes = 8;  // magic, frame size
constexpr uint64_t kFooterBytes = 9;  // number of frames, descriptor, magic
constexpr uint8_t kChecksumFlag = 0x80;
constexpr uint8_t kReservedBits = 0x7c;

void Append32(std::string& out, uint32_t value) {
  for (int i = 0; i < 4; ++i) out.push_back(static_cast<char>(value >> (8 * i)));
}

uint32_t Load32(const char* from) {
  uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value |= static_cast<uint32_t>(static_cast<uint8_t>(from[i])) << (8 * i);
  return value;
}

}  // namespace

std::string EncodeSeekTable(std::span<const FrameEntry> frames) {
  std::string out;
  out.reserve(kHeaderBytes + frames.size() * 8 + kFooterBytes);
  Append32(out, kSkippableMagic);
  Append32(out, static_cast<uint32_t>(frames.size() * 8 + kFooterBytes));
  for (const FrameEntry& frame : frames) {
    Append32(out, frame.compressed);
    Append32(out, frame.decompressed);
  }
  Append32(out, static_cast<uint32_t>(frames.size()));
  out.push_back(0);
  Append32(out, kSeekTableMagic);
  return out;
}

absl::Status ReadSeekTable(const ByteSource& source, std::vector<FrameEntry>& frames) {
  frames.clear();
  const uint64_t file_bytes = source.size();
  std::array<char, 4> start{};
  if (file_bytes < start.size()) return absl::DataLossError("not a trace: the file is shorter than a frame header");
  HEDDLE_RETURN_IF_ERROR(source.Read(0, start));
  if (Load32(start.data()) != ZSTD_MAGICNUMBER) {
    return absl::DataLossError("not a trace: the file does not start with a Zstandard frame");
  }
  constexpr absl::string_view kTruncated =
      "the file does not end in a seek table: it was cut off or never completed; copy it again, capture it again, or "
      "keep "
      "what is complete with `heddle trace repack --recover`";
  if (file_bytes < kHeaderBytes + kFooterBytes) return absl::DataLossError(kTruncated);
  std::array<char, kFooterBytes> footer{};
  HEDDLE_RETURN_IF_ERROR(source.Read(file_bytes - kFooterBytes, footer));
  if (Load32(footer.data() + 5) != kSeekTableMagic) return absl::DataLossError(kTruncated);
  const uint64_t count = Load32(footer.data());
  const uint8_t descriptor = static_cast<uint8_t>(footer[4]);
  if (descriptor & kReservedBits) return absl::DataLossError("seek table: reserved bits of the descriptor are set");
  if (count > kMaxFrames) {
    return absl::DataLossError(absl::StrCat("seek table: ", count, " frames, the limit is ", kMaxFrames));
  }
  const uint64_t entry_bytes = descriptor & kChecksumFlag ? 12 : 8;
  const uint64_t table_bytes = kHeaderBytes + count * entry_bytes + kFooterBytes;
  if (table_bytes > file_bytes) return absl::DataLossError("seek table: it is longer than the file");
  const uint64_t table_start = file_bytes - table_bytes;
  std::array<char, kHeaderBytes> header{};
  HEDDLE_RETURN_IF_ERROR(source.Read(table_start, header));
  if (Load32(header.data()) != kSkippableMagic || Load32(header.data() + 4) != table_bytes - kHeaderBytes) {
    return absl::DataLossError("seek table: no skippable frame of the size that its number of frames needs");
  }
  std::string piece;
  uint64_t total = 0;
  frames.reserve(count);
  constexpr uint64_t kEntriesAtOnce = 1u << 16;
  for (uint64_t done = 0; done < count;) {
    const uint64_t now = std::min(kEntriesAtOnce, count - done);
    piece.resize(now * entry_bytes);
    HEDDLE_RETURN_IF_ERROR(source.Read(table_start + kHeaderBytes + done * entry_bytes, piece));
    for (uint64_t i = 0; i < now; ++i) {
      FrameEntry entry{Load32(piece.data() + i * entry_bytes), Load32(piece.data() + i * entry_bytes + 4)};
      if (entry.decompressed > kMaxRecordBytes || entry.compressed > ZSTD_compressBound(kMaxRecordBytes)) {
        return absl::DataLossError(
            absl::StrCat("seek table: frame ", done + i, " is above the limit of ", kMaxRecordBytes, " bytes"));
      }
      total += entry.compressed;
      frames.push_back(entry);
    }
    done += now;
  }
  if (total != table_start) {
    return absl::DataLossError(absl::StrCat("seek table: frames take ", total, " bytes, but the file has ", table_start,
                                            " in front of the table"));
  }
  return absl::OkStatus();
}

}  // namespace heddle::trace
