// Turns the blocks that a writer has taken into one BlockChunk record.
#ifndef HEDDLE_TRACES_FORMAT_COLUMNS_CHUNK_ENCODER_H_
#define HEDDLE_TRACES_FORMAT_COLUMNS_CHUNK_ENCODER_H_

#include <cstdint>
#include <vector>

#include "proto/trace.pb.h"
#include "traces/base/worker_pool.h"
#include "traces/format/chunk/pending_chunk.h"
#include "traces/format/columns/address_sampler.h"
#include "traces/format/columns/column_sorter.h"
#include "traces/format/columns/models/chain_model.h"
#include "traces/format/columns/models/encoder_columns.h"
#include "traces/format/columns/ordered_residuals.h"
#include "traces/format/columns/trial_schedule.h"

namespace heddle::trace {

// What is known from earlier chunks of the same program.
struct EncoderMemory {
  std::vector<ModelChoice> choices;  // by column
  std::vector<ChainChoice> chains;
  TrialSchedule trials;
  bool planes = false;  // decisions stand by number instead of by path
};

// Sorts addresses into columns, lets models be analysed and scored where a trial is due, and encodes each column with
// its model. What the models are is in models/.
class ChunkEncoder {
 public:
  // `threads`: that encode columns; what is written does not depend on it.
  explicit ChunkEncoder(unsigned threads = 1) : threads_(threads) {}

  // Fills paths, path_number, columns and totals of `out`; launch, blocks and part are the caller's. `cut`: the chunk
  // is a part of a block, so that extents, start blocks and call stacks are written. Deterministic.
  void Encode(const PendingChunk& chunk, bool cut, EncoderMemory& memory, v1::BlockChunk& out);

 private:
  // Encodes the chunk with models that are tried anew, or with those that are known.
  TrialSchedule::Size EncodeWith(bool trial, const PendingChunk& chunk, bool cut, EncoderMemory& memory,
                                 v1::BlockChunk& out);
  // Decides models and chains anew, from samples.
  void Choose(bool parallel, EncoderMemory& memory);
  // Keeps the models of an earlier chunk where they fit.
  void Keep(const EncoderMemory& memory);
  // Remembers what a trial has chosen. Whether that is what was known.
  bool Remember(EncoderMemory& memory) const;
  // Whether trials have chosen models for all columns of the chunk.
  bool AllTried(const EncoderMemory& memory) const;
  // Accesses of the column by thread.
  std::vector<ThreadResiduals> ThreadsOf(uint32_t column) const;
  // Fills the record of one column; several columns may be encoded at the same time.
  void EncodeColumn(uint32_t index, bool trial, v1::AddressColumn& record);
  static bool IsWorthThreads(const PendingChunk& chunk);

  WorkerPool threads_;
  EncoderColumns columns_;
  ColumnSorter sorter_;
  AddressSampler sampler_;
  OrderedResiduals ordered_;
};

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_COLUMNS_CHUNK_ENCODER_H_
