#include "traces/format/chunk_encoder.h"

#include <algorithm>
#include <cstring>

namespace heddle::trace {
namespace {

constexpr uint32_t kNoNumber = ~uint32_t{0};

// Chunks in which all models are tried anew; between them the choices of the last trial hold.
bool IsTrial(uint64_t chunk) { return chunk < 2 || chunk % 16 == 0; }

// Appends decisions of 0 or 1, one per byte, as bits, least significant first.
void AppendBits(const uint8_t* decisions, size_t count, std::string& out) {
  size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    uint64_t word;
    memcpy(&word, decisions + i, 8);
    // Gathers bit 0 of each byte into the top byte, the first byte's bit lowest.
    out.push_back(static_cast<char>((word * 0x0102040810204080) >> 56));
  }
  if (i < count) {
    uint8_t last = 0;
    for (int bit = 0; i < count; ++i, ++bit) last |= static_cast<uint8_t>(decisions[i] << bit);
    out.push_back(static_cast<char>(last));
  }
}

bool HasWideDecisions(const Program& program) {
  for (const Block& block : program.blocks()) {
    if (block.terminator == v1::BRANCH_WIDE || block.terminator == v1::CALL_INDIRECT) return true;
  }
  return false;
}

// Tells two-way and wide decisions of a path apart, in order.
class DecisionSplitter {
 public:
  DecisionSplitter(const uint8_t* next, std::vector<uint8_t>& two_way, std::vector<uint32_t>& wide)
      : next_(next), two_way_(two_way), wide_(wide) {}
  DecisionSplitter(const PendingChunk& chunk, const PendingPath& path, std::vector<uint8_t>& two_way,
                   std::vector<uint32_t>& wide)
      : DecisionSplitter(chunk.decisions().data() + path.first_decision, two_way, wide) {
    end_ = next_ + path.decision_count;
  }
  bool empty() const { return next_ == end_; }
  bool two_way(uint32_t& out) {
    two_way_.push_back(*next_);
    out = *next_++;
    return true;
  }
  bool wide(uint32_t& out) {
    wide_.push_back(*next_);
    out = *next_++;
    return true;
  }

 private:
  const uint8_t* next_;
  const uint8_t* end_ = nullptr;
  std::vector<uint8_t>& two_way_;
  std::vector<uint32_t>& wide_;
};

}  // namespace

void ChunkEncoder::EncodePaths(const PendingChunk& chunk, bool cut, v1::BlockChunk& out) {
  const Program& program = chunk.program();
  const bool has_wide = HasWideDecisions(program);
  v1::PathTable& table = *out.mutable_paths();
  std::string& bits = *table.mutable_decision_bits();
  std::vector<uint8_t> two_way;
  std::vector<uint32_t> wide;
  bool any_wide = false;
  number_of_path_.assign(chunk.paths().size(), kNoNumber);
  uint32_t numbers = 0;
  out.mutable_path_ref()->Reserve(static_cast<int>(chunk.path_of_thread().size()));
  for (uint32_t path_index : chunk.path_of_thread()) {
    uint32_t& number = number_of_path_[path_index];
    if (number != kNoNumber) {
      out.mutable_path_ref()->AddAlreadyReserved(numbers - number);
      continue;
    }
    out.mutable_path_ref()->AddAlreadyReserved(0);
    number = numbers++;
    const PendingPath& path = chunk.paths()[path_index];
    if (has_wide) {
      two_way.clear();
      wide.clear();
      DecisionSplitter splitter(chunk, path, two_way, wide);
      WalkState state = chunk.start(path.start);
      uint64_t instructions = 0;
      Walk(program, path.extent, splitter, state, ~uint64_t{0}, instructions, [](uint32_t, const Block&) {});
      table.add_decision_count(static_cast<uint32_t>(two_way.size()));
      AppendBits(two_way.data(), two_way.size(), bits);
      table.add_wide_count(static_cast<uint32_t>(wide.size()));
      for (uint32_t decision : wide) table.add_wide_decision(decision);
      any_wide |= !wide.empty();
    } else {
      table.add_decision_count(path.decision_count);
      AppendBits(chunk.decisions().data() + path.first_decision, path.decision_count, bits);
    }
    if (cut) {
      const WalkState& start = chunk.start(path.start);
      table.add_extent(path.extent == Extent::kRunsToExit ? v1::PathTable::RUNS_TO_EXIT
                       : path.extent == Extent::kCut      ? v1::PathTable::CUT
                                                          : v1::PathTable::ENDED);
      table.add_start_block(start.block);
      table.add_call_depth(static_cast<uint32_t>(start.stack.size()));
      for (uint32_t block : start.stack) table.add_call_stack(block);
    }
  }
  if (!any_wide) table.clear_wide_count();
}

ColumnView ChunkEncoder::View(uint32_t index) const {
  const Column& column = columns_[index];
  return {std::span(values_).subspan(column.first_value, column.values),
          std::span(starts_).subspan(column.first_start, column.threads + 1)};
}

