// DMaj: DWF's majority scheduling (Fung, section 4.3): ideal, or with the max-heap that finds the majority
// (section 4.4).
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "replay/policies/schedule/shared/hardware_majority.h"
#include "replay/policies/schedule/shared/pc_election.h"
#include "replay/seams/policy_storage.h"

namespace heddle::replay {
namespace {

enum Counter {
  kElections = kHistoryCounters,
  kMaxHeap,
  kHeapSwaps,
  kHeapStallCycles,
  kHeapFullWaits,
  kLookupEvictions,
  kHeapDoubles,
  kCounters
};

// Elects the PC at which most threads wait and issues its warps, oldest first, until they have run out.
class Majority final : public PcElection {
 public:
  Majority(const SchedulerContext& context, const Parameters& parameters)
      : PcElection(context, /*keeps_turn=*/parameters.Choice("reelect") != "eager"),
        ties_to_oldest_(parameters.Choice("tie") == "oldest"),
        count_warps_(parameters.Choice("count") == "warps") {}

  std::span<const uint64_t> counters() const override {
    HistoryCounters(history(), counters_.data());
    counters_[kElections] = elections();
    return counters_;
  }

 private:
  SlotId PickFromPool(const SlotSet& eligible) const override {
    return Elect(eligible, [this](const PositionGroups::Group& a, const PositionGroups::Group& b) {
      const uint32_t count_a = count_warps_ ? a.warps : a.threads;
      const uint32_t count_b = count_warps_ ? b.warps : b.threads;
      if (count_a != count_b) return count_a > count_b;
      return ties_to_oldest_ ? AgeOf(a) < AgeOf(b) : a.at < b.at;
    });
  }

  bool ties_to_oldest_;
  bool count_warps_;
  mutable std::array<uint64_t, kCounters> counters_{};
};

// The majority by the hardware's heap.
class MajorityWithHeap final : public WarpScheduler {
 public:
  MajorityWithHeap(const SchedulerContext& context, const HardwareMajority::Setup& setup)
      : majority_(setup, context.table, context.clock) {}

  SlotId Pick(const SlotSet& eligible) const override { return majority_.Pick(eligible); }
  void Offered(SlotId slot) override {
    history_.Offered(slot);
    majority_.Offered(slot);
  }
  void Grown(SlotId slot, const Lanes& /*joined*/) override { majority_.Grown(slot); }
  void Withdrawn(SlotId slot) override { majority_.Left(slot); }
  void Issued(SlotId slot) override {
    history_.Issued(slot);
    majority_.Issued(slot);
  }

  std::span<const uint64_t> counters() const override {
    const HardwareMajority::Statistics statistics = majority_.statistics();
    HistoryCounters(history_, counters_.data());
    counters_[kElections] = statistics.elections;
    counters_[kMaxHeap] = statistics.max_heap;
    counters_[kHeapSwaps] = statistics.swaps;
    counters_[kHeapStallCycles] = statistics.stall_cycles;
    counters_[kHeapFullWaits] = statistics.full_waits;
    counters_[kLookupEvictions] = majority_.heap().forgotten();
    counters_[kHeapDoubles] = majority_.heap().doubles();
    return counters_;
  }

