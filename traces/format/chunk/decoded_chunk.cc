#include "traces/format/chunk/decoded_chunk.h"

namespace heddle::trace {

uint64_t DecodedChunk::bytes() const {
  const auto held = [](const auto& vector) { return vector.capacity() * sizeof(vector[0]); };
  return held(blocks) + held(paths) + held(path_of_thread) + held(first_address) + held(base) + held(offsets32) +
         held(addresses64) + decision_storage.capacity() + held(wide_storage) + held(call_stack_storage);
}

}  // namespace heddle::trace
