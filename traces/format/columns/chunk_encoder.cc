#include "traces/format/columns/chunk_encoder.h"

#include <algorithm>
#include <cstring>

#include "traces/format/columns/decision_planes.h"

namespace heddle::trace {
namespace {

constexpr uint32_t kNoNumber = ~uint32_t{0};

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
  out.mutable_path_number()->Reserve(static_cast<int>(chunk.path_of_thread().size()));
  for (uint32_t path_index : chunk.path_of_thread()) {
    uint32_t& number = number_of_path_[path_index];
    if (number != kNoNumber) {
      out.mutable_path_number()->AddAlreadyReserved(number + 1);
      continue;
    }
    out.mutable_path_number()->AddAlreadyReserved(0);
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

void ChunkEncoder::TurnDecisions(bool trial, EncoderMemory& memory, v1::PathTable& table) {
  const std::span<const uint32_t> counts(table.decision_count().data(),
                                         static_cast<size_t>(table.decision_count_size()));
  if (trial) memory.planes = PlanesPay(counts, table.decision_bits());
  if (!memory.planes || table.decision_bits().empty()) return;
  table.set_decision_planes(PlanesOf(counts, table.decision_bits()));
  table.clear_decision_bits();
}

std::vector<ThreadResiduals> ChunkEncoder::ThreadsOf(const PendingChunk& chunk, uint32_t column) const {
  std::vector<uint32_t> count_of_path(chunk.paths().size(), 0);
  for (size_t p = 0; p < chunk.paths().size(); ++p) {
    const PendingPath& path = chunk.paths()[p];
    for (const PathColumn& used : chunk.ColumnsOf(path)) {
      if (used.column == column) count_of_path[p] = used.count;
    }
  }
  std::vector<ThreadResiduals> threads;
  threads.reserve(columns_[column].threads);
  for (uint32_t path : chunk.path_of_thread()) {
    if (count_of_path[path] != 0) threads.push_back({count_of_path[path], ScaleOf(chunk.paths()[path].accesses)});
  }
  return threads;
}

bool ChunkEncoder::IsWorthThreads(const PendingChunk& chunk) {
  constexpr size_t kWorthThreads = 1u << 14;
  return chunk.addresses().accesses() >= kWorthThreads;
}

void ChunkEncoder::EncodeColumn(const PendingChunk& chunk, uint32_t index, bool trial, v1::AddressColumn& record) {
  Column& column = columns_[index];
  const Program& program = chunk.program();
  const ColumnView view = column.expected == Expected::kNothing ? View(index) : ColumnView();
  record.set_instruction(program.accesses()[index]);
  record.set_model(column.choice.model);
  if (column.choice.chain != 0) record.set_chain(number_of_chain_[column.choice.chain - 1]);
  thread_local std::vector<int64_t> differences;  // kept, since fresh pages would cost as much as the work
  std::span<const int64_t> residuals;
  bool by_access = true;  // a residual for every access
  switch (column.choice.model) {
    case v1::AddressColumn::SEPARABLE:
      if (column.expected == Expected::kSeparable) {
        StoreBases(column.bases, record);
        StoreSteps(column.model, record);
      } else {
        StoreBases(view, record);
        StoreSteps(view.of(static_cast<size_t>(column.longest)), record);
      }
      break;
    case v1::AddressColumn::TIME:
      record.set_bias(column.choice.bias);
      StoreBases(view, record);
      TimeResiduals(view, column.choice.bias, differences);
      residuals = differences;
      by_access = false;
      break;
    case v1::AddressColumn::INDUCTION:
      StoreTerms(column.choice.terms, record);
      StoreBases(column.bases, record);
      break;
    case v1::AddressColumn::COUNTED:
      StoreTerms(column.choice.terms, record);
      if (column.choice.restart.has_value()) {
        record.mutable_restart()->set_counted_block(column.choice.restart->counted_block);
        record.mutable_restart()->set_reset_block(column.choice.restart->reset_block);
      }
      CountedResiduals(chunk, index, column.choice, ~size_t{0}, column.bases, differences);
      for (int64_t& r : differences) {
        r = static_cast<int64_t>(static_cast<uint64_t>(r) - static_cast<uint64_t>(column.choice.bias));
      }
      record.set_bias(column.choice.bias);
      StoreBases(column.bases, record);
      residuals = differences;
      by_access = false;
      break;
    case v1::AddressColumn::CHAIN:
      for (int64_t bias : walk_biases_[index]) record.add_chain_bias(bias);
      residuals = column.residuals;
      break;
    default: {
      record.set_ref_instruction(program.accesses()[column.choice.reference]);
      record.set_ref_shift(column.choice.shift);
      record.set_bias(column.choice.bias);
      if (column.expected == Expected::kRelative) {
        EncodeZeros(column.values, record);
        return;
      }
      if (column.walks) {
        residuals = column.residuals;
        break;
      }
      const std::span<const uint64_t> reference = View(column.choice.reference).values;
      differences.resize(view.values.size());
      const auto bias = static_cast<uint64_t>(column.choice.bias);
      if (column.choice.shift == 0) {
        for (size_t i = 0; i < differences.size(); ++i) {
          differences[i] = static_cast<int64_t>(view.values[i] - reference[i] - bias);
        }
      } else {
        for (size_t i = 0; i < differences.size(); ++i) {
          differences[i] = static_cast<int64_t>(view.values[i] - Shifted(reference[i], column.choice.shift) - bias);
        }
      }
      residuals = differences;
      break;
    }
  }
  if (column.choice.model != v1::AddressColumn::SEPARABLE && column.choice.model != v1::AddressColumn::INDUCTION) {
    const bool zero = std::all_of(residuals.begin(), residuals.end(), [](int64_t r) { return r == 0; });
    column.choice.exact = zero;
    std::vector<ThreadResiduals> threads;
    if (by_access && !zero && (trial || column.choice.layout.scaled)) threads = ThreadsOf(chunk, index);
    EncodeResiduals(residuals, threads, trial, column.choice.layout, record);
  }
}

void ChunkEncoder::Choose(const PendingChunk& chunk, EncoderMemory& memory) {
  constexpr size_t kMostReferences = 12;
  for (size_t u = 1; u < used_.size(); ++u) {
    // Candidates: the nearest columns in front of this one, nearest first.
    Column& column = columns_[used_[u]];
    if (column.longest >= 0 && HasCheapBases(View(used_[u]))) continue;
    for (size_t r = u; r > 0 && column.sample.references.size() < kMostReferences; --r) {
      column.sample.references.push_back(used_[r - 1]);
    }
  }
  std::vector<ChainChoice> chains = FindChains();
  Sample(chunk);
  std::vector<double> costs(columns_.size(), 0);
  threads_.ForEach(used_.size(), IsWorthThreads(chunk), [&](size_t u) {
    const uint32_t c = used_[u];
    costs[c] = ChooseModel(View(c), columns_[c].longest >= 0, columns_[c].sample, columns_[c].choice);
    // For the sake of such a column there need not be a chain.
    if (columns_[c].longest >= 0 && HasNearlyFreeBases(View(c))) costs[c] = 0;
  });
  for (uint32_t c : used_) {
    if (columns_[c].longest >= 0) continue;
    if (ChooseInduction(chunk, c, costs[c]) || ChooseCounted(chunk, c, costs[c])) costs[c] = 0;
  }
  ChooseChains(std::move(chains), costs, memory);
}

std::vector<ChainChoice> ChunkEncoder::FindChains() {
  std::vector<AddressRange> ranges;
  for (uint32_t c : used_) {
    const std::span<const uint64_t> values = View(c).values;
    const auto [lowest, highest] = std::minmax_element(values.begin(), values.end());
    ranges.push_back({c, *lowest, *highest});
  }
  std::vector<ChainChoice> chains;
  for (ChainChoice& all : GroupByRange(std::move(ranges))) {
    ChainChoice irregular;
    irregular.lowest = all.lowest;
    for (uint32_t c : all.members) {
      if (columns_[c].longest < 0 || !HasCheapBases(View(c))) irregular.members.push_back(c);
    }
    if (irregular.members.empty()) continue;
    const bool both = irregular.members.size() < all.members.size();
    chains.push_back(std::move(all));
    if (both) chains.push_back(std::move(irregular));
  }
  for (uint32_t k = 0; k < chains.size(); ++k) {
    for (uint32_t m = 0; m < chains[k].members.size(); ++m)
      columns_[chains[k].members[m]].candidates.push_back({k, m, {}});
  }
  return chains;
}

void ChunkEncoder::ChooseChains(std::vector<ChainChoice> chains, std::span<const double> costs, EncoderMemory& memory) {
  memory.chains.clear();
  for (size_t k = 0; k < chains.size();) {
    // Of the two chains of a pair the better one.
    const bool pair = k + 1 < chains.size() && columns_[chains[k + 1].members[0]].candidates.size() == 2 &&
                      columns_[chains[k + 1].members[0]].candidates[0].chain == k;
    double best_gain = 0;
    size_t best = 0;
    std::vector<ModelChoice> best_choices;
    for (size_t candidate = k; candidate < k + 1 + pair; ++candidate) {
      std::vector<std::vector<ChainSample>> samples;
      std::vector<uint64_t> values;
      std::vector<double> member_costs;
      std::vector<ModelChoice> choices;
      for (uint32_t c : chains[candidate].members) {
        for (Candidate& own : columns_[c].candidates) {
          if (own.chain == candidate) samples.push_back(std::move(own.sample));
        }
        values.push_back(columns_[c].values);
        member_costs.push_back(costs[c]);
        choices.push_back(columns_[c].choice);
      }
      const double gain = ChooseChain(samples, values, member_costs, chains[candidate], choices);
      if (gain <= best_gain) continue;
      best_gain = gain;
      best = candidate;
      best_choices = std::move(choices);
    }
    if (best_gain > 0) {
      memory.chains.push_back(std::move(chains[best]));
      const std::vector<uint32_t>& members = memory.chains.back().members;
      for (size_t m = 0; m < members.size(); ++m) {
        columns_[members[m]].choice = std::move(best_choices[m]);
        columns_[members[m]].choice.chain = static_cast<uint32_t>(memory.chains.size());
      }
    }
    k += 1 + pair;
  }
}

void ChunkEncoder::Keep(const PendingChunk& chunk, const EncoderMemory& memory) {
  for (uint32_t c : used_) {
    Column& column = columns_[c];
    const ModelChoice& known = memory.choices[c];
    column.choice = known;
    bool fits = false;
    switch (known.model) {
      case v1::AddressColumn::RELATIVE:
        fits = columns_[known.reference].values > 0 && (column.longest < 0 || !HasCheapBases(View(c)));
        break;
      case v1::AddressColumn::COUNTED:
        fits = column.longest < 0 && MayBeCounted(chunk) && MayCount(CountersOf(known));
        if (fits) Count(CountersOf(known));
        break;
      case v1::AddressColumn::TIME:
        fits = column.longest < 0;
        break;
      case v1::AddressColumn::CHAIN:
        fits = true;
        break;
      case v1::AddressColumn::INDUCTION:
        fits = column.longest < 0 && MayCount(known.terms) && FitInduction(chunk, c, known.terms);
        if (fits) Count(known.terms);
        break;
      default:
        break;
    }
    if (fits) continue;
    column.choice.model = column.longest >= 0 ? v1::AddressColumn::SEPARABLE : v1::AddressColumn::TIME;
    if (known.model != v1::AddressColumn::TIME) column.choice.bias = 0;
  }
}

bool ChunkEncoder::Remember(EncoderMemory& memory) const {
  bool same = true;
  for (uint32_t c : used_) {
    const ModelChoice& known = memory.choices[c];
    const ModelChoice& found = columns_[c].choice;
    same = same && found.model == known.model && found.reference == known.reference && found.shift == known.shift &&
           found.chain == known.chain;
  }
  // Chains have new numbers. A column without accesses in this chunk may not keep one.
  for (ModelChoice& choice : memory.choices) {
    if (choice.model == v1::AddressColumn::CHAIN) choice = ModelChoice();
    choice.chain = 0;
  }
  for (uint32_t c : used_) {
    memory.choices[c] = columns_[c].choice;
    memory.choices[c].tried = true;
  }
  return same;
}

bool ChunkEncoder::AllTried(const EncoderMemory& memory) const {
  return std::all_of(used_.begin(), used_.end(), [&](uint32_t c) { return memory.choices[c].tried; });
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
  const uint32_t column_count = static_cast<uint32_t>(chunk.program().accesses().size());
  EncodePaths(chunk, cut, out);
  columns_.resize(column_count);
  for (Column& column : columns_) column = Column();
  used_.clear();
  counters_.clear();
  memory.choices.resize(column_count);
  CountAccesses(chunk);
  if (!trial) Expect(chunk, memory);
  Scatter(chunk, memory);
  const bool parallel = IsWorthThreads(chunk);
  threads_.ForEach(used_.size(), parallel, [&](size_t u) {
    Column& column = columns_[used_[u]];
    if (column.expected == Expected::kNothing) column.longest = FindSeparable(View(used_[u]));
  });
  TurnDecisions(trial, memory, *out.mutable_paths());
  if (trial) {
    Choose(chunk, memory);
  } else {
    Keep(chunk, memory);
  }
  PlanChains(chunk.program(), memory, out);
  WalkResiduals(chunk, out);
  out.mutable_column()->Reserve(static_cast<int>(used_.size()));
  for (size_t u = 0; u < used_.size(); ++u) out.add_column();
  threads_.ForEach(used_.size(), parallel,
                   [&](size_t u) { EncodeColumn(chunk, used_[u], trial, *out.mutable_column(static_cast<int>(u))); });
  out.set_thread_instructions(chunk.thread_instructions());
  out.set_accesses(chunk.addresses().accesses());
  return {out.ByteSizeLong(), out.accesses()};
}

}  // namespace heddle::trace
