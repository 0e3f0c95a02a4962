// Blocks that are recorded side by side, written in ascending order.
#ifndef HEDDLE_TRACEGEN_EXECUTE_PARALLEL_IN_ORDER_WRITER_H_
#define HEDDLE_TRACEGEN_EXECUTE_PARALLEL_IN_ORDER_WRITER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/trace.pb.h"
#include "traces/format/chunk/thread_record.h"
#include "traces/format/program/program.h"
#include "traces/format/write/part_encoder.h"
#include "traces/format/write/writer.h"

namespace heddle::tracegen {

// Of blocks that have ended before earlier ones it keeps as many bytes of records as it may, the rest encoded. With
// clusters along y or z that is up to a row or a layer of the grid, whose blocks end long before all earlier ones do.
// Encoded they take what the trace has of them before it is compressed, and are not bounded further: a trace has its
// blocks in ascending order, so that a bound would need a second file to put them by. --max-blocks keeps it small.
class InOrderWriter {
 public:
  static constexpr uint64_t kMaxKeptBytes = 128 << 20;

  // A launch begins, whose blocks go to `writer`. Both must live as long as the launch; of one that is not recorded
  // they may be null, and none of the other functions is called.
  void BeginLaunch(const trace::v1::KernelProgram* program, trace::TraceWriter* writer);
  // The launch has ended, or been given up: forgets what is left of it.
  void EndLaunch() { BeginLaunch(nullptr, nullptr); }
  // A block begins. Blocks begin in ascending order.
  void BeginBlock(uint64_t block) { unwritten_.insert(block); }

  // Takes a whole block, which thereby has ended; see TraceWriter::AddBlock. Errors: those of the writer and the
  // encoder.
  absl::Status AddBlock(uint64_t block, std::span<const trace::ThreadRecord> threads, uint64_t instructions);
  // Takes a part of a block that is cut in time, encoded by `encoder`, which it begins where it is empty and ends with
  // the last part; see TraceWriter::AddBlockPart. Errors: as above.
  absl::Status AddPart(uint64_t block, std::span<const trace::ThreadRecord> threads, bool last,
                       std::span<uint64_t> consumed, std::optional<trace::PartEncoder>& encoder);
  // Writes what no longer has to wait for earlier blocks. To be called when blocks have ended.
  absl::Status Flush();

 private:
  // A block that has records which cannot be written yet: earlier blocks are not complete.
  struct Kept {
    std::vector<trace::v1::BlockChunk> chunks;
    std::vector<uint64_t> addresses;
    std::vector<uint8_t> decisions;
    std::vector<trace::ThreadRecord> threads;  // into the two, if the block is whole
    uint64_t instructions = 0;
    bool complete = false;

    uint64_t Bytes() const { return addresses.size() * sizeof(uint64_t) + decisions.size(); }
  };

  absl::StatusOr<const trace::Program*> Program();

  trace::TraceWriter* writer_ = nullptr;
  const trace::v1::KernelProgram* program_proto_ = nullptr;
  std::optional<trace::Program> program_;  // once something has to be encoded
  trace::EncoderMemory encoder_memory_;
  std::set<uint64_t> unwritten_;  // blocks that have begun
  std::map<uint64_t, Kept> kept_;
  uint64_t kept_bytes_ = 0;
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_PARALLEL_IN_ORDER_WRITER_H_
