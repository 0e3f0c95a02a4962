// The parts of the encoder that follow accesses in program order.
#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "traces/base/varint.h"
#include "traces/format/columns/chunk_encoder.h"

namespace heddle::trace {

void ChunkEncoder::SampleThread(const PendingChunk& chunk, size_t thread, size_t most_samples) {
  constexpr uint64_t kMostAccesses = 8192;
  constexpr uint32_t kMostPerThread = 64;
  const PendingPath& path = chunk.paths()[chunk.path_of_thread()[thread]];
  const auto used_columns = chunk.ColumnsOf(path);
  for (const PathColumn& used : used_columns) columns_[used.column].sampled = true;
  for (ChainState& chain : chain_states_) chain.state = 0;
  std::vector<uint32_t> taken(columns_.size(), 0);
  const uint64_t* const address = chunk.addresses().Of(thread, room_);
  const uint16_t* sequence = chunk.sequence().data() + path.first_access;
  for (uint64_t i = 0; i < std::min(path.accesses, kMostAccesses); ++i) {
    const uint32_t c = sequence[i];
    Column& column = columns_[c];
    ColumnSample& sample = column.sample;
    const bool wanted = taken[c] < kMostPerThread;
    if (wanted && !sample.references.empty() && sample.values.size() < most_samples) {
      sample.values.push_back(address[i]);
      for (uint32_t reference : sample.references) sample.latest.push_back(latest_[reference]);
    }
    for (Candidate& candidate : column.candidates) {
      ChainState& chain = chain_states_[candidate.chain];
      if (wanted && candidate.sample.size() < most_samples) {
        candidate.sample.push_back({address[i], chain.latest, chain.state, chain.known});
      }
      chain.latest = address[i];
      chain.state = candidate.member + 1;
      chain.known = true;
    }
    taken[c] += wanted;
    latest_[c] = address[i];
  }
  for (const PathColumn& used : used_columns) latest_[used.column] = 0;
  if (path.accesses > kMostAccesses) {
    for (ChainState& chain : chain_states_) chain.known = false;
  }
}

void ChunkEncoder::Sample(const PendingChunk& chunk) {
  // Runs of threads one after the other, because a chain may go on from thread to thread.
  constexpr uint64_t kRuns = 8;
  constexpr uint64_t kThreads = 64;
  constexpr uint64_t kAccesses = 16384;
  constexpr size_t kSamples = 64;  // of a column in one run
  constexpr uint64_t kMostExtra = 48;
  const uint64_t threads = chunk.path_of_thread().size();
  latest_.assign(columns_.size(), 0);
  size_t chains = 0;
  for (uint32_t c : used_) {
    for (const Candidate& candidate : columns_[c].candidates) chains = std::max<size_t>(chains, candidate.chain + 1);
  }
  chain_states_.assign(chains, ChainState());
  uint64_t extra = 0;
  uint64_t run = 0;
  uint64_t run_threads = 0;
  uint64_t run_accesses = 0;
  bool followed = false;  // the thread in front was taken
  for (uint64_t t = 0; t < threads; ++t) {
    const PendingPath& path = chunk.paths()[chunk.path_of_thread()[t]];
    if (run < kRuns && t >= run * threads / kRuns) {
      ++run;
      run_threads = 0;
      run_accesses = 0;
    }
    bool take = run_threads < kThreads && run_accesses < kAccesses;
    if (take) {
      ++run_threads;
      run_accesses += path.accesses;
    } else if (extra < kMostExtra) {
      // A column that the runs miss.
      for (const PathColumn& used : chunk.ColumnsOf(path)) {
        const Column& column = columns_[used.column];
        if (!column.sampled && (!column.sample.references.empty() || !column.candidates.empty())) take = true;
      }
      extra += take;
    }
    if (take) {
      if (!followed) {
        for (ChainState& chain : chain_states_) chain.known = false;
      }
      SampleThread(chunk, t, kSamples * run);
    }
    followed = take;
  }
}

void ChunkEncoder::PlanChains(const Program& program, const EncoderMemory& memory, v1::BlockChunk& out) {
  number_of_chain_.assign(memory.chains.size(), 0);
  for (uint32_t c : used_) {
    const ModelChoice& choice = columns_[c].choice;
    // Chains that no column of this chunk counts from are left out.
    if (choice.model != v1::AddressColumn::CHAIN || number_of_chain_[choice.chain - 1] != 0) continue;
    out.add_chain()->set_carry(memory.chains[choice.chain - 1].carry);
    number_of_chain_[choice.chain - 1] = static_cast<uint32_t>(out.chain_size());
  }
  chain_states_.assign(static_cast<size_t>(out.chain_size()), ChainState());
  walk_columns_.assign(columns_.size(), WalkColumn());
  walk_biases_.assign(columns_.size(), {});
  for (size_t k = 0; k < memory.chains.size(); ++k) {
    if (number_of_chain_[k] == 0) continue;
    const std::vector<uint32_t>& members = memory.chains[k].members;
    uint32_t state = 0;
    for (uint32_t c : members) {
      Column& column = columns_[c];
      if (column.values == 0) continue;
      WalkColumn& walk = walk_columns_[c];
      walk.chain = number_of_chain_[k];
      walk.state = ++state;
      if (column.choice.model != v1::AddressColumn::CHAIN) continue;
      // Biases of the columns that have accesses in this chunk.
      walk_biases_[c].push_back(column.choice.chain_bias[0]);
      for (size_t m = 0; m < members.size(); ++m) {
        if (columns_[members[m]].values > 0) walk_biases_[c].push_back(column.choice.chain_bias[m + 1]);
      }
    }
    ChainState& chain = chain_states_[number_of_chain_[k] - 1];
    chain.carry = memory.chains[k].carry;
    chain.known = false;
  }
  for (uint32_t c : used_) {
    Column& column = columns_[c];
    ModelChoice& choice = column.choice;
    // The columns that count from the chain may have no accesses in this chunk.
    if (choice.chain != 0 && number_of_chain_[choice.chain - 1] == 0) choice.chain = 0;
    WalkColumn& walk = walk_columns_[c];
    if (choice.model == v1::AddressColumn::CHAIN) {
      column.walks = true;
      walk.chain_bias = walk_biases_[c].data();
    } else if (choice.model == v1::AddressColumn::RELATIVE) {
      // Within a basic block the accesses of both columns alternate; else only the program's order tells the latest.
      const std::span<const Pc> accesses = program.accesses();
      column.walks = program.block_of(accesses[c]) != program.block_of(accesses[choice.reference]);
      walk.reference = choice.reference;
      walk.shift = choice.shift;
      walk.bias = static_cast<uint64_t>(choice.bias);
    }
  }
}

inline void ChunkEncoder::WalkAccess(uint32_t column, uint64_t value) {
  WalkColumn& walk = walk_columns_[column];
  if (walk.chain != 0) {
    ChainState& chain = chain_states_[walk.chain - 1];
    if (walk.chain_bias != nullptr) {
      const uint64_t bias = static_cast<uint64_t>(walk.chain_bias[chain.state]);
      if (!chain.known && chain.carry) chain.start = chain.latest = value - bias;
      *walk.residual++ = static_cast<int64_t>(value - chain.latest - bias);
      *walk.residual_state++ = static_cast<uint8_t>(chain.state);
    }
    chain.latest = value;
    chain.state = walk.state;
    chain.known = true;
  }
  if (walk.residual != nullptr && walk.chain_bias == nullptr) {
    *walk.residual++ = static_cast<int64_t>(value - Shifted(latest_[walk.reference], walk.shift) - walk.bias);
  }
  latest_[column] = value;
}

void ChunkEncoder::WalkThread(const PendingChunk& chunk, size_t thread) {
  const uint32_t path_index = chunk.path_of_thread()[thread];
  const PendingPath& path = chunk.paths()[path_index];
  const uint64_t* const address = chunk.addresses().OfFirst(path_index);
  const uint16_t* const sequence = chunk.sequence().data() + path.first_access;
  if (path.uses == 1) {
    for (uint64_t i = 0; i < path.accesses; ++i) WalkAccess(sequence[i], address[i]);
    return;
  }
  std::vector<WalkStep>& steps = walk_steps_[path_index];
  if (steps.empty()) {
    const std::span<const uint16_t> numbers = chunk.addresses().ColumnsOf(path_index);
    for (uint32_t i = 0; i < path.accesses; ++i) {
      if (walk_columns_[sequence[i]].matters) steps.push_back({i, sequence[i], numbers[i]});
    }
  }
  if (const std::span<const uint64_t> moves = chunk.addresses().moves(thread); !moves.empty()) {
    for (const WalkStep& step : steps) WalkAccess(step.column, address[step.access] + moves[step.number]);
  } else {
    const uint64_t* const own = chunk.addresses().Of(thread, room_);
    for (const WalkStep& step : steps) WalkAccess(step.column, own[step.access]);
  }
}

void ChunkEncoder::TightenBiases(uint32_t c) {
  Column& column = columns_[c];
  constexpr int64_t kNone = std::numeric_limits<int64_t>::max();
  static_assert(kMostChainMembers < 256);  // a state takes a byte
  std::array<int64_t, kMostChainMembers + 1> lowest;
  lowest.fill(kNone);
  uint64_t nonzero = 0;
  for (size_t i = 0; i < column.residuals.size(); ++i) {
    const int64_t residual = column.residuals[i];
    lowest[column.states[i]] = std::min(lowest[column.states[i]], residual);
    nonzero += residual != 0;
  }
  if (nonzero * 2 <= column.residuals.size()) return;  // the commonest residual is 0, and should stay so
  const auto moved = [&](size_t i) {
    return static_cast<uint64_t>(column.residuals[i]) - static_cast<uint64_t>(lowest[column.states[i]]);
  };
  uint64_t bits = 0;
  uint64_t bits_moved = 0;
  for (size_t i = 0; i < column.residuals.size(); ++i) {
    bits += static_cast<uint64_t>(std::bit_width(ZigZag(column.residuals[i])));
    bits_moved += static_cast<uint64_t>(std::bit_width(moved(i)));
  }
  if (bits_moved >= bits) return;
  for (size_t i = 0; i < column.residuals.size(); ++i) column.residuals[i] = static_cast<int64_t>(moved(i));
  for (size_t s = 0; s < walk_biases_[c].size(); ++s) {
    if (lowest[s] == kNone) continue;
    walk_biases_[c][s] =
        static_cast<int64_t>(static_cast<uint64_t>(walk_biases_[c][s]) + static_cast<uint64_t>(lowest[s]));
  }
}

void ChunkEncoder::WalkResiduals(const PendingChunk& chunk, v1::BlockChunk& out) {
  bool any = false;
  for (uint32_t c : used_) {
    Column& column = columns_[c];
    if (!column.walks) continue;
    any = true;
    column.residuals.resize(column.values);
    walk_columns_[c].residual = column.residuals.data();
    walk_columns_[c].matters = true;
    if (column.choice.model == v1::AddressColumn::RELATIVE) walk_columns_[column.choice.reference].matters = true;
    if (column.choice.model != v1::AddressColumn::CHAIN) continue;
    column.states.resize(column.values);
    walk_columns_[c].residual_state = column.states.data();
  }
  if (!any) return;
  for (WalkColumn& walk : walk_columns_) walk.matters |= walk.chain != 0;
  std::vector<uint8_t> concerned(chunk.paths().size(), 0);
  for (size_t p = 0; p < concerned.size(); ++p) {
    const PendingPath& path = chunk.paths()[p];
    for (const PathColumn& used : chunk.ColumnsOf(path)) {
      concerned[p] |= columns_[used.column].walks || walk_columns_[used.column].chain != 0;
    }
  }
  walk_steps_.assign(chunk.paths().size(), {});
  latest_.assign(columns_.size(), 0);
  for (size_t t = 0; t < chunk.path_of_thread().size(); ++t) {
    const uint32_t path_index = chunk.path_of_thread()[t];
    if (!concerned[path_index]) continue;
    const std::span<const PathColumn> columns = chunk.ColumnsOf(chunk.paths()[path_index]);
    for (const PathColumn& used : columns) {
      if (walk_columns_[used.column].chain == 0) continue;
      ChainState& chain = chain_states_[walk_columns_[used.column].chain - 1];
      chain.state = 0;
      if (!chain.carry) chain.latest = 0;
    }
    WalkThread(chunk, t);
    for (const PathColumn& used : columns) latest_[used.column] = 0;
  }
  for (uint32_t c : used_) {
    if (columns_[c].choice.model == v1::AddressColumn::CHAIN) TightenBiases(c);
  }
  for (size_t k = 0; k < chain_states_.size(); ++k)
    out.mutable_chain(static_cast<int>(k))->set_start(chain_states_[k].start);
}

}  // namespace heddle::trace
