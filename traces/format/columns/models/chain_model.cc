#include "traces/format/columns/models/chain_model.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <utility>

#include "traces/base/varint.h"
#include "traces/format/columns/models/costs.h"

namespace heddle::trace {
namespace {

// A model that says less about the data must be worth it: share of the bits, and bits of the table of biases.
constexpr double kGain = 0.98;
constexpr double kTableBits = 48;

// Bits per access of one column, and its biases by state.
double CostOfMember(std::span<const ChainSample> samples, uint64_t lowest, bool carry, size_t states,
                    std::vector<int64_t>& biases) {
  std::vector<std::vector<int64_t>> by_state(states);
  for (const ChainSample& sample : samples) {
    if (sample.state == 0 && carry && !sample.known) continue;
    const uint64_t latest = sample.state == 0 && !carry ? 0 : sample.latest;
    by_state[sample.state].push_back(static_cast<int64_t>(sample.value - latest));
  }
  biases.assign(states, 0);
  std::vector<int64_t> residuals;
  size_t most = 0;
  int64_t commonest = 0;
  for (size_t s = 0; s < states; ++s) {
    if (by_state[s].empty()) continue;
    CostWithBias(by_state[s], biases[s]);
    // Where threads start anywhere in the array, the sample need not have the lowest place.
    const bool scattered = by_state[s].front() != by_state[s].back() && biases[s] == by_state[s].front();
    if (s == 0 && !carry && scattered) biases[s] = static_cast<int64_t>(lowest);
    for (int64_t difference : by_state[s]) {
      residuals.push_back(static_cast<int64_t>(static_cast<uint64_t>(difference) - static_cast<uint64_t>(biases[s])));
    }
    if (s > 0 && by_state[s].size() > most) {
      most = by_state[s].size();
      commonest = biases[s];
    }
  }
  // States that the sample lacks.
  for (size_t s = carry ? 0 : 1; s < states; ++s) {
    if (by_state[s].empty()) biases[s] = commonest;
  }
  std::sort(residuals.begin(), residuals.end());
  return residuals.empty() ? 64 : CostOf(residuals);
}

// Groups columns whose ranges overlap, at most kMostChainMembers each; a group of one is a chain too.
std::vector<ChainChoice> GroupByRange(const EncoderColumns& columns) {
  std::vector<uint32_t> order = columns.used;
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return columns.all[a].lowest != columns.all[b].lowest ? columns.all[a].lowest < columns.all[b].lowest : a < b;
  });
  std::vector<ChainChoice> groups;
  uint64_t end = 0;
  for (const uint32_t c : order) {
    const EncoderColumn& range = columns.all[c];
    if (groups.empty() || range.lowest > end || groups.back().members.size() == kMostChainMembers) {
      groups.push_back({{}, range.lowest, false});
      end = range.highest;
    }
    groups.back().members.push_back(c);
    end = std::max(end, range.highest);
  }
  for (ChainChoice& group : groups) std::sort(group.members.begin(), group.members.end());
  return groups;
}

// Finds out whether CHAIN is cheaper than what was chosen so far for the columns of a chain, and whether threads go on
// from one another. `samples`, `values` (accesses), `costs` (bits of the model chosen so far) and `choices` have one
// element per member. Changes the choices of the columns that gain; returns the bits gained, 0 if no column does.
double ChooseChain(std::span<const std::vector<ChainSample>> samples, std::span<const uint64_t> values,
                   std::span<const double> costs, ChainChoice& chain, std::span<ModelChoice> choices) {
  const size_t members = chain.members.size();
  const size_t states = members + 1;
  double before = 0;
  for (size_t m = 0; m < members; ++m) before += costs[m];
  double best = before;
  std::vector<std::vector<int64_t>> chosen;  // biases of the members that gain
  for (const bool carry : {false, true}) {
    double sum = 0;
    std::vector<std::vector<int64_t>> biases(members);
    for (size_t m = 0; m < members; ++m) {
      if (!samples[m].empty()) {
        const double cost =
            CostOfMember(samples[m], chain.lowest, carry, states, biases[m]) * static_cast<double>(values[m]) +
            kTableBits * static_cast<double>(states);
        if (cost < kGain * costs[m]) {
          sum += cost;
          continue;
        }
      }
      biases[m].clear();
      sum += costs[m];
    }
    if (sum < best) {
      best = sum;
      chain.carry = carry;
      chosen = std::move(biases);
    }
  }
  if (chosen.empty()) return 0;
  for (size_t m = 0; m < members; ++m) {
    if (chosen[m].empty()) continue;
    choices[m].model = v1::AddressColumn::CHAIN;
    choices[m].bias = 0;
    choices[m].chain_bias = std::move(chosen[m]);
  }
  return before - best;
}

