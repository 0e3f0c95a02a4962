// Turns the blocks that a writer has taken into one BlockChunk record.
#ifndef HEDDLE_TRACES_FORMAT_COLUMNS_CHUNK_ENCODER_H_
#define HEDDLE_TRACES_FORMAT_COLUMNS_CHUNK_ENCODER_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/functional/function_ref.h"
#include "proto/trace.pb.h"
#include "traces/base/worker_pool.h"
#include "traces/format/chunk/pending_chunk.h"
#include "traces/format/columns/chain_model.h"
#include "traces/format/columns/column_model.h"
#include "traces/format/columns/induction_equations.h"
#include "traces/format/columns/trial_schedule.h"
#include "traces/format/limits.h"

namespace heddle::trace {

// What is known from earlier chunks of the same program.
struct EncoderMemory {
  std::vector<ModelChoice> choices;  // by column
  std::vector<ChainChoice> chains;
  TrialSchedule trials;
  bool planes = false;  // decisions stand by number instead of by path
};

class ChunkEncoder {
 public:
  // `threads`: that encode columns; what is written does not depend on it.
  explicit ChunkEncoder(unsigned threads = 1) : threads_(threads) {}

  // Fills paths, path_number, columns and totals of `out`; launch, blocks and part are the caller's. `cut`: the chunk
  // is a part of a block, so that extents, start blocks and call stacks are written. Deterministic.
  void Encode(const PendingChunk& chunk, bool cut, EncoderMemory& memory, v1::BlockChunk& out);

 private:
  // A chain that a column may belong to.
  struct Candidate {
    uint32_t chain = 0;
    uint32_t member = 0;
    std::vector<ChainSample> sample;
  };
  // What a column is expected to be after earlier chunks, so that its addresses need not be sorted.
  enum class Expected : uint8_t { kNothing, kSeparable, kRelative };
  struct Column {
    uint64_t first_value = 0;
    uint64_t values = 0;
    uint64_t first_start = 0;
    uint64_t threads = 0;
    int64_t longest = -1;  // SEPARABLE if >= 0
    Expected expected = Expected::kNothing;
    bool placed = false;  // sorted, or found to be what is expected
    uint64_t wrong = 0;   // it is not what was expected if this is not 0
    bool sampled = false;
    bool walks = false;  // its residuals need a walk in program order
    ModelChoice choice;
    ColumnSample sample;
    std::vector<Candidate> candidates;  // at most two
    std::vector<int64_t> residuals;     // of columns that walk
    std::vector<uint8_t> states;        // CHAIN: of the chain, by residual
    std::vector<uint64_t> bases;        // INDUCTION, and what is expected: by thread that runs the instruction
    std::vector<uint64_t> model;        // expected SEPARABLE: addresses of a thread that runs it most often
  };
  // Latest address of a chain, while threads are walked.
  struct ChainState {
    uint64_t start = 0;
    uint64_t latest = 0;
    uint32_t state = 0;
    bool known = false;  // sample: threads in front were walked; else: the chunk has had an access of the chain
    bool carry = false;
  };
  // What a walk in program order does with an access of a column.
  struct WalkColumn {
    uint64_t bias = 0;
    const int64_t* chain_bias = nullptr;  // CHAIN
    int64_t* residual = nullptr;          // next residual to be written
    uint8_t* residual_state = nullptr;    // CHAIN: next state to be written
    uint32_t reference = 0;
    int32_t shift = 0;
    uint32_t chain = 0;    // 1 + chain, 0 = none
    uint32_t state = 0;    // that it leaves
    bool matters = false;  // it has residuals to be written, or others count from it
  };
  // An access that matters, of a path that several threads take.
  struct WalkStep {
    uint32_t access = 0;  // among the path's accesses
    uint32_t column = 0;
    uint32_t number = 0;  // of the column, among the path's
  };

