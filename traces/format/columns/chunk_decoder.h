// The steps of DecodeChunk, with buffers that are reused from chunk to chunk.
#ifndef HEDDLE_TRACES_FORMAT_COLUMNS_CHUNK_DECODER_H_
#define HEDDLE_TRACES_FORMAT_COLUMNS_CHUNK_DECODER_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "proto/trace.pb.h"
#include "traces/format/chunk/decoded_chunk.h"
#include "traces/format/chunk/walk.h"
#include "traces/format/columns/induction.h"
#include "traces/format/columns/residuals.h"
#include "traces/format/program/program.h"

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
  // Distinct columns of each path, and accesses of one thread of the path by each of them. Vectors may be longer.
  std::vector<uint16_t> columns;
  std::vector<uint32_t> counts;
  std::vector<Column> totals;  // by column (position in Program::accesses())
};

// Reads blocks, paths and path references into `out` and walks every path. Derived totals are compared with the limits
// while they grow, and with what the chunk declares at the end.
absl::Status DecodePaths(const v1::BlockChunk& chunk, const Program& program, uint32_t threads_per_block,
                         WalkedPaths& walked, DecodedChunk& out);

// Restores all addresses. Every model is brought to one form, so that walking over the accesses in program order needs
// no decision per access: address = shifted(latest address of some slot) + bias of the slot's state + the column's next
// addend.
class AddressDecoder {
 public:
  absl::Status Decode(const v1::BlockChunk& chunk, const Program& program, const WalkedPaths& walked,
                      DecodedChunk& out);
  // Gives memory back after an unusually large chunk.
  void Trim();

 private:
  // Holds the latest address of a column or of a chain, or the base of the running thread in a separable column.
  struct Slot {
    uint64_t address = 0;
    uint64_t state = 0;  // chain: 0 = no access in this thread yet, m = the latest was of its m-th column
  };
  // One column while threads are walked; one cache line.
  struct alignas(64) Cursor {
    const uint64_t* next = nullptr;    // addend of the next access
    const Slot* from = nullptr;        // slot `source`
    const uint64_t* biases = nullptr;  // by state of the source; only of columns that are chained
    uint64_t base = 0;                 // of the instruction; subtracted from every address
    uint64_t stride = 0;               // bytes from one addend to the next; 0 = the same addend for all
    uint32_t source = 0;               // slot
    uint32_t target = 0;               // slot that is set beside the column's own
    uint32_t state = 0;                // of the target, afterwards
    uint8_t left = 0;                  // shift of the source
    uint8_t right = 0;
    bool shifts = false;
    bool chained = false;            // counts from a chain, or belongs to one
    bool constant_distance = false;  // from the latest address of its reference, without a shift
    bool used = false;
    bool separable = false;  // SEPARABLE or INDUCTION: a base per thread, plus what the path tells
    bool based = false;
  };
  static_assert(sizeof(Cursor) == 64);
  // All numbers from `lowest` up to `highest`, with 2^64 taken as 0.
  struct Reach {
    uint64_t lowest = 0;
    uint64_t highest = 0;
  };
  struct Storage {
    std::vector<int64_t> residuals;  // plus the bias, but for CHAIN
    // TIME, COUNTED: residuals with the bases in between; SEPARABLE: steps; INDUCTION: by access, of one path after the
    // other
    std::vector<uint64_t> addends;
    std::vector<uint64_t> sums;      // COUNTED: by access, of one path after the other
    std::vector<uint64_t> restarts;  // likewise: a number that changes where the column begins anew
    std::vector<uint64_t> bases;     // SEPARABLE, INDUCTION: by thread that runs the instruction
    Reach bases_reach;               // of all of them
    std::vector<uint64_t> biases;
    const uint64_t* first = nullptr;  // addend of the first access
    bool zeroed = false;          // counts from 0, which its reference shifted by 63 is if its addresses are below 2^63
    uint32_t reference_slot = 0;  // of a column that is zeroed
  };
  // Of a separable column: what the next thread that runs the instruction starts with.
  struct ThreadStart {
    const uint64_t* next_base = nullptr;
    const uint64_t* addends = nullptr;
  };
  struct CountedColumn {
    uint32_t column = 0;
    uint32_t count = 0;  // accesses of a thread
  };
  // What an address is: a value of the thread plus what the path tells. Value 0 is always 0.
  struct Latest {
    uint32_t value = 0;
    uint32_t state = 0;  // of a chain, see Slot
    uint64_t added = 0;
  };
  // A reach that grows: from `first` by distances.
  struct FullReach {
    bool any = false;
    uint64_t first = 0;
    int64_t lowest = 0;
    int64_t highest = 0;
  };
  // A value that a thread has of its own: shifted(value `source` + before) + constant + what comes next in `stream`.
  struct PlannedValue {
    const uint64_t** stream = nullptr;
    uint32_t source = 0;
    uint8_t stride = 0;  // bytes by which the stream moves on
    uint8_t left = 0;
    uint8_t right = 0;
    uint64_t constant = 0;
    Reach reach = {};  // what is added to it, the bases of the instructions subtracted
    uint64_t before = 0;
  };
  // A chain that goes on from thread to thread: a value that is its latest address.
  struct PlannedCarry {
    uint32_t slot = 0;
    bool reaches = false;  // some access counts from it
    Reach reach = {};      // as that of a PlannedValue
    Latest last = {};      // with which a thread of the path leaves it
  };
  // How the threads of a path are walked.
  struct PathPlan {
    bool tried = false;
    bool planned = false;      // else by cursors
    bool chained = false;      // then: some column belongs to a chain
    bool finished = false;     // a thread of the path has been walked
    bool shifts = false;       // a value is made by a shift
    bool certain = false;      // whatever the bases, 32-bit offsets hold what counts from them
    uint32_t carry_count = 0;  // the values behind 0
    uint32_t base_count = 0;   // those behind these: bases of separable columns
    uint32_t value_count = 0;  // likewise, bases included
    uint64_t first_place = 0;  // likewise what is added
    uint64_t first_value = 0;
    uint64_t first_carry = 0;
  };

