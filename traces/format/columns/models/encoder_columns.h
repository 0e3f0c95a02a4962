// The columns of a chunk while it is encoded: what models of addresses are told, and what they decide.
#ifndef HEDDLE_TRACES_FORMAT_COLUMNS_MODELS_ENCODER_COLUMNS_H_
#define HEDDLE_TRACES_FORMAT_COLUMNS_MODELS_ENCODER_COLUMNS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "proto/trace.pb.h"
#include "traces/format/chunk/pending_chunk.h"
#include "traces/format/columns/models/counter_budget.h"
#include "traces/format/columns/models/induction_counts.h"
#include "traces/format/columns/residuals/residuals.h"

namespace heddle::trace {

// What a writer decided for a column; kept from chunk to chunk so that most chunks need no trial.
struct ModelChoice {
  v1::AddressColumn::Model model = v1::AddressColumn::TIME;
  uint32_t reference = 0;  // RELATIVE: column, not instruction
  int32_t shift = 0;       // RELATIVE
  int64_t bias = 0;
  uint32_t chain = 0;                       // 1 + number of the chain that the column belongs to; 0 = none
  std::vector<int64_t> chain_bias;          // CHAIN: by state, for all columns of the chain
  std::vector<InductionTerm> terms;         // INDUCTION, COUNTED
  std::optional<InductionCounter> restart;  // COUNTED
  LayoutChoice layout;
  bool exact = false;  // there were no residuals but 0
  bool tried = false;  // a trial has chosen it
};

// Addresses of one column, thread by thread.
struct ColumnView {
  std::span<const uint64_t> values;
  std::span<const uint32_t> starts;  // first value of each thread that runs the instruction, plus the end
  size_t threads() const { return starts.size() - 1; }
  std::span<const uint64_t> of(size_t thread) const {
    return values.subspan(starts[thread], starts[thread + 1] - starts[thread]);
  }
};

// Some accesses of a column, each with the latest addresses of columns that it could be relative to.
struct ReferenceSample {
  std::vector<uint64_t> values;
  std::vector<uint32_t> references;  // candidate columns
  std::vector<uint64_t> latest;      // values.size() x references.size(), 0 where the reference had not run
};

// One access of a chain's column in a sample.
struct ChainSample {
  uint64_t value = 0;
  uint64_t latest = 0;  // of the chain, threads in front included
  uint32_t state = 0;   // 0 = first access of the thread, m = the latest was of member m - 1
  bool known = false;   // `latest` is right although the access is the first of its thread
};

// A chain that a column may belong to.
struct ChainCandidate {
  uint32_t chain = 0;
  uint32_t member = 0;
  std::vector<ChainSample> sample;
};

// What a column is expected to be after earlier chunks, so that its addresses need not be sorted.
enum class Expected : uint8_t { kNothing, kSeparable, kRelative };

// A column of the chunk, its addresses sorted or compared with what they were expected to be.
struct EncoderColumn {
  uint64_t first_value = 0;  // where its addresses are sorted to
  uint64_t values = 0;
  uint64_t first_start = 0;
  uint64_t threads = 0;  // that run the instruction
  int64_t longest = -1;  // SEPARABLE if >= 0, and then the thread that runs the instruction most often
  Expected expected = Expected::kNothing;
  bool placed = false;  // sorted, or found to be what is expected
  uint64_t wrong = 0;   // it is not what was expected if this is not 0
  bool sampled = false;
  bool walks = false;   // its residuals need a walk in program order
  uint32_t chain = 0;   // 1 + number of its chain in the chunk; 0 = none
  uint32_t member = 0;  // of the chain, from 1
  // In a trial.
  uint64_t lowest = 0;  // address
  uint64_t highest = 0;
  double bits = 0;  // estimate for the model that is chosen so far
  ReferenceSample sample;
  std::vector<ChainCandidate> candidates;  // at most two

  ModelChoice choice;
  std::vector<int64_t> chain_biases;  // CHAIN: by state, for the columns of the chain that the chunk has
  std::vector<int64_t> residuals;     // of columns that walk
  std::vector<uint8_t> states;        // CHAIN: of the chain, by residual
  std::vector<uint64_t> bases;        // INDUCTION, and what is expected: by thread that runs the instruction
  std::vector<uint64_t> model;        // expected SEPARABLE: addresses of a thread that runs it most often
};

// All columns of the chunk. Buffers are reused from chunk to chunk.
struct EncoderColumns {
  const PendingChunk* chunk = nullptr;
  std::vector<EncoderColumn> all;  // by position in Program::accesses()
  std::vector<uint32_t> used;      // those with values, ascending
  // Addresses, column after column and thread after thread, and where each thread's begin.
  std::vector<uint64_t> values;
  std::vector<uint32_t> starts;
  CounterBudget counters;  // of INDUCTION and COUNTED

  // The sorted addresses of a column of which nothing is expected.
  ColumnView View(uint32_t column) const {
    const EncoderColumn& of = all[column];
    return {std::span(values).subspan(of.first_value, of.values),
            std::span(starts).subspan(of.first_start, of.threads + 1)};
  }
};

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_COLUMNS_MODELS_ENCODER_COLUMNS_H_