  // Encodes the chunk with models that are tried anew, or with those that are known.
  TrialSchedule::Size EncodeWith(bool trial, const PendingChunk& chunk, bool cut, EncoderMemory& memory,
                                 v1::BlockChunk& out);
  void EncodePaths(const PendingChunk& chunk, bool cut, v1::BlockChunk& out);
  // Turns decisions to planes if that pays.
  void TurnDecisions(bool trial, EncoderMemory& memory, v1::PathTable& table);
  void CountAccesses(const PendingChunk& chunk);
  // Columns that were SEPARABLE in earlier chunks, or RELATIVE without residuals, need not be sorted if they still are:
  // chooses them, and what threads are compared with.
  void Expect(const PendingChunk& chunk, const EncoderMemory& memory);
  void FindModels(const PendingChunk& chunk);
  // A column that is to be sorted and counts from another one needs that one sorted.
  void ExpectNothingOfReferences(const EncoderMemory& memory);
  // Sorts the addresses into columns, but for those that are what they are expected to be.
  void Scatter(const PendingChunk& chunk, const EncoderMemory& memory);
  // Of the columns of which nothing is expected and that are not placed; `skips`: there may be others.
  void ScatterPass(const PendingChunk& chunk, const EncoderMemory& memory, bool skips);
  void PlaceColumns();
  void NoteStart(uint32_t column);  // of a thread
  void Compare(const uint64_t* address, std::span<const uint32_t> order, const ModelChoice& known, Column& column);
  // The same for threads in a row, on one path, of which the chunk keeps `moves`.
  void ScatterMoved(const PendingChunk& chunk, const PendingPath& path, std::span<const uint64_t> moves,
                    const EncoderMemory& memory);
  // Not 0 if threads with these moves are not at the distance from their reference that is expected; `first` are the
  // addresses of the first thread on the path, `number` the position of the column among its `columns`.
  uint64_t RelativeOfMoved(const uint64_t* first, uint32_t count, size_t number, size_t columns,
                           std::span<const uint64_t> moves, const ModelChoice& known) const;
  // Fills order_ and first_by_column_ for a path, if that has not been done.
  void OrderByColumn(const PendingChunk& chunk, uint32_t path_index);
  // Not of columns that are `expected`.
  ColumnView View(uint32_t column) const;
  // Decides models and chains anew, from samples.
  void Choose(const PendingChunk& chunk, EncoderMemory& memory);
  // Possible chains; the second of a pair lacks the columns of the first that are cheap by themselves.
  std::vector<ChainChoice> FindChains();
  void ChooseChains(std::vector<ChainChoice> chains, std::span<const double> costs, EncoderMemory& memory);
  // Of a column that costs `bits`: INDUCTION if all its accesses are so and that is much less. True if it was chosen.
  bool ChooseInduction(const PendingChunk& chunk, uint32_t index, double bits);
  // Distinct counters of the chunk so far: whether there may be these too, and that there are.
  bool MayCount(std::span<const InductionTerm> terms) const;
  void Count(std::span<const InductionTerm> terms);
  // Whether steps of a thread are wanted.
  enum class Take { kYes, kNot, kNoMore };
  // Calls step(turns, distance) for the accesses of the column, but for the first of each thread: what the counters did
  // since the access before, and how the address changed. `take` is asked in front of each thread with several
  // accesses.
  void ForEachStep(const PendingChunk& chunk, uint32_t index, std::span<const InductionCounter> counters,
                   absl::FunctionRef<Take(uint32_t path, size_t accesses)> take,
                   absl::FunctionRef<void(std::span<const int64_t> turns, int64_t distance)> step) const;
  // The counters whose strides are not 0; none if a stride is no whole number, or there are too many.
  static std::vector<InductionTerm> TermsOf(const InductionEquations& equations,
                                            std::span<const InductionCounter> counters);
  // What the addresses of the column would have to add for each counter, as the first accesses tell: the terms that are
  // not 0, or none if there is no such sum.
  std::vector<InductionTerm> SolveInduction(const PendingChunk& chunk, uint32_t index,
                                            std::span<const InductionCounter> counters) const;
  // Finds the bases of the column, if all its accesses follow `terms`.
  bool FitInduction(const PendingChunk& chunk, uint32_t index, std::span<const InductionTerm> terms);
  // Whether the chunk is small enough for model COUNTED.
  static bool MayBeCounted(const PendingChunk& chunk) { return chunk.addresses().accesses() <= kMaxCountedAccesses; }
  // Of a column that costs `bits` as TIME or RELATIVE: COUNTED if that is much less. True if it was chosen.
  bool ChooseCounted(const PendingChunk& chunk, uint32_t index, double bits);
  // Terms, and one for the restart.
  static std::vector<InductionTerm> CountersOf(const ModelChoice& choice);
  // Finds what most accesses of a sample add for each counter.
  std::vector<InductionTerm> GuessTerms(const PendingChunk& chunk, uint32_t index,
                                        std::span<const InductionCounter> counters) const;
  // Bases, and residuals with bias 0, of a column of model COUNTED; of at most so many accesses, but whole threads.
  void CountedResiduals(const PendingChunk& chunk, uint32_t index, const ModelChoice& choice, size_t most,
                        std::vector<uint64_t>& bases, std::vector<int64_t>& residuals) const;
  // Remembers what a trial has chosen. Whether that is what was known.
  bool Remember(EncoderMemory& memory) const;
  // Whether trials have chosen models for all columns of the chunk.
  bool AllTried(const EncoderMemory& memory) const;
  // Keeps the models of an earlier chunk where they fit.
  void Keep(const PendingChunk& chunk, const EncoderMemory& memory);
  // Records accesses of some threads, with the latest addresses of possible references and chains.
  void Sample(const PendingChunk& chunk);
  void SampleThread(const PendingChunk& chunk, size_t thread, size_t most_samples);
  // Residuals of the columns that need the order of the program.
  void PlanChains(const Program& program, const EncoderMemory& memory, v1::BlockChunk& out);
  void WalkResiduals(const PendingChunk& chunk, v1::BlockChunk& out);
  // Moves what all residuals of a state have in common to the state's bias, if that takes fewer bits.
  void TightenBiases(uint32_t column);
  void WalkThread(const PendingChunk& chunk, size_t thread);
  void WalkAccess(uint32_t column, uint64_t value);
  std::vector<ThreadResiduals> ThreadsOf(const PendingChunk& chunk, uint32_t column) const;
  // Fills the record of one column; several columns may be encoded at the same time.
  void EncodeColumn(const PendingChunk& chunk, uint32_t index, bool trial, v1::AddressColumn& record);
  static bool IsWorthThreads(const PendingChunk& chunk);

