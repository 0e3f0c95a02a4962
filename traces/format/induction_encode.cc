// The part of the encoder that finds addresses which follow the variable of a loop.
#include <algorithm>

#include "traces/format/chunk_encoder.h"

namespace heddle::trace {

bool ChunkEncoder::MayCount(const InductionCounter& counter) const {
  return counters_.size() < kMostInductionCounters ||
         std::find(counters_.begin(), counters_.end(), counter) != counters_.end();
}

void ChunkEncoder::Count(const InductionCounter& counter) {
  if (std::find(counters_.begin(), counters_.end(), counter) == counters_.end()) counters_.push_back(counter);
}

bool ChunkEncoder::FitInduction(const PendingChunk& chunk, uint32_t index, const InductionCounter& counter,
                                std::optional<int64_t> stride) {
  const ColumnView view = View(index);
  InductionCounts counts(chunk.program());
  counts.Add(index, counter);
  // By path, once it is met: where the counts of its accesses begin.
  constexpr size_t kNotMet = ~size_t{0};
  constexpr size_t kNone = kNotMet - 1;
  std::vector<size_t> first(chunk.paths().size(), kNotMet);
  std::vector<uint64_t> all;
  std::vector<uint64_t>& bases = columns_[index].bases;
  bases.clear();
  std::vector<uint64_t> early;  // first counts of the threads in front of the one that tells the stride
  for (uint32_t p : chunk.path_of_thread()) {
    if (first[p] == kNotMet) {
      const PendingPath& path = chunk.paths()[p];
      const auto used = chunk.columns().subspan(path.first_column, path.column_count);
      const bool runs = std::any_of(used.begin(), used.end(), [&](const PathColumn& c) { return c.column == index; });
      first[p] = runs ? all.size() : kNone;
      if (!runs) continue;
      WalkState state = chunk.start(path.start);
      ByteDecisions decisions(chunk.decisions().data() + path.first_decision, path.decision_count);
      counts.Walk(path.extent, decisions, state, path.thread_instructions,
                  [&](uint32_t, uint64_t n) { all.push_back(n); });
    }
    if (first[p] == kNone) continue;
    const std::span<const uint64_t> values = view.of(bases.size());
    const uint64_t* n = all.data() + first[p];
    for (size_t k = 1; k < values.size() && !stride.has_value(); ++k) {
      const int64_t turns = static_cast<int64_t>(n[k] - n[0]);
      const int64_t distance = static_cast<int64_t>(values[k] - values[0]);
      if (turns == 0) continue;
      if (turns == -1) {
        stride = static_cast<int64_t>(-static_cast<uint64_t>(distance));
      } else if (distance % turns == 0) {
        stride = distance / turns;
      } else {
        return false;
      }
    }
    const uint64_t per_turn = static_cast<uint64_t>(stride.value_or(0));
    if (!stride.has_value()) {
      early.push_back(n[0]);
    } else if (!early.empty()) {
      for (size_t t = 0; t < early.size(); ++t) bases[t] -= per_turn * early[t];
      early.clear();
    }
    const uint64_t base = values[0] - per_turn * n[0];
    uint64_t wrong = 0;
    for (size_t k = 1; k < values.size(); ++k) wrong |= (values[k] - per_turn * n[k]) ^ base;
    if (wrong != 0) return false;
    bases.push_back(base);
  }
  columns_[index].choice.stride = stride.value_or(0);
  return true;
}

bool ChunkEncoder::ChooseInduction(const PendingChunk& chunk, uint32_t index, double bits) {
  // Readers of earlier versions do not know this model, so that it must gain something.
  constexpr double kLeastGain = 8 * 512;
  constexpr double kShare = 0.5;
  if (bits < kLeastGain) return false;
  const Program& program = chunk.program();
  ModelChoice& choice = columns_[index].choice;
  for (const InductionCounter& counter : InductionCandidates(program, program.block_of(program.accesses()[index]))) {
    if (!MayCount(counter) || !FitInduction(chunk, index, counter, std::nullopt)) continue;
    const double base_bits = BaseBits(columns_[index].bases);
    if (base_bits + kLeastGain > bits || base_bits > kShare * bits) continue;
    const int64_t stride = choice.stride;
    choice = ModelChoice();
    choice.model = v1::AddressColumn::INDUCTION;
    choice.counter = counter;
    choice.stride = stride;
    Count(counter);
    return true;
  }
  return false;
}

}  // namespace heddle::trace
