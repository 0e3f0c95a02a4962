// What the decoding of a trace took.
#ifndef HEDDLE_REPLAY_TRACE_DECODING_COUNTERS_H_
#define HEDDLE_REPLAY_TRACE_DECODING_COUNTERS_H_

#include <algorithm>
#include <cstdint>

namespace heddle::replay {

struct DecodingCounters {
  uint64_t chunks = 0;      // decoded
  uint64_t again = 0;       // of those, for threads that had been reading the chunk, or still were
  uint64_t most_bytes = 0;  // of decoded data that a cache held at once

  void Add(const DecodingCounters& other) {
    chunks += other.chunks;
    again += other.again;
    most_bytes = std::max(most_bytes, other.most_bytes);
  }
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_TRACE_DECODING_COUNTERS_H_
