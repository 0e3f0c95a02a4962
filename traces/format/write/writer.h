// Writes a trace file: records in order, each its own Zstandard frame, under a temporary name until it is complete.
#ifndef HEDDLE_TRACES_FORMAT_WRITE_WRITER_H_
#define HEDDLE_TRACES_FORMAT_WRITE_WRITER_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/trace.pb.h"
#include "traces/format/chunk/thread_record.h"
#include "traces/format/program/program.h"

namespace heddle::trace {

// Zstandard levels by use: a trace that is read once, the usual one, and one that is kept or shared.
inline constexpr int kFastLevel = 1;
inline constexpr int kDefaultLevel = 3;
inline constexpr int kSmallLevel = 19;

// Threads that encode and compress where nobody says how many: one per processor, four at most.
unsigned UsualThreads();

struct WriterOptions {
  int zstd_level = kDefaultLevel;
  unsigned threads = 1;                    // that encode and compress; the file does not depend on it
  uint64_t chunk_thread_instructions = 0;  // 0 = limits.h
  uint64_t chunk_accesses = 0;
  // Parts of a block are joined: as far as the two numbers above let them, or, if nobody gave these, while few bytes
  // are left of them (limits.h). Without it, every call of AddBlockPart makes a chunk.
  bool join_parts = false;
};

struct SegmentedBlock;  // segmented_block.h
struct AddressBounds;

struct WriterTotals {
  uint64_t blocks = 0;
  uint64_t threads = 0;
  uint64_t thread_instructions = 0;
  uint64_t accesses = 0;
  uint64_t chunks = 0;
  uint64_t bytes = 0;  // file size so far
};

// Call order: Create, then per launch AddProgram once for each new program, BeginLaunch, blocks ascending, EndLaunch;
// Finish at last. After an error every further call returns the same error. Without Finish nothing is left behind.
class TraceWriter {
 public:
  // Opens a temporary file beside `path`, or beside what it leads to, so that a rename completes it. The header's
  // version and promises are filled in; `header.minor` may ask for a newer minor version than the usual one.
  static absl::StatusOr<std::unique_ptr<TraceWriter>> Create(const std::string& path, v1::FileHeader header,
                                                             const WriterOptions& options = {});
  ~TraceWriter();
  TraceWriter(const TraceWriter&) = delete;
  TraceWriter& operator=(const TraceWriter&) = delete;

  // Takes a program and returns it as readers will see it; its id is set. The reference lives as long as the writer.
  absl::StatusOr<const Program*> AddProgram(v1::KernelProgram program);

  // Sets the launch's id. A launch with recorded = false takes no blocks and no EndLaunch.
  absl::Status BeginLaunch(v1::Launch launch);

  // Adds a whole thread block: every thread runs from the entry to its exit. `threads` holds one element per thread of
  // the block in linear order. `expected_thread_instructions` is an independent count of what the block ran; a
  // difference is an internal error (pass kNoExpectation to skip the comparison).
  absl::Status AddBlock(uint64_t block, std::span<const ThreadRecord> threads, uint64_t expected_thread_instructions);
  // AddBlock before the addresses have been put together by thread. `ranges` receives few ranges that hold every
  // address, roughly one for each instruction; none if it takes a look at each address to tell them.
  absl::Status AddBlock(uint64_t block, const SegmentedBlock& threads, uint64_t expected_thread_instructions,
                        std::vector<AddressBounds>& ranges);
  static constexpr uint64_t kNoExpectation = ~uint64_t{0};

  // Adds one time slice of a block that is too long for a chunk. A thread that has not exited is cut right behind its
  // last decision; `consumed_addresses[t]` tells how many of its addresses belong to this part, the rest must be passed
  // again as the start of its next part. Threads that are done pass nothing. With `last`, every thread must reach its
  // exit.
  absl::Status AddBlockPart(uint64_t block, std::span<const ThreadRecord> threads, bool last,
                            std::span<uint64_t> consumed_addresses);

  // Takes over an encoded chunk of a launch of the same program and block size as it is; only its launch is set.
  // `last_block` is the last block in it. Parts of a block must come in order, without gaps. The chunk is not decoded:
  // the caller answers for its contents.
  absl::Status AddChunk(v1::BlockChunk chunk, uint64_t last_block);

  // Adds to the open launch what `waits` tells about threads that waited (LaunchEnd::wait, waits_not_listed).
  absl::Status AddWaits(const v1::LaunchEnd& waits);

  absl::Status EndLaunch();

  // Takes back the open launch with all its blocks, as if BeginLaunch had not been called: of a launch that has failed,
  // nothing can be told. Also after an error of AddBlock or AddBlockPart, which it clears; errors of the file stay.
  absl::Status AbandonLaunch();
  absl::Status AddTransfer(const v1::Transfer& transfer);
  absl::Status AddCertificate(const v1::Certificate& certificate);
  absl::Status AddAnnotation(const v1::Annotation& annotation);

  // Writes the index and the seek table, flushes to disk, and moves the file to its final name.
  absl::Status Finish();

  const WriterTotals& totals() const;

  // The file that a rename will complete; to be removed if the program is interrupted.
  const std::string& temporary_file() const;

 private:
  struct State;
  explicit TraceWriter(std::unique_ptr<State> state);
  absl::Status AddOther(v1::Record& record);
  std::unique_ptr<State> state_;
};

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_WRITE_WRITER_H_
