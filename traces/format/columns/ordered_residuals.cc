#include "traces/format/columns/ordered_residuals.h"

#include "traces/format/columns/models/chain_model.h"
#include "traces/format/columns/models/relative_model.h"

namespace heddle::trace {

void OrderedResiduals::Plan(EncoderColumns& columns, const v1::BlockChunk& out) {
  const Program& program = columns.chunk->program();
  chains_.assign(static_cast<size_t>(out.chain_size()), Chain());
  for (size_t k = 0; k < chains_.size(); ++k) chains_[k].carry = out.chain(static_cast<int>(k)).carry();
  steps_of_column_.assign(columns.all.size(), ColumnSteps());
  for (uint32_t c : columns.used) {
    EncoderColumn& column = columns.all[c];
    ColumnSteps& steps = steps_of_column_[c];
    steps.chain = column.chain;
    steps.state = column.member;
    if (column.choice.model == v1::AddressColumn::CHAIN) {
      column.walks = true;
      steps.chain_bias = column.chain_biases.data();
    } else if (column.choice.model == v1::AddressColumn::RELATIVE) {
      // Within a basic block the accesses of both columns alternate; else only the program's order tells the latest.
      const std::span<const Pc> accesses = program.accesses();
      column.walks = program.block_of(accesses[c]) != program.block_of(accesses[column.choice.reference]);
      steps.reference = column.choice.reference;
      steps.shift = column.choice.shift;
      steps.bias = static_cast<uint64_t>(column.choice.bias);
    }
  }
}

inline void OrderedResiduals::TakeAccess(uint32_t column, uint64_t value) {
  ColumnSteps& walk = steps_of_column_[column];
  if (walk.chain != 0) {
    Chain& chain = chains_[walk.chain - 1];
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

void OrderedResiduals::TakeThread(const PendingChunk& chunk, size_t thread) {
  const uint32_t path_index = chunk.path_of_thread()[thread];
  const PendingPath& path = chunk.paths()[path_index];
  const uint64_t* const address = chunk.addresses().OfFirst(path_index);
  const uint16_t* const sequence = chunk.sequence().data() + path.first_access;
  if (path.uses == 1) {
    for (uint64_t i = 0; i < path.accesses; ++i) TakeAccess(sequence[i], address[i]);
    return;
  }
  std::vector<PathStep>& steps = steps_of_path_[path_index];
  if (steps.empty()) {
    const std::span<const uint16_t> numbers = chunk.addresses().ColumnsOf(path_index);
    for (uint32_t i = 0; i < path.accesses; ++i) {
      if (steps_of_column_[sequence[i]].matters) steps.push_back({i, sequence[i], numbers[i]});
    }
  }
  if (const std::span<const uint64_t> moves = chunk.addresses().moves(thread); !moves.empty()) {
    for (const PathStep& step : steps) TakeAccess(step.column, address[step.access] + moves[step.number]);
  } else {
    const uint64_t* const own = chunk.addresses().Of(thread, room_);
    for (const PathStep& step : steps) TakeAccess(step.column, own[step.access]);
  }
}

void OrderedResiduals::Find(EncoderColumns& columns, v1::BlockChunk& out) {
  Plan(columns, out);
  const PendingChunk& chunk = *columns.chunk;
  bool any = false;
  for (uint32_t c : columns.used) {
    EncoderColumn& column = columns.all[c];
    if (!column.walks) continue;
    any = true;
    column.residuals.resize(column.values);
    steps_of_column_[c].residual = column.residuals.data();
    steps_of_column_[c].matters = true;
    if (column.choice.model == v1::AddressColumn::RELATIVE) steps_of_column_[column.choice.reference].matters = true;
    if (column.choice.model != v1::AddressColumn::CHAIN) continue;
    column.states.resize(column.values);
    steps_of_column_[c].residual_state = column.states.data();
  }
  if (!any) return;
  for (ColumnSteps& walk : steps_of_column_) walk.matters |= walk.chain != 0;
  std::vector<uint8_t> concerned(chunk.paths().size(), 0);
  for (size_t p = 0; p < concerned.size(); ++p) {
    const PendingPath& path = chunk.paths()[p];
    for (const PathColumn& used : chunk.ColumnsOf(path)) {
      concerned[p] |= columns.all[used.column].walks || steps_of_column_[used.column].chain != 0;
    }
  }
  steps_of_path_.assign(chunk.paths().size(), {});
  latest_.assign(columns.all.size(), 0);
  for (size_t t = 0; t < chunk.path_of_thread().size(); ++t) {
    const uint32_t path_index = chunk.path_of_thread()[t];
    if (!concerned[path_index]) continue;
    const std::span<const PathColumn> used_columns = chunk.ColumnsOf(chunk.paths()[path_index]);
    for (const PathColumn& used : used_columns) {
      if (steps_of_column_[used.column].chain == 0) continue;
      Chain& chain = chains_[steps_of_column_[used.column].chain - 1];
      chain.state = 0;
      if (!chain.carry) chain.latest = 0;
    }
    TakeThread(chunk, t);
    for (const PathColumn& used : used_columns) latest_[used.column] = 0;
  }
  for (uint32_t c : columns.used) {
    if (columns.all[c].choice.model == v1::AddressColumn::CHAIN) TightenBiases(columns.all[c]);
  }
  for (size_t k = 0; k < chains_.size(); ++k) out.mutable_chain(static_cast<int>(k))->set_start(chains_[k].start);
}

}  // namespace heddle::trace