 private:
  HardwareMajority majority_;
  IssueHistory history_;
  mutable std::array<uint64_t, kCounters> counters_{};
};

HardwareMajority::Setup HeapSetup(const Parameters& parameters) {
  const auto integer = [&](const char* name) { return static_cast<uint32_t>(parameters.Integer(name)); };
  HardwareMajority::Setup setup;
  setup.heap.heap_entries = integer("heap_entries");
  setup.heap.lut_entries = integer("lut_entries");
  setup.heap.lut_ways = integer("lut_ways");
  setup.heap.ties_to_oldest = parameters.Choice("tie") == "oldest";
  setup.ports = integer("heap_ports");
  setup.count_warps = parameters.Choice("count") == "warps";
  return setup;
}

ParameterSpec Size(const char* name, const char* value, int64_t minimum, const char* unit, const char* description,
                   const char* ways_of = "") {
  return {.name = name,
          .type = ParameterType::kInteger,
          .default_value = value,
          .unit = unit,
          .minimum = minimum,
          .maximum = kMaxSlots,
          .only_if = "heap=hardware",
          .ways_of = ways_of,
          .description = description,
          .source = "Fung, Tables 5.2 and 7.1"};
}

std::vector<CounterSpec> Counters() {
  std::vector<CounterSpec> counters = HistoryCounterSpecs();
  counters.push_back({"elections", "elections", "times the majority passed to another PC"});
  counters.push_back({"max_heap", "groups", "heap=hardware: most groups in the heap", CounterSpec::Combine::kMaximum});
  counters.push_back({"heap_swaps", "swaps", "heap=hardware: swaps that kept the heap in order"});
  counters.push_back(
      {"heap_stall_cycles", "cycles", "heap=hardware: no warp issued because the heap was not in order"});
  counters.push_back({"heap_full_waits", "warps", "heap=hardware: warps that found the heap full and waited outside"});
  counters.push_back({"heap_table_evictions", "groups", "heap=hardware: groups that the look-up table forgot"});
  counters.push_back({"heap_doubles", "groups", "heap=hardware: groups begun while the heap had one of the same PC"});
  return counters;
}

HEDDLE_WARP_SCHEDULER(
    PolicyInfo{
        .name = "dmaj",
        .summary = "DWF: all warps of the PC at which most threads wait, then the next such PC",
        .source = "Fung, sections 4.3 and 4.4",
        .traits = {.holds_back = true,  // while the heap is not in order
                   .needs_regrouping = kNeedsPoolReason},
        .parameters =
            {
                {.name = "tie",
                 .type = ParameterType::kChoice,
                 .default_value = "lower_pc",
                 .choices = {"lower_pc", "oldest"},
                 .description = "which of several PCs with equally many waits wins: the lower one, or the one whose "
                                "oldest warp is older",
                 .source = "GPGPU-Sim 2.x, dwf.cc"},
                {.name = "count",
                 .type = ParameterType::kChoice,
                 .default_value = "threads",
                 .choices = {"threads", "warps"},
                 .description = "what the majority is a majority of",
                 .source = "Fung, section 4.4 (threads) and 4.3 (the most common PC)"},
                {.name = "heap",
                 .type = ParameterType::kChoice,
                 .default_value = "ideal",
                 .choices = {"ideal", "hardware"},
                 .description = "how the majority is found: at once, or by a max-heap with the sizes and ports of the "
                                "last parameters",
                 .source = "Fung, section 6.3: infinite resources; section 4.4: the heap"},
                {.name = "reelect",
                 .type = ParameterType::kChoice,
                 .default_value = "lazy",
                 .choices = {"lazy", "eager"},
                 .only_if = "heap=ideal",
                 .description = "lazy: when the majority's warps have run out; eager: at every issue",
                 .source = "Fung, section 4.3"},
                Size("heap_entries", "64", 1, "groups",
                     "of the max-heap; warps of a PC for which there is no room wait outside (ours)"),
                Size("lut_entries", "128", 1, "groups", "of the table that finds a PC's group in the heap"),
                Size("lut_ways", "8", 1, "groups", "of a set of that table", "lut_entries"),
                Size("heap_ports", "2", 0, "ports",
                     "read ports and write ports, each, of heap and table; a swap takes two of both; 0 = swaps "
                     "take no time"),
            },
        .counters = Counters(),
    },
    [](const SchedulerContext& context, const Parameters& parameters) -> std::unique_ptr<WarpScheduler> {
      if (parameters.Choice("heap") == "hardware") {
        return std::make_unique<MajorityWithHeap>(context, HeapSetup(parameters));
      }
      return std::make_unique<Majority>(context, parameters);
    });

HEDDLE_POLICY_STORAGE(
    "scheduler", "dmaj",
    PolicyStorage{
        .source = "Fung, Table 7.1, the scheduler's part",
        .remark = "the table gives an entry of the look-up table 39 bits, of which its text explains 31: PC and index",
        .items = [](const StorageContext& context, const Parameters& parameters) -> std::vector<StorageItem> {
          const bool hardware = parameters.Choice("heap") == "hardware";
          const auto entries = [&](const char* name) {
            return hardware ? static_cast<uint64_t>(parameters.Integer(name)) : uint64_t{0};
          };
          // Indices have a bit more that says whether they are valid; the pool has 128 entries.
          constexpr uint64_t kWarpIndex = 7 + 1;
          constexpr uint64_t kUnexplained = 8;
          const uint64_t heap_index = BitsFor(entries("heap_entries")) + 1;
          const uint64_t lookup_index = BitsFor(entries("lut_entries")) + 1;
          return {
              {"max-heap look-up table", entries("lut_entries"), 24 + heap_index + kUnexplained, "PC (24), index"},
              {"max-heap", entries("heap_entries"), 24 + BitsFor(context.max_threads) + 2 * kWarpIndex + lookup_index,
               "PC (24), threads, first and last warp, index"}};
        }});

}  // namespace
}  // namespace heddle::replay
