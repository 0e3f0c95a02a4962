// Containers of device code that nvcc puts into objects and that its -fatbin writes, as far as their headers are
// publicly known: fatbinary_section.h of CUDA's toolkit declares the wrapper, and several public projects describe the
// container. All numbers are little-endian. Plain structures, read by the program and by its device process.
//
//   FatBinaryHeader, then entries up to its `bytes`: FatBinaryEntry in `header_bytes`, then `bytes` of contents
#ifndef HEDDLE_TRACEGEN_RUNTIME_PROTOCOL_FAT_BINARY_H_
#define HEDDLE_TRACEGEN_RUNTIME_PROTOCOL_FAT_BINARY_H_

#include <cstdint>
#include <cstring>
#include <string_view>

namespace heddle::device {

// What host code registers (__fatBinC_Wrapper_t).
struct FatBinaryWrapper {
  uint32_t magic = 0;
  uint32_t version = 0;        // 1; 2: of relocatable code, whose containers `more` lists
  const void* data = nullptr;  // a container
  const void* more = nullptr;
};
inline constexpr uint32_t kFatBinaryWrapperMagic = 0x466243b1;

struct FatBinaryHeader {
  uint32_t magic = 0;
  uint16_t version = 0;
  uint16_t header_bytes = 0;
  uint64_t bytes = 0;  // behind this header
};
inline constexpr uint32_t kFatBinaryMagic = 0xba55ed50;

struct FatBinaryEntry {
  uint16_t kind = 0;
  uint16_t version = 0;
  uint32_t header_bytes = 0;      // of this structure and what follows it in front of the contents
  uint64_t bytes = 0;             // of the contents with their padding
  uint32_t compressed_bytes = 0;  // 0 if they are not compressed
  uint32_t options = 0;           // offset of the assembler's options in the header
  uint16_t minor = 0;             // PTX: version of its language
  uint16_t major = 0;
  uint32_t architecture = 0;  // 75
  uint32_t name = 0;          // offset, and bytes, of a name
  uint32_t name_bytes = 0;
  uint64_t flags = 0;
  uint64_t reserved = 0;
  uint64_t uncompressed_bytes = 0;
};
static_assert(sizeof(FatBinaryHeader) == 16 && sizeof(FatBinaryEntry) == 64);
inline constexpr uint16_t kFatBinaryPtx = 1;
inline constexpr uint16_t kFatBinaryMachineCode = 2;
inline constexpr uint64_t kFatBinaryLz4 = 0x2000;   // flags
inline constexpr uint64_t kFatBinaryZstd = 0x8000;  // since CUDA 12.8

// How many bytes a container that begins with `data` has; 0 if it is none, or not all there.
inline uint64_t FatBinaryBytes(std::string_view data) {
  FatBinaryHeader header;
  if (data.size() < sizeof(header)) return 0;
  std::memcpy(&header, data.data(), sizeof(header));
  if (header.magic != kFatBinaryMagic || header.header_bytes < sizeof(header) || header.header_bytes > data.size() ||
      header.bytes > data.size() - header.header_bytes) {
    return 0;
  }
  return header.header_bytes + header.bytes;
}

// Calls `visit` with the header and the contents of each entry of a container that is all there. False if an entry is
// cut off.
template <typename Visit>
bool ForEachFatBinaryEntry(std::string_view container, const Visit& visit) {
  FatBinaryHeader header;
  std::memcpy(&header, container.data(), sizeof(header));
  std::string_view rest = container.substr(header.header_bytes);
  while (!rest.empty()) {
    FatBinaryEntry entry;
    if (rest.size() < sizeof(entry)) return false;
    std::memcpy(&entry, rest.data(), sizeof(entry));
    if (entry.header_bytes < sizeof(entry) || entry.header_bytes > rest.size()) return false;
    rest.remove_prefix(entry.header_bytes);
    if (entry.bytes > rest.size()) return false;
    visit(entry, rest.substr(0, entry.bytes));
    rest.remove_prefix(entry.bytes);
  }
  return true;
}

}  // namespace heddle::device

#endif  // HEDDLE_TRACEGEN_RUNTIME_PROTOCOL_FAT_BINARY_H_