void ChunkEncoder::Scatter(const PendingChunk& chunk) {
  for (const PendingPath& path : chunk.paths()) {
    for (const PathColumn& used : chunk.columns().subspan(path.first_column, path.column_count)) {
      columns_[used.column].values += path.uses * used.count;
      columns_[used.column].threads += path.uses;
    }
  }
  uint64_t values = 0;
  uint64_t starts = 0;
  for (uint32_t c = 0; c < columns_.size(); ++c) {
    Column& column = columns_[c];
    column.first_value = values;
    column.first_start = starts;
    if (column.values == 0) continue;
    used_.push_back(c);
    values += column.values;
    starts += column.threads + 1;
  }
  values_.resize(values);
  starts_.resize(starts);
  next_value_.resize(columns_.size());
  std::vector<uint32_t*> next_start(columns_.size());
  for (uint32_t c : used_) {
    next_value_[c] = values_.data() + columns_[c].first_value;
    next_start[c] = starts_.data() + columns_[c].first_start;
  }
  const uint64_t* address = chunk.addresses().data();
  for (uint32_t path_index : chunk.path_of_thread()) {
    const PendingPath& path = chunk.paths()[path_index];
    for (const PathColumn& used : chunk.columns().subspan(path.first_column, path.column_count)) {
      const uint64_t* first = values_.data() + columns_[used.column].first_value;
      *next_start[used.column]++ = static_cast<uint32_t>(next_value_[used.column] - first);
    }
    const uint16_t* sequence = chunk.sequence().data() + path.first_access;
    for (uint64_t i = 0; i < path.accesses; ++i) *next_value_[sequence[i]]++ = *address++;
  }
  for (uint32_t c : used_) *next_start[c] = static_cast<uint32_t>(columns_[c].values);
}

void ChunkEncoder::SampleThread(const PendingChunk& chunk, uint64_t first_address, const PendingPath& path) {
  constexpr uint64_t kMostAccesses = 8192;
  constexpr size_t kMostSamples = 512;
  constexpr uint32_t kMostPerThread = 64;
  for (const PathColumn& used : chunk.columns().subspan(path.first_column, path.column_count)) {
    latest_[used.column] = 0;
    columns_[used.column].sampled |= true;
  }
  std::vector<uint32_t> taken(columns_.size(), 0);
  const uint64_t* address = chunk.addresses().data() + first_address;
  const uint16_t* sequence = chunk.sequence().data() + path.first_access;
  for (uint64_t i = 0; i < std::min(path.accesses, kMostAccesses); ++i) {
    const uint32_t c = sequence[i];
    ColumnSample& sample = columns_[c].sample;
    if (!sample.references.empty() && taken[c] < kMostPerThread && sample.values.size() < kMostSamples) {
      ++taken[c];
      sample.values.push_back(address[i]);
      for (uint32_t reference : sample.references) sample.latest.push_back(latest_[reference]);
    }
    latest_[c] = address[i];
  }
}

void ChunkEncoder::Sample(const PendingChunk& chunk) {
  constexpr uint64_t kThreads = 48;
  const uint64_t threads = chunk.path_of_thread().size();
  const uint64_t stride = threads / kThreads + 1;
  latest_.assign(columns_.size(), 0);
  uint64_t first_address = 0;
  uint64_t extra = 0;
  for (uint64_t t = 0; t < threads; ++t) {
    const PendingPath& path = chunk.paths()[chunk.path_of_thread()[t]];
    bool take = t % stride == 0;
    if (!take && extra < kThreads) {
      // A column that the regular picks miss.
      for (const PathColumn& used : chunk.columns().subspan(path.first_column, path.column_count)) {
        const Column& column = columns_[used.column];
        if (!column.sampled && !column.sample.references.empty()) take = true;
      }
      extra += take;
    }
    if (take) {
      for (const PathColumn& used : chunk.columns().subspan(path.first_column, path.column_count)) {
        latest_[used.column] = 0;
      }
      SampleThread(chunk, first_address, path);
      for (const PathColumn& used : chunk.columns().subspan(path.first_column, path.column_count)) {
        latest_[used.column] = 0;
      }
    }
    first_address += path.accesses;
  }
}

void ChunkEncoder::CrossResiduals(const PendingChunk& chunk) {
  std::vector<uint32_t> crossing;
  for (uint32_t c : used_) {
    if (!columns_[c].crosses) continue;
    crossing.push_back(c);
    columns_[c].residuals.clear();
    columns_[c].residuals.reserve(columns_[c].values);
  }
  if (crossing.empty()) return;
  latest_.assign(columns_.size(), 0);
  uint64_t first_address = 0;
  for (uint32_t path_index : chunk.path_of_thread()) {
    const PendingPath& path = chunk.paths()[path_index];
    const auto used_columns = chunk.columns().subspan(path.first_column, path.column_count);
    bool concerned = false;
    for (const PathColumn& used : used_columns) {
      latest_[used.column] = 0;
      concerned |= columns_[used.column].crosses;
    }
    if (concerned) {
      const uint64_t* address = chunk.addresses().data() + first_address;
      const uint16_t* sequence = chunk.sequence().data() + path.first_access;
      for (uint64_t i = 0; i < path.accesses; ++i) {
        const uint32_t c = sequence[i];
        Column& column = columns_[c];
        if (column.crosses) {
          const uint64_t predicted = Shifted(latest_[column.choice.reference], column.choice.shift) +
                                     static_cast<uint64_t>(column.choice.bias);
          column.residuals.push_back(static_cast<int64_t>(address[i] - predicted));
        }
        latest_[c] = address[i];
      }
      for (const PathColumn& used : used_columns) latest_[used.column] = 0;
    }
    first_address += path.accesses;
  }
}

