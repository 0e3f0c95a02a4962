// HARP as a policy: its parameters with the paper's values, and its counters. The rules are in the folder
// replay/policies/divergence/harp.
#include "replay/policies/divergence/harp/harp.h"

#include <cstdint>
#include <memory>
#include <vector>

#include "replay/seams/policy_storage.h"

namespace heddle::replay {
namespace {

HEDDLE_DIVERGENCE_POLICY(
    PolicyInfo{
        .name = "harp",
        .summary = "Runs both sides of divergences at once as small regrouped warps, and rejoins warps by barriers of "
                   "threads",
        .source = "Lashgar, Khonsari, Baniasadi, HARP, section 4",
        .traits = {.regrouping = Regrouping::kPartialWarps},
        .parameters =
            {
                {.name = "first_level",
                 .type = ParameterType::kInteger,
                 .default_value = "8",
                 .unit = "warps",
                 .minimum = 0,
                 .maximum = 4096,
                 .description = "entries of the First-Level table, from which warps issue; 0 = one table for both "
                                "levels, as in Figure 10",
                 .source = "section 4.2: a limited number; 8 is ours"},
                {.name = "second_level",
                 .type = ParameterType::kInteger,
                 .default_value = "512",
                 .unit = "warps",
                 .minimum = 1,
                 .maximum = 4096,
                 .description = "entries of the Second-Level table",
                 .source = "Table 4"},
                {.name = "second_level_overflow",
                 .type = ParameterType::kChoice,
                 .default_value = "error",
                 .choices = {"error", "spill"},
                 .description = "a warp that finds the Second-Level full ends the run, or moves to memory and back at "
                                "no cost",
                 .source = "section 7.3: moved to the off-chip DRAM"},
                {.name = "ready_lookup",
                 .type = ParameterType::kInteger,
                 .default_value = "8",
                 .unit = "warps",
                 .minimum = 0,
                 .maximum = 1024,
                 .description = "entries of the Ready-Lookup table",
                 .source = "Table 4"},
                {.name = "waiting_lookup",
                 .type = ParameterType::kInteger,
                 .default_value = "8",
                 .unit = "warps",
                 .minimum = 0,
                 .maximum = 1024,
                 .description = "entries of the Waiting-Lookup table",
                 .source = "Table 4"},
                {.name = "waiting_merge",
                 .type = ParameterType::kChoice,
                 .default_value = "threads",
                 .choices = {"threads", "warps"},
                 .only_if = "waiting_lookup!=0",
                 .description = "what joins a warp of the Waiting-Lookup: the threads whose lanes are free there, or "
                                "whole warps only",
                 .source = "section 4.2.1"},
                {.name = "lookup_order",
                 .type = ParameterType::kChoice,
                 .default_value = "restamp",
                 .choices = {"restamp", "insertion"},
                 .only_if = "ready_lookup!=0",
                 .description = "whether a merge makes a warp of the Ready-Lookup the youngest",
                 .source = "Figure 10 needs it; section 4.2.3 says FIFO"},
                {.name = "lookup_low_water",
                 .type = ParameterType::kInteger,
                 .default_value = "2",
                 .unit = "warps",
                 .minimum = 1,
                 .maximum = 4096,
                 .description = "the Ready-Lookup gives warps away while fewer than these are ready",
                 .source = "section 4.2.3"},
                {.name = "low_water_counts",
                 .type = ParameterType::kChoice,
                 .default_value = "second_level",
                 .choices = {"second_level", "both"},
                 .only_if = "first_level!=0",
                 .description =
                     "which ready warps lookup_low_water counts: those of the Second-Level, or of both levels",
                 .source = "section 4.2.3: the Second-Level"},
                {.name = "lookups_per_cycle",
                 .type = ParameterType::kInteger,
                 .default_value = "1",
                 .unit = "warps",
                 .minimum = 1,
                 .maximum = 64,
                 .only_if = "ready_lookup!=0",
                 .description = "warps that may leave the Ready-Lookup in a cycle",
                 .source = "section 4.3: one by one"},
                {.name = "second_level_port",
                 .type = ParameterType::kChoice,
                 .default_value = "one",
                 .choices = {"one", "unlimited"},
                 .description = "whether revived warps and warps of the Ready-Lookup share one way into the "
                                "Second-Level, one a cycle and revived ones first",
                 .source = "section 7.3.2"},
                {.name = "lookup_delay",
                 .type = ParameterType::kInteger,
                 .default_value = "1",
                 .unit = "cycles",
                 .minimum = 0,
                 .maximum = 1024,
                 .only_if = "ready_lookup!=0",
                 .description = "from leaving the Ready-Lookup until the warp is ready",
                 .source = "section 7.3.2, section 4.3: selected in the following cycle"},
                {.name = "barrier_delay",
                 .type = ParameterType::kInteger,
                 .default_value = "0",
                 .unit = "cycles",
                 .minimum = 0,
                 .maximum = 1024,
                 .description = "from leaving the barrier table until the warp is ready; 0 = within the commit",
                 .source = "section 4.2.3: as soon as possible; section 7.3.2 allows a cycle"},
                {.name = "first_level_delay",
                 .type = ParameterType::kInteger,
                 .default_value = "0",
                 .unit = "cycles",
                 .minimum = 0,
                 .maximum = 1024,
                 .only_if = "first_level!=0",
                 .description =
                     "from leaving the Second-Level until the warp may issue; 0 = it moves while the cycle's "
                     "warp is selected",
                 .source = "ours; section 7.3.2 allows a cycle"},
                {.name = "barriers",
                 .type = ParameterType::kChoice,
                 .default_value = "table",
                 .choices = {"table", "per_warp"},
                 .description =
                     "table: set-associative, a thread has its set; per_warp: an entry per diverged warp, as "
                     "many as are needed",
                 .source = "section 4.2.2; section 4.2.4: more than 154 entries do not help"},
                {.name = "barrier_entries",
                 .type = ParameterType::kInteger,
                 .default_value = "128",
                 .unit = "barriers",
                 .minimum = 0,
                 .maximum = 65536,
                 .only_if = "barriers=table",
                 .description = "entries of the barrier table; 0 = nothing reconverges",
                 .source = "Table 4"},
                {.name = "barrier_ways",
                 .type = ParameterType::kInteger,
                 .default_value = "16",
                 .unit = "barriers",
                 .minimum = 1,
                 .maximum = 65536,
                 .only_if = "barrier_entries!=0",
                 .description = "entries of a set of the barrier table",
                 .source = "Table 4"},
                {.name = "barrier_match",
                 .type = ParameterType::kChoice,
                 .default_value = "event",
                 .choices = {"event", "point"},
                 .only_if = "barrier_entries!=0",
                 .description =
                     "event: a diverged warp has barriers of its own; point: its threads enter any barrier of "
                     "their set at that point with their lane free",
                 .source = "section 4.1; section 4.2.2"},
                {.name = "barrier_latency",
                 .type = ParameterType::kInteger,
                 .default_value = "1",
                 .unit = "cycles",
                 .minimum = 1,
                 .maximum = 64,
                 .description = "stages of the barrier table's search, which every commit waits for; 1 = within the "
                                "commit",
                 .source = "section 7.3.2: 1, 2 or 4"},
            },
        .counters =
            {
                {"divergences", "branches", "executed branches at which a warp took more than one path"},
                {"ready_merges", "merges", "times threads joined a warp of the Ready-Lookup"},
                {"ready_threads_merged", "threads", "threads that joined a warp of the Ready-Lookup"},
                {"ready_bypasses", "warps", "diverged warps that found the Ready-Lookup full"},
                {"waiting_merges", "merges", "times threads joined a warp of the Waiting-Lookup"},
                {"waiting_threads_merged", "threads", "threads that joined a warp of the Waiting-Lookup"},
                {"waiting_bypasses", "warps", "warps at a memory instruction that found the Waiting-Lookup full"},
                {"barriers_reserved", "barriers", "entries of the barrier table that were taken"},
                {"barrier_misses", "threads",
                 "diverged threads that got no barrier and ran past the reconvergence point"},
                {"warps_revived", "warps", "warps that their barrier has put together again"},
                {"max_barriers", "barriers", "most barriers of a scheduler in use", CounterSpec::Combine::kMaximum},
                {"max_first_level", "warps", "most warps in a First-Level", CounterSpec::Combine::kMaximum},
                {"max_second_level", "warps", "most warps in a Second-Level: ready, in the pipeline or at a barrier",
                 CounterSpec::Combine::kMaximum},
                {"max_ready_lookup", "warps", "most warps in a Ready-Lookup", CounterSpec::Combine::kMaximum},
                {"max_waiting_lookup", "warps", "most warps in a Waiting-Lookup", CounterSpec::Combine::kMaximum},
                {"second_level_overflows", "warps", "warps that found the Second-Level full"},
                {"low_water_cycles", "cycles",
                 "cycles of schedulers with a resident block in which fewer than lookup_low_water warps were ready"},
            },
    },
    [](const DivergenceContext& context, const Parameters& parameters) {
      return std::make_unique<HarpPolicy>(context, parameters);
    });

HEDDLE_POLICY_STORAGE(
    "divergence", "harp",
    PolicyStorage{
        .source = "Lashgar, Khonsari, Baniasadi, HARP, Table 7, rows and tags; per scheduler, here of all of an SM",
        .remark = "the paper gives areas and no sum of bits; the First-Level is the baseline's own",
        .items = [](const StorageContext& context, const Parameters& parameters) {
          const auto entries = [&](const char* name) { return static_cast<uint64_t>(parameters.Integer(name)); };
          const uint64_t width = context.warp_size;
          // A thread does not change its lane, so that its warp tells it apart.
          const uint64_t thread = BitsFor(context.max_threads / context.ports) - BitsFor(width);
          const uint64_t barriers = parameters.Choice("barriers") == "per_warp" ? 0 : entries("barrier_entries");
          std::vector<StorageItem> items;
          const auto add = [&](const char* name, uint64_t count, uint64_t bits, const char* contents) {
            // Without an entry a table takes nothing; that of barriers per warp has no bound.
            if (count != 0) items.push_back({name, count * context.ports, bits, contents});
          };
          if (parameters.Choice("barriers") == "per_warp") {
            items.push_back({"reconvergence barriers", 0, 0, "one per diverged warp"});
          }
          add("reconvergence barriers, lanes", barriers, width * (thread + thread + 1), "tag and row of each lane");
          add("reconvergence barriers, point", barriers, 1 + 32 + 32, "valid, PC (32), PC (32)");
          add("Second-Level", entries("second_level"), 32 + width * thread + 2, "PC (32), threads, state");
          add("Ready-Lookup", entries("ready_lookup"), 2 * (32 + width * thread), "PC (32), threads; tag and row");
          add("Waiting-Lookup", entries("waiting_lookup"), 2 * (32 + width * thread), "PC (32), threads; tag and row");
          return items;
        }});

}  // namespace
}  // namespace heddle::replay
