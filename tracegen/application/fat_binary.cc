#include "tracegen/application/fat_binary.h"

#include <lz4.h>
#include <zstd.h>

#include <algorithm>
#include <memory>
#include <set>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tracegen/runtime/protocol/fat_binary.h"

namespace heddle::tracegen {
namespace {

using device::FatBinaryEntry;

constexpr uint64_t kMostBytes = uint64_t{256} << 20;  // as much as is parsed
constexpr uint64_t kLz4Growth = 255;                  // at most, by its format

absl::Status Damaged(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("a damaged fat binary: ", what));
}

absl::StatusOr<std::string> UnpackLz4(std::string_view packed, uint64_t bytes) {
  if (bytes > (packed.size() + 1) * kLz4Growth) return Damaged("more text than its bytes can hold");
  std::string text(bytes, '\0');
  const int made =
      LZ4_decompress_safe(packed.data(), text.data(), static_cast<int>(packed.size()), static_cast<int>(bytes));
  if (made < 0 || static_cast<uint64_t>(made) != bytes) return Damaged("its LZ4 data cannot be unpacked");
  return text;
}

// Piece by piece, for a few bytes can promise any number.
absl::StatusOr<std::string> UnpackZstd(std::string_view packed, uint64_t bytes) {
  const std::unique_ptr<ZSTD_DStream, decltype(&ZSTD_freeDStream)> stream(ZSTD_createDStream(), ZSTD_freeDStream);
  if (stream == nullptr) return absl::ResourceExhaustedError("no memory to unpack a fat binary");
  std::string text;
  std::string piece(ZSTD_DStreamOutSize(), '\0');
  ZSTD_inBuffer in = {packed.data(), packed.size(), 0};
  size_t left = 1;
  while (left != 0) {
    ZSTD_outBuffer out = {piece.data(), piece.size(), 0};
    left = ZSTD_decompressStream(stream.get(), &out, &in);
    if (ZSTD_isError(left)) {
      return Damaged(absl::StrCat("its Zstandard data cannot be unpacked (", ZSTD_getErrorName(left), ")"));
    }
    text.append(piece.data(), out.pos);
    if (text.size() > bytes) return Damaged("more text than its header says");
    if (left != 0 && out.pos == 0 && in.pos == in.size) return Damaged("its Zstandard data end too early");
  }
  if (text.size() != bytes) return Damaged("less text than its header says");
  return text;
}

absl::StatusOr<std::string> Unpack(const FatBinaryEntry& entry, std::string_view contents) {
  const bool lz4 = (entry.flags & device::kFatBinaryLz4) != 0, zstd = (entry.flags & device::kFatBinaryZstd) != 0;
  std::string text;
  if (lz4 || zstd) {
    if (entry.compressed_bytes > contents.size()) return Damaged("compressed text that is not all there");
    if (entry.uncompressed_bytes > kMostBytes) {
      return absl::ResourceExhaustedError(absl::StrCat("PTX of ", entry.uncompressed_bytes,
                                                       " bytes in a fat binary; at most ", kMostBytes, " are read"));
    }
    // Where the header leaves the size out, padding of zeros is behind the data.
    const std::string_view packed =
        contents.substr(0, entry.compressed_bytes != 0 ? entry.compressed_bytes : contents.size());
    absl::StatusOr<std::string> unpacked =
        lz4 ? UnpackLz4(packed, entry.uncompressed_bytes) : UnpackZstd(packed, entry.uncompressed_bytes);
    if (!unpacked.ok()) return unpacked;
    text = *std::move(unpacked);
  } else {
    if (contents.size() > kMostBytes) return absl::ResourceExhaustedError("too much PTX in a fat binary");
    text = std::string(contents);
  }
  // Padded with zeros.
  return text.substr(0, text.find('\0'));
}

}  // namespace

absl::StatusOr<std::string> PtxOfFatBinary(std::string_view container, uint32_t most) {
  const uint64_t bytes = device::FatBinaryBytes(container);
  if (bytes == 0) return Damaged("its header is none, or promises more than there is");
  FatBinaryEntry best;
  std::string_view contents;
  bool found = false;
  std::set<uint32_t> with_ptx, with_machine_code;
  const bool whole = device::ForEachFatBinaryEntry(
      container.substr(0, bytes), [&](const FatBinaryEntry& entry, std::string_view entry_contents) {
        if (entry.kind == device::kFatBinaryMachineCode) with_machine_code.insert(entry.architecture);
        if (entry.kind != device::kFatBinaryPtx) return;
        with_ptx.insert(entry.architecture);
        if ((most != 0 && entry.architecture > most) || (found && entry.architecture <= best.architecture)) return;
        found = true;
        best = entry;
        contents = entry_contents;
      });
  if (!whole) return Damaged("an entry is cut off");
  if (found) return Unpack(best, contents);
  if (!with_ptx.empty()) {
    return absl::NotFoundError(absl::StrCat("a fat binary with PTX for compute_", absl::StrJoin(with_ptx, ", compute_"),
                                            " only, but code for at most ", most,
                                            " is asked for (CU_JIT_TARGET); ask for more"));
  }
  if (with_machine_code.empty()) return absl::NotFoundError("a fat binary without device code");
  const uint32_t architecture = *with_machine_code.rbegin();
  return absl::NotFoundError(absl::StrCat("a fat binary with machine code alone (sm_",
                                          absl::StrJoin(with_machine_code, ", sm_"),
                                          "), which cannot be run; make it with PTX too: nvcc -gencode arch=compute_",
                                          architecture, ",code=compute_", architecture));
}

}  // namespace heddle::tracegen