void ChunkEncoder::EncodeColumn(const PendingChunk& chunk, uint32_t index, bool trial, EncoderMemory& memory,
                                v1::BlockChunk& out) {
  Column& column = columns_[index];
  const Program& program = chunk.program();
  const ColumnView view = View(index);
  v1::AddressColumn& record = *out.add_column();
  record.set_instruction(program.accesses()[index]);
  record.set_model(column.choice.model);
  switch (column.choice.model) {
    case v1::AddressColumn::SEPARABLE:
      StoreBases(view, record);
      StoreSteps(view.of(static_cast<size_t>(column.longest)), record);
      break;
    case v1::AddressColumn::TIME:
      record.set_bias(column.choice.bias);
      StoreBases(view, record);
      TimeResiduals(view, column.choice.bias, residuals_);
      EncodeResiduals(residuals_, trial, column.choice.layout, record);
      break;
    default: {
      record.set_ref_instruction(program.accesses()[column.choice.reference]);
      record.set_ref_shift(column.choice.shift);
      record.set_bias(column.choice.bias);
      if (column.crosses) {
        EncodeResiduals(column.residuals, trial, column.choice.layout, record);
        break;
      }
      const std::span<const uint64_t> reference = View(column.choice.reference).values;
      residuals_.resize(view.values.size());
      for (size_t i = 0; i < residuals_.size(); ++i) {
        residuals_[i] = static_cast<int64_t>(view.values[i] - Shifted(reference[i], column.choice.shift) -
                                             static_cast<uint64_t>(column.choice.bias));
      }
      EncodeResiduals(residuals_, trial, column.choice.layout, record);
      break;
    }
  }
  if (trial) memory.choices[index] = column.choice;
}

void ChunkEncoder::Encode(const PendingChunk& chunk, bool cut, EncoderMemory& memory, v1::BlockChunk& out) {
  const Program& program = chunk.program();
  const uint32_t column_count = static_cast<uint32_t>(program.accesses().size());
  EncodePaths(chunk, cut, out);
  columns_.resize(column_count);
  for (Column& column : columns_) column = Column();
  used_.clear();
  memory.choices.resize(column_count);
  Scatter(chunk);

  const bool trial = IsTrial(memory.chunks++);
  for (size_t u = 0; u < used_.size(); ++u) {
    Column& column = columns_[used_[u]];
    const ColumnView view = View(used_[u]);
    column.longest = FindSeparable(view);
    if (!trial || u == 0) continue;
    // Candidates: the nearest columns in front of this one, nearest first.
    constexpr size_t kMostReferences = 12;
    if (column.longest >= 0 && HasCheapBases(view)) continue;
    for (size_t r = u; r > 0 && column.sample.references.size() < kMostReferences; --r) {
      column.sample.references.push_back(used_[r - 1]);
    }
  }
  if (trial) Sample(chunk);
  for (uint32_t c : used_) {
    Column& column = columns_[c];
    const ModelChoice& known = memory.choices[c];
    if (trial) {
      ChooseModel(View(c), column.longest >= 0, column.sample, column.choice);
    } else {
      column.choice = known;
      const bool separable = column.longest >= 0 && HasCheapBases(View(c));
      const bool known_fits = known.model == v1::AddressColumn::RELATIVE
                                  ? columns_[known.reference].values > 0 && !separable
                                  : known.model == v1::AddressColumn::TIME && column.longest < 0;
      if (!known_fits) {
        column.choice.model = column.longest >= 0 ? v1::AddressColumn::SEPARABLE : v1::AddressColumn::TIME;
        if (known.model != v1::AddressColumn::TIME) column.choice.bias = 0;
      }
    }
    column.crosses =
        column.choice.model == v1::AddressColumn::RELATIVE &&
        program.block_of(program.accesses()[c]) != program.block_of(program.accesses()[column.choice.reference]);
  }
  CrossResiduals(chunk);
  out.mutable_column()->Reserve(static_cast<int>(used_.size()));
  for (uint32_t c : used_) EncodeColumn(chunk, c, trial, memory, out);
  out.set_thread_instructions(chunk.thread_instructions());
  out.set_accesses(chunk.addresses().size());
}

}  // namespace heddle::trace