  WorkerPool threads_;
  std::vector<Column> columns_;
  std::vector<uint32_t> used_;              // columns with values, ascending
  std::vector<InductionCounter> counters_;  // of INDUCTION
  std::vector<uint32_t> number_of_path_;
  std::vector<uint64_t> values_;
  std::vector<uint32_t> starts_;
  uint64_t values_in_use_ = 0;
  uint64_t starts_in_use_ = 0;
  std::vector<uint64_t*> next_value_;  // by column
  std::vector<uint32_t*> next_start_;
  std::vector<uint32_t> order_;            // of a path: its accesses by column
  std::vector<uint64_t> first_by_column_;  // likewise the addresses of the first thread that takes it
  std::vector<bool> has_order_;            // by path
  std::vector<uint32_t*> next_order_;
  // Of the thread that is being compared: where the column is in order_, or in first_by_column_ and among the moves.
  std::vector<const uint32_t*> order_of_column_;
  std::vector<const uint64_t*> first_of_column_;
  std::vector<size_t> number_of_column_;
  std::vector<uint64_t> room_;  // for addresses of a thread
  std::vector<uint64_t> latest_;
  std::vector<ChainState> chain_states_;
  std::vector<uint32_t> number_of_chain_;  // by chain of the memory: 1 + number in the chunk, 0 = not used
  std::vector<WalkColumn> walk_columns_;
  std::vector<std::vector<WalkStep>> walk_steps_;  // by path
  std::vector<std::vector<int64_t>> walk_biases_;
};

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_COLUMNS_CHUNK_ENCODER_H_
