#include "traces/format/columns/decode_chunk.h"

#include "traces/format/columns/address_decoder.h"
#include "traces/format/columns/path_decoder.h"

namespace heddle::trace {

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
