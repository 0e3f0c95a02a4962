// What travels between an SM and the memory partitions.
#ifndef HEDDLE_REPLAY_MEMORY_PORTS_MEMORY_REQUEST_H_
#define HEDDLE_REPLAY_MEMORY_PORTS_MEMORY_REQUEST_H_

#include <cstdint>

namespace heddle::replay {

enum class RequestKind : uint8_t {
  kRead,    // answered with data
  kWrite,   // carries data, answered with an acknowledgement
  kAtomic,  // carries operands, done at the memory partition, answered with data
};

// Which first-level cache of the SM asked, and gets the answer.
enum class FirstLevel : uint8_t { kData, kTexture, kConstant, kInstruction };
inline constexpr int kFirstLevels = 4;

// A request on its way to a memory partition, or the reply on its way back: the reply is the request itself.
struct MemoryRequest {
  uint64_t address = 0;  // of the first byte; that of the line where a whole line is read
  uint32_t tag = 0;      // the asking SM's own; comes back unchanged
  uint16_t bytes = 0;    // asked for, or written
  uint16_t sm = 0;
  uint16_t slice = 0;  // of the L2, over all controllers; set when the request enters the network
  RequestKind kind = RequestKind::kRead;
  FirstLevel cache = FirstLevel::kData;
  uint8_t passes = 1;  // kAtomic: the most lanes on one address, which are served one after another
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_PORTS_MEMORY_REQUEST_H_
