// What device code that a program hands over is, and how long.
#ifndef HEDDLE_TRACEGEN_RUNTIME_CUDA_IMAGE_FORM_H_
#define HEDDLE_TRACEGEN_RUNTIME_CUDA_IMAGE_FORM_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace heddle::cuda {

enum class ImageForm {
  kUnknown,
  kEmbedded,          // device_code.h
  kLinked,            // device_code.h: what cuLinkComplete makes
  kCodeText,          // code_text.h
  kText,              // any other text; PTX if IsPtx says so
  kFatBinary,         // protocol/fat_binary.h
  kFatBinaryWrapper,  // a structure in memory that leads to one
  kMachineCode,       // ELF: the vendor's .cubin
};

// Told by the first bytes. None behind the first that differs is looked at: there may be no more.
ImageForm FormOf(const void* data);

// Whether a text is PTX: begins with a directive, behind blanks and comments.
bool IsPtx(std::string_view text);

// Whether so many bytes are there to be read; no more than code of a program has. True if nobody can say.
bool IsThere(const void* data, uint64_t bytes);

// The container in memory that begins at `data` with a fat binary's magic; nothing if its header cannot be, or promises
// more than there is. Entries have not been looked at.
std::optional<std::string_view> FatBinaryAt(const void* data);

// The length of a text in memory that ends with a zero byte; nothing if memory ends before it does.
std::optional<size_t> TextBytes(const char* text);

// Why machine code cannot be loaded, and what to do.
extern const char kMachineCodeRefusal[];
// What is wrong with code that is not all there: a fat binary, and what heddle-nvcc has made.
extern const char kDamagedFatBinary[];
extern const char kDamagedDeviceCode[];
// That something is none of the above.
extern const char kNoDeviceCode[];

// Compute capability of the newest PTX in a container that is all there, such as 75; 0 if there is none.
int NewestPtx(std::string_view fat_binary);

}  // namespace heddle::cuda

#endif  // HEDDLE_TRACEGEN_RUNTIME_CUDA_IMAGE_FORM_H_
