// Where the bytes of a trace come from.
#ifndef HEDDLE_TRACES_FORMAT_CONTAINER_BYTE_SOURCE_H_
#define HEDDLE_TRACES_FORMAT_CONTAINER_BYTE_SOURCE_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace heddle::trace {

// Where the bytes of a file come from; positions are file offsets. Implementations are safe to call from several
// threads.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  virtual uint64_t size() const = 0;
  virtual absl::Status Read(uint64_t offset, std::span<char> out) const = 0;
};
absl::StatusOr<std::unique_ptr<ByteSource>> OpenFile(const std::string& path);
std::unique_ptr<ByteSource> FromMemory(std::string bytes);

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_CONTAINER_BYTE_SOURCE_H_
