// Residuals that need the order of the program: of columns whose addresses count from the latest one of other columns.
#ifndef HEDDLE_TRACES_FORMAT_COLUMNS_ORDERED_RESIDUALS_H_
#define HEDDLE_TRACES_FORMAT_COLUMNS_ORDERED_RESIDUALS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "proto/trace.pb.h"
#include "traces/format/chunk/pending_chunk.h"
#include "traces/format/columns/models/encoder_columns.h"

namespace heddle::trace {

// Walks over the accesses of threads in program order, once for all columns of models CHAIN and RELATIVE. Buffers are
// reused from chunk to chunk.
class OrderedResiduals {
 public:
  // Sets EncoderColumn::walks, and fills the residuals of the columns that do. The chains of `out` have their numbers;
  // they get their starts.
  void Find(EncoderColumns& columns, v1::BlockChunk& out);

 private:
  struct Chain {
    uint64_t start = 0;
    uint64_t latest = 0;
    uint32_t state = 0;
    bool known = false;  // the chunk has had an access of the chain
    bool carry = false;
  };
  // What is done with an access of a column.
  struct ColumnSteps {
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
  struct PathStep {
    uint32_t access = 0;  // among the path's accesses
    uint32_t column = 0;
    uint32_t number = 0;  // of the column, among the path's
  };

  void Plan(EncoderColumns& columns, const v1::BlockChunk& out);
  void TakeThread(const PendingChunk& chunk, size_t thread);
  void TakeAccess(uint32_t column, uint64_t value);

  std::vector<uint64_t> latest_;  // by column
  std::vector<Chain> chains_;
  std::vector<ColumnSteps> steps_of_column_;
  std::vector<std::vector<PathStep>> steps_of_path_;
  std::vector<uint64_t> room_;  // for addresses of a thread
};

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_COLUMNS_ORDERED_RESIDUALS_H_
