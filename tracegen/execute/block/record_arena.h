// Memory through which a worker process hands the records of thread blocks to the process that writes the trace.
#ifndef HEDDLE_TRACEGEN_EXECUTE_BLOCK_RECORD_ARENA_H_
#define HEDDLE_TRACEGEN_EXECUTE_BLOCK_RECORD_ARENA_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tracegen/execute/block/block_sink.h"
#include "traces/format/write/writer.h"

namespace heddle::tracegen {

// Filled by one process and then read by another one; who may do what at which time is up to them.
class RecordArena {
 public:
  // Pages are taken when they are first used. Errors: no address space.
  static absl::StatusOr<std::unique_ptr<RecordArena>> Create(uint64_t bytes);
  ~RecordArena();
  RecordArena(const RecordArena&) = delete;
  RecordArena& operator=(const RecordArena&) = delete;

  void Clear();
  uint64_t bytes_used() const { return control_->used; }
  uint64_t bytes_left() const { return bytes_ - control_->used; }

  // As AddBlock and AddBlockPart of TraceWriter. Errors: ResourceExhausted if there is no room.
  absl::Status PutBlock(uint64_t block, std::span<const trace::ThreadRecord> threads, uint64_t thread_instructions);
  absl::Status PutPart(uint64_t block, std::span<const trace::ThreadRecord> threads, bool last);
  // What else is to be told; any bytes.
  absl::Status PutText(std::string_view text);

  // Gives everything that was put to `sink` and `text`, in order. Errors: those of `sink`, at the first of which it
  // ends.
  absl::Status Deliver(BlockSink& sink, const std::function<void(std::string_view)>& text) const;

  // What a block of so many threads takes, whose records have so many entries.
  static uint64_t BytesOf(uint64_t threads, uint64_t addresses, uint64_t decisions);

 private:
  // The first page of the memory.
  struct Control {
    uint64_t used = 0;
  };
  enum class Kind : uint64_t { kBlock, kPart, kLastPart, kText };
  // In front of every message. Then, of blocks: a ThreadHeader per thread, all addresses, all decisions; or text.
  struct Header {
    Kind kind = Kind::kBlock;
    uint64_t block = 0;
    uint64_t thread_instructions = 0;
    uint64_t count = 0;  // threads, or bytes of text
  };
  struct ThreadHeader {
    uint64_t addresses = 0;
    uint32_t decisions = 0;
    uint32_t exited = 0;
  };

  RecordArena(char* memory, uint64_t bytes);
  absl::Status Put(const Header& header, std::span<const trace::ThreadRecord> threads);

  char* const memory_;
  Control* const control_;
  char* const data_;
  const uint64_t bytes_;  // of data
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_BLOCK_RECORD_ARENA_H_
