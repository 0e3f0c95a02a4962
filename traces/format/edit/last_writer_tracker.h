// Finds whose write the reads of a launch saw, for the trace's optional column of last writers.
#ifndef HEDDLE_TRACES_FORMAT_EDIT_LAST_WRITER_TRACKER_H_
#define HEDDLE_TRACES_FORMAT_EDIT_LAST_WRITER_TRACKER_H_

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "proto/trace.pb.h"
#include "traces/format/chunk/walk.h"
#include "traces/format/columns/last_writers.h"
#include "traces/format/program/program.h"
#include "traces/format/write/writer.h"

namespace heddle::trace {

// Blocks run one after the other while a launch is recorded, so that what a block reads of another one was written by
// an earlier block. Such reads of global memory are listed: a replay lets blocks run together, and barriers, which
// order the threads of a block, do not order them. Not listed are reads of what the own block, an earlier launch, the
// host, or a block that is not recorded has written last, and atomic operations on what another one has left there,
// whose order is open on every device.
//
// Within a block, accesses count in the order of barriers and warp operations passed, then of threads, then of the
// program, which is the order in which they run. Writers are kept per word of 4 bytes: of a word that several threads
// write in parts, reads of parts other than the last one have no writer. A read of several words names the write of the
// highest block.
//
// Memory: 4 bytes per byte of the pages of 4 KiB that the recorded blocks write, up to `most_pages` pages; reads of
// other pages have no writer. 32 bytes per access of the block, or of the part of it, at hand.
class LastWriterTracker {
 public:
  static constexpr size_t kMostPages = size_t{1} << 16;  // 256 MiB

  // A read by a thread, and the write that it saw.
  struct Found {
    uint32_t thread = 0;
    uint64_t access = 0;  // of those of the thread's record
    Pc instruction = 0;   // that reads
    WriteOf write;
  };

  // Of one launch of `program`, which must outlive the tracker, with so many threads per block. `windows`: addresses
  // that are not global memory.
  LastWriterTracker(const Program& program, uint32_t threads,
                    const google::protobuf::RepeatedPtrField<v1::AddressWindow>& windows,
                    size_t most_pages = kMostPages);

  // The reads of a block, or of a part of it that ends behind the last decisions, by thread and then in program order.
  // `last`: it is the block's last part; a record that has `exited` reaches its exit in this part or has before. Blocks
  // ascend. Valid until the next call.
  std::span<const Found> AddBlock(uint64_t block, bool last, std::span<const ThreadRecord> records);

  // Whether the launch has written more pages than are kept.
  bool overflowed() const { return overflowed_; }

 private:
  enum Kind : uint8_t { kRead = 1, kWrite = 2 };  // an atomic operation is both
  // What is known of an access of the program.
  struct Access {
    Pc pc = 0;
    uint32_t bytes = 0;  // at most
    uint8_t kinds = 0;
    uint8_t size_behind = 0;  // so many columns behind it is the number of bytes that a copy reads; 0: nowhere
  };
  // What divides intervals within a basic block: in front of its access number `position`.
  struct Division {
    uint32_t position = 0;
    bool barrier = false;  // that threads wait at; else a warp operation
  };
  struct ThreadState {
    WalkState walk;
    uint64_t interval = 0;  // barriers << 32 | warp operations since
    uint64_t accesses = 0;  // in earlier parts
    uint64_t in_part = 0;   // accesses of the present one
  };
  struct Event {
    uint64_t interval = 0;
    uint64_t address = 0;
    uint32_t position = 0;  // in the thread's record
    uint32_t access = 0;    // index in accesses_
    uint32_t thread = 0;
    uint32_t bytes = 0;
  };
  // The last write to a word: mask 0 = none that is known.
  struct Word {
    uint64_t block : 48;
    uint64_t thread : 11;
    uint64_t mask : 4;  // bytes
    uint64_t atomic : 1;
    uint64_t access : 48;
    uint64_t instruction : 16;
  };
  static_assert(sizeof(Word) == 16);
  static constexpr uint64_t kPageBytes = 4096;
  static constexpr uint64_t kWordBytes = 4;
  using Page = std::array<Word, kPageBytes / kWordBytes>;

  // How many bytes of its source an asynchronous copy reads, if it says so.
  static void FindSize(const v1::Instruction& copy, Access& source);
  void CollectThread(uint32_t thread, const ThreadRecord& record, bool last);
  // Null: the page has not been written, or is not kept.
  Page* FindPage(uint64_t address);
  Page* MakePage(uint64_t address);
  void Read(uint64_t block, const Event& event);
  void Write(uint64_t block, const Event& event);

  bool IsGlobal(uint64_t address) const;

  const Program& program_;
  std::vector<std::pair<uint64_t, uint64_t>> windows_;  // base and bytes
  const size_t most_pages_;
  std::vector<Access> accesses_;                                // in the order of Program::accesses()
  std::vector<Division> divisions_;                             // by basic block
  std::vector<uint32_t> first_division_;                        // by basic block, and one more
  absl::flat_hash_map<uint64_t, std::unique_ptr<Page>> pages_;  // by address / kPageBytes
  uint64_t latest_number_ = ~uint64_t{0};                       // of the page found last
  Page* latest_page_ = nullptr;
  bool overflowed_ = false;
  // The block.
  bool in_block_ = false;  // parts of it have been seen
  std::vector<ThreadState> states_;
  std::vector<Event> events_;
  std::vector<Found> found_;
};

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_EDIT_LAST_WRITER_TRACKER_H_