  static constexpr uint32_t kNoValue = ~uint32_t{0};

  // The first address of an instruction lies in the middle of the 4 GiB that 32-bit offsets reach.
  static constexpr uint64_t BaseOf(uint64_t first_address) { return first_address - (uint64_t{1} << 31); }

  absl::Status ReadChains(const v1::BlockChunk& chunk);
  absl::Status ReadColumn(const v1::AddressColumn& column, const WalkedPaths& walked, const Program& program,
                          uint32_t index);
  absl::Status SetSource(const v1::AddressColumn& column, const WalkedPaths& walked, const Program& program,
                         uint32_t index);
  absl::Status SetCounter(const v1::AddressColumn& column, const Program& program, uint32_t index);
  // Finds the addends of the columns of model INDUCTION, and sums and restarts of those of model COUNTED.
  void CountInductions(const WalkedPaths& walked, const DecodedChunk& out);
  template <typename OutOf>
  void CountAlongPaths(const WalkedPaths& walked, const DecodedChunk& out, InductionCounts& counts, const OutOf& out_of,
                       std::vector<uint32_t>& first);
  // Makes of the addends of columns of model COUNTED, which are those of TIME so far, what follows from their sums.
  void AddSums(const WalkedPaths& walked, const DecodedChunk& out);
  // Counts the accesses by thread of the columns where that matters.
  void CountByThread(const v1::BlockChunk& chunk, const Program& program, const WalkedPaths& walked,
                     const DecodedChunk& out);
  void ReadSteps(const v1::AddressColumn& column, uint32_t index);
  void ReadTime(const v1::AddressColumn& column, std::span<const ThreadResiduals> threads, uint32_t index);
  // Works out what a path tells of its addresses; false if that is more than a plan holds, or too little to pay.
  // `alone`: no thread of the path follows at once.
  bool Plan(const WalkedPaths& walked, const WalkedPaths::Path& path, uint64_t accesses, bool alone, PathPlan& plan);
  void StartPlan(const WalkedPaths& walked, const WalkedPaths::Path& path, PathPlan& plan);
  void ForgetPlan(const PathPlan& plan);
  template <bool kShifts>
  uint64_t FindValues(const PathPlan& plan);
  template <typename Output>
  uint64_t FinishPlan(const uint16_t* sequence, uint64_t accesses, PathPlan& plan);
  template <typename Output>
  uint64_t WalkShortThreads(const PathPlan& plan, uint64_t accesses, uint64_t threads, Output* output);
  // Walks threads that follow one another in one planned path; returns the bits of all offsets that 32 bits cannot
  // hold.
  template <typename Output>
  uint64_t WalkPlannedThreads(const uint16_t* sequence, uint64_t accesses, uint64_t threads, PathPlan& plan,
                              Output* output);
  std::vector<uint32_t>& AddedOf(uint32_t /*output*/) { return added32_; }
  std::vector<uint64_t>& AddedOf(uint64_t /*output*/) { return added64_; }
  void Rewind();
  // Returns whether all columns have the base that 32-bit offsets count from.
  bool StartThread(std::span<const uint16_t> columns, std::span<const uint32_t> first_addends);
  // Where there are as few columns to be cleared, or chains, all are set at the start of each thread, otherwise those
  // that the thread before it, or this one, has to do with.
  static constexpr size_t kFew = 16;
  // kBased: all columns have bases.
  template <typename Output, bool kShifts, bool kChains, bool kBased>
  uint64_t WalkThread(const uint16_t* sequence, uint64_t accesses, Output* output);
  template <typename Output, bool kShifts>
  bool WalkThreads(const WalkedPaths& walked, const DecodedChunk& out, Output* output);
  template <typename Output>
  bool WalkAll(const WalkedPaths& walked, const DecodedChunk& out, Output* output);
  // True if columns that count from 0 instead of an address shifted by 63 were right to; else they will not any more.
  // `narrow`: the addresses have been walked, and 32-bit offsets hold them.
  bool ZeroedColumnsHold(bool narrow);

