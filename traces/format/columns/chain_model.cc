#include "traces/format/columns/chain_model.h"

#include <algorithm>

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

}  // namespace

std::vector<ChainChoice> GroupByRange(std::vector<AddressRange> ranges) {
  std::sort(ranges.begin(), ranges.end(), [](const AddressRange& a, const AddressRange& b) {
    return a.lowest != b.lowest ? a.lowest < b.lowest : a.column < b.column;
  });
  std::vector<ChainChoice> groups;
  uint64_t end = 0;
  for (const AddressRange& range : ranges) {
    if (groups.empty() || range.lowest > end || groups.back().members.size() == kMostChainMembers) {
      groups.push_back({{}, range.lowest, false});
      end = range.highest;
    }
    groups.back().members.push_back(range.column);
    end = std::max(end, range.highest);
  }
  for (ChainChoice& group : groups) std::sort(group.members.begin(), group.members.end());
  return groups;
}

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

}  // namespace heddle::trace
