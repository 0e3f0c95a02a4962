// The steps of DecodeChunk, with buffers that are reused from chunk to chunk.
#ifndef HEDDLE_TRACES_FORMAT_CHUNK_DECODER_H_
#define HEDDLE_TRACES_FORMAT_CHUNK_DECODER_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "proto/trace.pb.h"
#include "traces/format/decoded_chunk.h"
#include "traces/format/program.h"
#include "traces/format/walk.h"

namespace heddle::trace {

// What walks over the distinct paths of a chunk found.
struct WalkedPaths {
  struct Path {
    uint64_t uses = 0;
    uint64_t first_access = 0;  // in sequence
    uint64_t first_column = 0;  // in columns
    uint32_t column_count = 0;
  };
  struct Column {
    uint64_t accesses = 0;  // of all threads
    uint64_t threads = 0;   // that run the instruction
    uint64_t most = 0;      // accesses of one thread
  };
  std::vector<Path> paths;
  std::vector<uint16_t> sequence;  // column of each access, path after path
  std::vector<uint16_t> columns;   // distinct columns of each path, by first use
  std::vector<Column> totals;      // by column (position in Program::accesses())
};

// Reads blocks, paths and path references into `out` and walks every path. Derived totals are compared with the limits
// while they grow, and with what the chunk declares at the end.
absl::Status DecodePaths(const v1::BlockChunk& chunk, const Program& program, uint32_t threads_per_block,
                         WalkedPaths& walked, DecodedChunk& out);

// Restores all addresses.
class AddressDecoder {
 public:
  absl::Status Decode(const v1::BlockChunk& chunk, const Program& program, const WalkedPaths& walked,
                      DecodedChunk& out);
  // Gives memory back after an unusually large chunk.
  void Trim();

 private:
  // One column while threads are walked.
  struct Cursor {
    uint8_t kind = 0;
    bool started = false;  // TIME: the thread has run it
    bool based = false;    // the instruction's base is known
    int32_t shift = 0;
    uint32_t reference = 0;
    uint64_t bias = 0;
    uint64_t thread_base = 0;
    uint64_t thread_delta = 0;
    uint64_t latest = 0;
    uint64_t base = 0;  // of the instruction; subtracted from every address
    const int64_t* residual = nullptr;
    const uint64_t* steps = nullptr;
    const uint64_t* step = nullptr;
    const int64_t* next_base = nullptr;
  };

  absl::Status ReadColumn(const v1::AddressColumn& column, const WalkedPaths& walked, const Program& program,
                          uint32_t index);
  void Rewind();
  template <typename Output>
  bool WalkThreads(const WalkedPaths& walked, const DecodedChunk& out, Output* output);
  template <typename Output>
  uint64_t WalkThread(const uint16_t* sequence, uint64_t accesses, Output* output);
  void StartThread(std::span<const uint16_t> columns);

  struct Storage {
    std::vector<int64_t> residuals;
    std::vector<uint64_t> steps;
    const v1::AddressColumn* record = nullptr;
  };
  std::vector<Cursor> cursors_;
  std::vector<Storage> storage_;
  std::vector<uint64_t> path_steps_;  // of paths that use separable columns only, by access
  std::vector<uint8_t> separable_;    // by path
  bool any_relative_ = false;
};

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_CHUNK_DECODER_H_
