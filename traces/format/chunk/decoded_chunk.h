// A chunk in memory, ready to be walked thread by thread.
#ifndef HEDDLE_TRACES_FORMAT_CHUNK_DECODED_CHUNK_H_
#define HEDDLE_TRACES_FORMAT_CHUNK_DECODED_CHUNK_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "proto/trace.pb.h"
#include "traces/format/program/program.h"

namespace heddle::trace {

enum class Extent : uint8_t { kRunsToExit, kCut, kEnded };

// One distinct path of a chunk; pointers lead into the DecodedChunk.
struct PathView {
  const uint8_t* decisions = nullptr;  // bits, least significant first
  uint32_t decision_count = 0;
  const uint32_t* wide = nullptr;
  uint32_t wide_count = 0;
  uint32_t start_block = 0;
  std::span<const uint32_t> call_stack;  // blocks whose continuation is pending, outermost first
  Extent extent = Extent::kRunsToExit;
  uint64_t thread_instructions = 0;  // of one thread that takes the path
  uint64_t accesses = 0;
};

// Everything the threads of a chunk did. Memory: about 4 (or 8) bytes per access, 8 bytes per thread, the path bits
// once.
struct DecodedChunk {
  uint32_t launch = 0;
  uint32_t part = 0;
  bool last_part = true;
  uint32_t threads_per_block = 0;
  std::vector<uint64_t> blocks;  // linear indices, ascending
  std::vector<PathView> paths;
  std::vector<uint32_t> path_of_thread;  // blocks.size() * threads_per_block elements
  std::vector<uint64_t> first_address;   // per thread, plus one: range in offsets32 or addresses64
  // What columns hold, in program order, thread after thread. Normally 32-bit offsets from the base of the column;
  // 64-bit values where those of some column of the chunk reach over 4 GiB or more.
  std::vector<uint64_t> base;  // by Column::slot; empty when addresses64 is used
  std::vector<uint32_t> offsets32;
  std::vector<uint64_t> addresses64;
  uint64_t thread_instructions = 0;
  uint64_t accesses = 0;

  std::string decision_storage;  // what PathView points into
  std::vector<uint32_t> wide_storage;
  std::vector<uint32_t> call_stack_storage;

  // Of the column with this Column::slot, which is the PC of an instruction that has no other.
  uint64_t address(uint64_t position, Pc slot) const {
    return offsets32.empty() ? addresses64[position] : base[slot] + offsets32[position];
  }
  uint64_t bytes() const;  // memory held, for cache limits
};

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_CHUNK_DECODED_CHUNK_H_
