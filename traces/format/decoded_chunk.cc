#include "traces/format/decoded_chunk.h"

#include "traces/format/chunk_decoder.h"

namespace heddle::trace {

uint64_t DecodedChunk::bytes() const {
  const auto held = [](const auto& vector) { return vector.capacity() * sizeof(vector[0]); };
  return held(blocks) + held(paths) + held(path_of_thread) + held(first_address) + held(base) + held(offsets32) +
         held(addresses64) + decision_storage.capacity() + held(wide_storage) + held(call_stack_storage);
}

absl::Status DecodeChunk(const v1::BlockChunk& chunk, const Program& program, uint32_t threads_per_block,
                         DecodedChunk& out) {
  // One set of buffers per thread: fresh pages for each chunk would cost as much as the decoding.
  thread_local WalkedPaths walked;
  thread_local AddressDecoder addresses;
  absl::Status status = DecodePaths(chunk, program, threads_per_block, walked, out);
  if (status.ok()) status = addresses.Decode(chunk, program, walked, out);
  addresses.Trim();
  return status;
}

}  // namespace heddle::trace
