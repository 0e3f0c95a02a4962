// The PTX in fat binaries of the vendor's compiler, which come from strangers.
#ifndef HEDDLE_TRACEGEN_APPLICATION_FAT_BINARY_H_
#define HEDDLE_TRACEGEN_APPLICATION_FAT_BINARY_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace heddle::tracegen {

// The PTX of the highest architecture in a container (runtime/protocol/fat_binary.h), unpacked if it is compressed with
// LZ4 or Zstandard. `most`: of those up to this architecture, such as 75; 0 = of all. Errors: InvalidArgument for what
// is no container or is damaged; NotFound if it has machine code alone, or PTX above `most` only, with what to do;
// ResourceExhausted for text above 256 MiB, which no PTX has.
absl::StatusOr<std::string> PtxOfFatBinary(std::string_view container, uint32_t most);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_APPLICATION_FAT_BINARY_H_