// What a chain would have to save.
double CostAlone(const EncoderColumns& columns, uint32_t index) {
  const EncoderColumn& column = columns.all[index];
  // For the sake of such a column there need not be a chain.
  return column.longest >= 0 && HasNearlyFreeBases(columns.View(index)) ? 0 : column.bits;
}

}  // namespace

void ChainModel::Analyse(EncoderColumns& columns, uint32_t index, bool trial) const {
  if (!trial) return;
  const std::span<const uint64_t> values = columns.View(index).values;
  const auto [lowest, highest] = std::minmax_element(values.begin(), values.end());
  columns.all[index].lowest = *lowest;
  columns.all[index].highest = *highest;
}

std::vector<ChainChoice> FindChains(EncoderColumns& columns) {
  std::vector<ChainChoice> chains;
  for (ChainChoice& all : GroupByRange(columns)) {
    ChainChoice irregular;
    irregular.lowest = all.lowest;
    for (uint32_t c : all.members) {
      if (columns.all[c].longest < 0 || !HasCheapBases(columns.View(c))) irregular.members.push_back(c);
    }
    if (irregular.members.empty()) continue;
    const bool both = irregular.members.size() < all.members.size();
    chains.push_back(std::move(all));
    if (both) chains.push_back(std::move(irregular));
  }
  for (uint32_t k = 0; k < chains.size(); ++k) {
    for (uint32_t m = 0; m < chains[k].members.size(); ++m) {
      columns.all[chains[k].members[m]].candidates.push_back({k, m, {}});
    }
  }
  return chains;
}

std::vector<ChainChoice> ChooseChains(std::vector<ChainChoice> chains, EncoderColumns& columns) {
  std::vector<ChainChoice> chosen;
  for (size_t k = 0; k < chains.size();) {
    // Of the two chains of a pair the better one.
    const auto first_candidates = [&](size_t chain) -> const std::vector<ChainCandidate>& {
      return columns.all[chains[chain].members[0]].candidates;
    };
    const bool pair =
        k + 1 < chains.size() && first_candidates(k + 1).size() == 2 && first_candidates(k + 1)[0].chain == k;
    double best_gain = 0;
    size_t best = 0;
    std::vector<ModelChoice> best_choices;
    for (size_t candidate = k; candidate < k + 1 + pair; ++candidate) {
      std::vector<std::vector<ChainSample>> samples;
      std::vector<uint64_t> values;
      std::vector<double> costs;
      std::vector<ModelChoice> choices;
      for (uint32_t c : chains[candidate].members) {
        EncoderColumn& column = columns.all[c];
        for (ChainCandidate& own : column.candidates) {
          if (own.chain == candidate) samples.push_back(std::move(own.sample));
        }
        values.push_back(column.values);
        costs.push_back(CostAlone(columns, c));
        choices.push_back(column.choice);
      }
      const double gain = ChooseChain(samples, values, costs, chains[candidate], choices);
      if (gain <= best_gain) continue;
      best_gain = gain;
      best = candidate;
      best_choices = std::move(choices);
    }
    if (best_gain > 0) {
      chosen.push_back(std::move(chains[best]));
      const std::vector<uint32_t>& members = chosen.back().members;
      for (size_t m = 0; m < members.size(); ++m) {
        columns.all[members[m]].choice = std::move(best_choices[m]);
        columns.all[members[m]].choice.chain = static_cast<uint32_t>(chosen.size());
      }
    }
    k += 1 + pair;
  }
  return chosen;
}

bool ChainModel::Fits(EncoderColumns& /*columns*/, uint32_t /*index*/, const ModelChoice& /*known*/) const {
  return true;
}

