#include "traces/format/columns/chunk_encoder.h"

#include <algorithm>

#include "traces/format/columns/models/column_model.h"
#include "traces/format/columns/path_encoder.h"
#include "traces/format/program/operands.h"

namespace heddle::trace {
namespace {

const ColumnModel& ModelOf(const ModelChoice& choice) { return *FindModel(choice.model); }

}  // namespace

std::vector<ThreadResiduals> ChunkEncoder::ThreadsOf(uint32_t column) const {
  const PendingChunk& chunk = *columns_.chunk;
  std::vector<uint32_t> count_of_path(chunk.paths().size(), 0);
  for (size_t p = 0; p < chunk.paths().size(); ++p) {
    const PendingPath& path = chunk.paths()[p];
    for (const PathColumn& used : chunk.ColumnsOf(path)) {
      if (used.column == column) count_of_path[p] = used.count;
    }
  }
  std::vector<ThreadResiduals> threads;
  threads.reserve(columns_.all[column].threads);
  for (uint32_t path : chunk.path_of_thread()) {
    if (count_of_path[path] != 0) threads.push_back({count_of_path[path], ScaleOf(chunk.paths()[path].accesses)});
  }
  return threads;
}

bool ChunkEncoder::IsWorthThreads(const PendingChunk& chunk) {
  constexpr size_t kWorthThreads = 1u << 14;
  return chunk.addresses().accesses() >= kWorthThreads;
}

void ChunkEncoder::EncodeColumn(uint32_t index, bool trial, v1::AddressColumn& record) {
  EncoderColumn& column = columns_.all[index];
  record.set_instruction(columns_.chunk->program().accesses()[index]);
  record.set_operand(OperandOf(columns_.chunk->program(), index));
  record.set_model(column.choice.model);
  if (column.choice.chain != 0) record.set_chain(column.chain);
  thread_local std::vector<int64_t> room;  // kept, since fresh pages would cost as much as the work
  const ModelResiduals residuals = ModelOf(column.choice).Encode(columns_, index, room, record);
  if (residuals.kind == ModelResiduals::Kind::kNone) return;
  if (residuals.kind == ModelResiduals::Kind::kZeros) {
    EncodeZeros(column.values, record);
    return;
  }
  column.choice.exact =
      std::all_of(residuals.numbers.begin(), residuals.numbers.end(), [](int64_t r) { return r == 0; });
  std::vector<ThreadResiduals> threads;
  if (residuals.by_access && !column.choice.exact && (trial || column.choice.layout.scaled)) threads = ThreadsOf(index);
  EncodeResiduals(residuals.numbers, threads, trial, column.choice.layout, record);
}

void ChunkEncoder::Choose(bool parallel, EncoderMemory& memory) {
  using Column = v1::AddressColumn;
  std::vector<ChainChoice> chains = FindChains(columns_);
  sampler_.Sample(columns_);
  threads_.ForEach(columns_.used.size(), parallel, [&](size_t u) {
    for (Column::Model model : {Column::SEPARABLE, Column::TIME, Column::RELATIVE}) {
      FindModel(model)->Score(columns_, columns_.used[u]);
    }
  });
  // One column after the other: they share the counters that a chunk may have.
  for (uint32_t c : columns_.used) {
    for (Column::Model model : {Column::INDUCTION, Column::COUNTED}) FindModel(model)->Score(columns_, c);
  }
  memory.chains = ChooseChains(std::move(chains), columns_);
}

void ChunkEncoder::Keep(const EncoderMemory& memory) {
  for (uint32_t c : columns_.used) {
    EncoderColumn& column = columns_.all[c];
    const ModelChoice& known = memory.choices[c];
    column.choice = known;
    if (ModelOf(known).Fits(columns_, c, known)) continue;
    column.choice.model = column.longest >= 0 ? v1::AddressColumn::SEPARABLE : v1::AddressColumn::TIME;
    if (known.model != v1::AddressColumn::TIME) column.choice.bias = 0;
  }
}

bool ChunkEncoder::Remember(EncoderMemory& memory) const {
  bool same = true;
  for (uint32_t c : columns_.used) {
    const ModelChoice& known = memory.choices[c];
    const ModelChoice& found = columns_.all[c].choice;
    same = same && found.model == known.model && found.reference == known.reference && found.shift == known.shift &&
           found.chain == known.chain;
  }
  // Chains have new numbers. A column without accesses in this chunk may not keep one.
  for (ModelChoice& choice : memory.choices) {
    if (choice.model == v1::AddressColumn::CHAIN) choice = ModelChoice();
    choice.chain = 0;
  }
  for (uint32_t c : columns_.used) {
    memory.choices[c] = columns_.all[c].choice;
    memory.choices[c].tried = true;
  }
  return same;
}

bool ChunkEncoder::AllTried(const EncoderMemory& memory) const {
  return std::all_of(columns_.used.begin(), columns_.used.end(), [&](uint32_t c) { return memory.choices[c].tried; });
}

void ChunkEncoder::Encode(const PendingChunk& chunk, bool cut, EncoderMemory& memory, v1::BlockChunk& out) {
  const v1::BlockChunk beginning = out;  // a few numbers
  bool trial = memory.trials.IsDue();
  TrialSchedule::Size size = EncodeWith(trial, chunk, cut, memory, out);
  if (memory.trials.IsDueAfterAll(AllTried(memory), size)) {
    out = beginning;
    trial = true;
    size = EncodeWith(trial, chunk, cut, memory, out);
  }
  if (trial) {
    memory.trials.NoteTrial(Remember(memory), size);
  } else {
    memory.trials.NoteChunk(size);
  }
}

TrialSchedule::Size ChunkEncoder::EncodeWith(bool trial, const PendingChunk& chunk, bool cut, EncoderMemory& memory,
                                             v1::BlockChunk& out) {
  using Column = v1::AddressColumn;
  const size_t column_count = chunk.program().accesses().size();
  EncodePaths(chunk, cut, out);
  columns_.chunk = &chunk;
  columns_.all.resize(column_count);
  for (EncoderColumn& column : columns_.all) column = EncoderColumn();
  columns_.used.clear();
  columns_.counters.Clear();
  memory.choices.resize(column_count);
  sorter_.Sort(chunk, memory.choices, !trial, columns_);
  const bool parallel = IsWorthThreads(chunk);
  threads_.ForEach(columns_.used.size(), parallel, [&](size_t u) {
    for (Column::Model model : {Column::SEPARABLE, Column::RELATIVE, Column::CHAIN}) {
      FindModel(model)->Analyse(columns_, columns_.used[u], trial);
    }
  });
  TurnDecisions(trial, memory.planes, *out.mutable_paths());
  if (trial) {
    Choose(parallel, memory);
  } else {
    Keep(memory);
  }
  NumberChains(memory.chains, columns_, out);
  ordered_.Find(columns_, out);
  out.mutable_column()->Reserve(static_cast<int>(columns_.used.size()));
  for (size_t u = 0; u < columns_.used.size(); ++u) out.add_column();
  threads_.ForEach(columns_.used.size(), parallel,
                   [&](size_t u) { EncodeColumn(columns_.used[u], trial, *out.mutable_column(static_cast<int>(u))); });
  out.set_thread_instructions(chunk.thread_instructions());
  out.set_accesses(chunk.addresses().accesses());
  return {out.ByteSizeLong(), out.accesses()};
}

}  // namespace heddle::trace