  uint32_t columns_ = 0;
  std::vector<Cursor> cursors_;
  // Latest addresses by column, bases of the running thread by column, chains, and 0.
  std::vector<Slot> slots_;
  std::vector<Storage> storage_;
  std::vector<ThreadStart> starts_;  // by column
  std::vector<v1::Chain> chains_;
  std::vector<uint32_t> chain_members_;  // columns of each chain
  std::vector<uint32_t> chain_read_;     // columns of each chain so far
  std::vector<ThreadResiduals> runs_;    // accesses by thread, column after column
  std::vector<uint64_t> first_run_;      // by column
  std::vector<CountedColumn> counted_;   // of one path after the other: columns whose accesses by thread matter
  std::vector<PathPlan> plans_;          // by path
  // Of one planned path after the other:
  std::vector<uint16_t> places_;   // by access: number of the value that it counts from
  std::vector<uint32_t> added32_;  // by access: what is added to the value; less the instruction's base
  std::vector<uint64_t> added64_;  // the same for 64-bit addresses
  std::vector<PlannedValue> planned_values_;
  std::vector<PlannedCarry> planned_carries_;
  std::vector<uint32_t> base_columns_;   // of the values that are bases; as long as planned_values_
  std::vector<uint64_t> values_;         // of the running thread: 0, bases, carries, values that accesses make
  std::vector<uint64_t> planned_added_;  // by access of the path that is planned
  std::vector<FullReach> reaches_;       // by value of the path that is planned
  std::vector<Latest> latest_;           // by slot, while a path is planned
  std::vector<uint32_t> occurrence_;     // by column, likewise
  std::optional<InductionCounts> inductions_;
  std::optional<InductionCounts> restarts_;
  std::vector<uint32_t> first_addend_;   // of the columns of paths: where the path's begin. Empty without INDUCTION
  std::vector<uint32_t> first_restart_;  // likewise
  std::vector<uint8_t> needs_clearing_;  // by column: a thread may look at its latest address before it has one
  std::vector<uint16_t> cleared_;        // the columns that do
  bool any_shift_ = false;
  bool any_zeroed_ = false;
};

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_COLUMNS_CHUNK_DECODER_H_
