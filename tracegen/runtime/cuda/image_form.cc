#include "tracegen/runtime/cuda/image_form.h"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "tracegen/runtime/cuda/code_text.h"
#include "tracegen/runtime/cuda/device_code.h"
#include "tracegen/runtime/protocol/fat_binary.h"

namespace heddle::cuda {

const char kMachineCodeRefusal[] =
    "this is machine code, which cannot be run: make PTX, with nvcc -ptx, or -gencode "
    "arch=compute_NN,code=compute_NN, or device code with heddle-nvcc";
const char kDamagedFatBinary[] = "a damaged fat binary: its header is none, or promises more than there is";
const char kDamagedDeviceCode[] = "damaged device code of heddle-nvcc: its header promises more than there is";
const char kNoDeviceCode[] =
    "this is no device code: neither PTX, which begins with .version, nor a fat binary, nor what heddle-nvcc -cubin, "
    "-ptx or -fatbin has made";

namespace {

constexpr size_t kPages = 16;
constexpr uint64_t kMostCodeBytes = uint64_t{2} << 30;  // far more than programs have

size_t PageBytes() {
  static const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return page;
}

// Copies as much as there is of the pages from `at` on, up to `most` bytes and kPages pages; -1 if the system refuses
// to (as in some containers). The system does it page by page, and says where memory ends.
ssize_t CopyWhatIsThere(const char* at, size_t most, char* to) {
  iovec from[kPages];
  size_t pages = 0, bytes = 0;
  for (; pages < kPages && bytes < most; ++pages) {
    const size_t rest = PageBytes() - reinterpret_cast<uintptr_t>(at + bytes) % PageBytes();
    from[pages] = {const_cast<char*>(at + bytes), std::min(rest, most - bytes)};
    bytes += from[pages].iov_len;
  }
  iovec into = {to, bytes};
  const ssize_t got = process_vm_readv(getpid(), &into, 1, from, pages, 0);
  return got < 0 && errno == EFAULT ? 0 : got;
}

}  // namespace

ImageForm FormOf(const void* data) {
  const char* text = static_cast<const char*>(data);
  char copy[64] = {};  // longer than any magic
  static_assert(sizeof(copy) > kCodeTextStart.size());
  if (CopyWhatIsThere(text, sizeof(copy), copy) >= 0) text = copy;
  const auto begins = [text](std::string_view with) {
    for (size_t i = 0; i < with.size(); ++i) {
      if (text[i] != with[i]) return false;
    }
    return true;
  };
  const auto begins_with_number = [&](uint32_t magic) {
    return begins({reinterpret_cast<const char*>(&magic), sizeof(magic)});
  };
  constexpr size_t kMagicBytes = sizeof(DeviceCodeHeader::magic);
  if (begins({kDeviceCodeMagic, kMagicBytes})) return ImageForm::kEmbedded;
  if (begins({kLinkedCodeMagic, kMagicBytes})) return ImageForm::kLinked;
  if (begins(kCodeTextStart)) return ImageForm::kCodeText;
  if (begins_with_number(device::kFatBinaryMagic)) return ImageForm::kFatBinary;
  if (begins_with_number(device::kFatBinaryWrapperMagic)) return ImageForm::kFatBinaryWrapper;
  if (begins("\x7f"
             "ELF"))
    return ImageForm::kMachineCode;
  const auto first = static_cast<unsigned char>(text[0]);
  return first >= ' ' || first == '\n' || first == '\t' || first == '\r' ? ImageForm::kText : ImageForm::kUnknown;
}

bool IsPtx(std::string_view text) {
  while (true) {
    const size_t at = text.find_first_not_of(" \t\r\n\v\f");
    if (at == std::string_view::npos) return false;
    text.remove_prefix(at);
    const bool line = text.substr(0, 2) == "//";
    if (!line && text.substr(0, 2) != "/*") return text[0] == '.';
    const size_t end = line ? text.find('\n') : text.find("*/", 2);
    if (end == std::string_view::npos) return false;
    text.remove_prefix(end + (line ? 1 : 2));
  }
}

bool IsThere(const void* data, uint64_t bytes) {
  if (bytes > kMostCodeBytes) return false;
  const char* const start = static_cast<const char*>(data);
  std::string copy(std::min<uint64_t>(bytes, PageBytes() * kPages), '\0');
  for (uint64_t there = 0; there < bytes;) {
    const ssize_t got = CopyWhatIsThere(start + there, std::min<uint64_t>(bytes - there, copy.size()), copy.data());
    if (got <= 0) return got < 0;
    there += static_cast<uint64_t>(got);
  }
  return true;
}

std::optional<std::string_view> FatBinaryAt(const void* data) {
  device::FatBinaryHeader header;
  if (!IsThere(data, sizeof(header))) return std::nullopt;
  std::memcpy(&header, data, sizeof(header));
  if (header.header_bytes < sizeof(header) || header.bytes > kMostCodeBytes) return std::nullopt;
  const uint64_t bytes = header.header_bytes + header.bytes;
  if (!IsThere(data, bytes)) return std::nullopt;
  return std::string_view(static_cast<const char*>(data), bytes);
}

std::optional<size_t> TextBytes(const char* text) {
  std::string copy(PageBytes() * kPages, '\0');
  size_t bytes = 0;
  while (true) {
    const ssize_t got = CopyWhatIsThere(text + bytes, copy.size(), copy.data());
    if (got < 0) return bytes + std::strlen(text + bytes);
    if (got == 0) return std::nullopt;
    if (const void* end = std::memchr(copy.data(), '\0', static_cast<size_t>(got)); end != nullptr) {
      return bytes + static_cast<size_t>(static_cast<const char*>(end) - copy.data());
    }
    bytes += static_cast<size_t>(got);
  }
}

int NewestPtx(std::string_view fat_binary) {
  uint32_t newest = 0;
  device::ForEachFatBinaryEntry(fat_binary, [&newest](const device::FatBinaryEntry& entry, std::string_view) {
    if (entry.kind == device::kFatBinaryPtx) newest = std::max(newest, entry.architecture);
  });
  return static_cast<int>(std::min<uint32_t>(newest, 10000));
}

}  // namespace heddle::cuda