void NumberChains(std::span<const ChainChoice> chains, EncoderColumns& columns, v1::BlockChunk& out) {
  std::vector<uint32_t> number_of(chains.size(), 0);  // 1 + number in the chunk, 0 = not used
  for (uint32_t c : columns.used) {
    const ModelChoice& choice = columns.all[c].choice;
    // Chains that no column of this chunk counts from are left out.
    if (choice.model != v1::AddressColumn::CHAIN || number_of[choice.chain - 1] != 0) continue;
    out.add_chain()->set_carry(chains[choice.chain - 1].carry);
    number_of[choice.chain - 1] = static_cast<uint32_t>(out.chain_size());
  }
  for (size_t k = 0; k < chains.size(); ++k) {
    if (number_of[k] == 0) continue;
    const std::vector<uint32_t>& members = chains[k].members;
    uint32_t member = 0;
    for (uint32_t c : members) {
      EncoderColumn& column = columns.all[c];
      if (column.values == 0) continue;
      column.chain = number_of[k];
      column.member = ++member;
      if (column.choice.model != v1::AddressColumn::CHAIN) continue;
      // Biases of the columns that have accesses in this chunk.
      column.chain_biases.push_back(column.choice.chain_bias[0]);
      for (size_t m = 0; m < members.size(); ++m) {
        if (columns.all[members[m]].values > 0) column.chain_biases.push_back(column.choice.chain_bias[m + 1]);
      }
    }
  }
  for (uint32_t c : columns.used) {
    // The columns that count from the chain may have no accesses in this chunk.
    ModelChoice& choice = columns.all[c].choice;
    if (choice.chain != 0 && number_of[choice.chain - 1] == 0) choice.chain = 0;
  }
}

void TightenBiases(EncoderColumn& column) {
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
  for (size_t s = 0; s < column.chain_biases.size(); ++s) {
    if (lowest[s] == kNone) continue;
    int64_t& bias = column.chain_biases[s];
    bias = static_cast<int64_t>(static_cast<uint64_t>(bias) + static_cast<uint64_t>(lowest[s]));
  }
}

ModelResiduals ChainModel::Encode(const EncoderColumns& columns, uint32_t index, std::vector<int64_t>& /*room*/,
                                  v1::AddressColumn& record) const {
  const EncoderColumn& column = columns.all[index];
  for (int64_t bias : column.chain_biases) record.add_chain_bias(bias);
  return {.kind = ModelResiduals::Kind::kNumbers, .by_access = true, .numbers = column.residuals};
}

RecordShape ChainModel::ShapeOf(const WalkedPaths::Column& total) const {
  return {.residuals = total.accesses, .chain_bias = true};
}

absl::Status ChainModel::ReadParameters(const v1::AddressColumn& record, DecoderColumns& columns,
                                        uint32_t index) const {
  if (record.chain() == 0) return RefuseColumn(record, "model CHAIN needs a chain");
  const size_t chain = record.chain() - 1;
  if (static_cast<uint64_t>(record.chain_bias_size()) != uint64_t{1} + columns.chain_members[chain]) {
    return RefuseColumn(record, "chain_bias has one element for the start of a thread and one per column of the chain");
  }
  ColumnStorage& storage = columns.storage[index];
  storage.biases.clear();
  for (int64_t bias : record.chain_bias()) {
    storage.biases.push_back(static_cast<uint64_t>(record.bias()) + static_cast<uint64_t>(bias));
  }
  ColumnCursor& cursor = columns.cursors[index];
  cursor.source = columns.ChainSlot(chain);
  cursor.biases = storage.biases.data();
  cursor.chained = true;
  return absl::OkStatus();
}

void ChainModel::ReadAddends(const v1::AddressColumn& /*record*/, std::span<const ThreadResiduals> /*threads*/,
                             DecoderColumns& columns, uint32_t index) const {
  if (!columns.storage[index].residuals.empty()) {
    SetResidualAddends(columns, index);
    return;
  }
  columns.cursors[index].stride = 0;
  columns.storage[index].first = &kNoAddend;
}

}  // namespace heddle::trace
