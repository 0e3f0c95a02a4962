// Which fields of a machine nothing reads, because of what other fields say.
#include <algorithm>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "replay/machine/machine.h"

namespace heddle::replay {
namespace {

struct Unread {
  bool here;              // on this machine
  std::string_view path;  // a field, or with a point at its end all fields of a message
  std::string_view why;
};

}  // namespace

std::string WithoutEffect(const machine::v1::Machine& machine, std::string_view assignment) {
  const std::string_view path = assignment.substr(0, assignment.find('='));
  const bool buffers = machine.core().front_end() == machine::v1::Core::IBUFFER;
  const machine::v1::Hierarchy& memory = machine.memory().hierarchy();
  const bool fixed = machine.memory().has_fixed();
  const bool ideal = memory.ideal_beyond_l1_cycles() != 0;
  constexpr std::string_view kBuffers = "core.front_end is IBUFFER";
  constexpr std::string_view kSinglePipeline = "core.front_end is THESIS";
  constexpr std::string_view kIdeal = "memory.hierarchy.ideal_beyond_l1_cycles replaces it";
  constexpr std::string_view kNoCache = "sets = 0: there is no such cache";
  constexpr std::string_view kNoMerging = "pending_hits is OWN_REQUEST: nothing is merged";
  constexpr std::string_view kNoL1ToSplit = "memory.hierarchy.l1_data.sets = 0: there is no L1 to split";
  constexpr std::string_view kOneBank = "only memory.hierarchy.l1_data has banks";
  const auto& timings = machine.core().units().timing();
  const auto uses = [&timings](machine::v1::OperationTiming::Unit unit) {
    return std::ranges::any_of(timings,
                               [unit](const machine::v1::OperationTiming& timing) { return timing.unit() == unit; });
  };
  const bool banks = machine.core().units().register_banks() != 0;
  constexpr std::string_view kNoBanks = "core.units.register_banks = 0: operands are always there in time";
  const Unread unread[] = {
      {buffers, "core.thesis.", kBuffers},
      {true, "core.thesis.pre_memory_stages", "core.pipeline_depth counts these stages, set that"},
      {buffers, "core.pipeline_depth", kBuffers},
      {!buffers, "core.ibuffer.", kSinglePipeline},
      {!buffers, "core.units.", kSinglePipeline},
      {!uses(machine::v1::OperationTiming::TENSOR_UNIT), "core.units.tensor",
       "no operation of core.units.timing has TENSOR_UNIT"},
      {!uses(machine::v1::OperationTiming::INT_UNIT), "core.units.integer",
       "no operation of core.units.timing has INT_UNIT"},
      {!uses(machine::v1::OperationTiming::DP_UNIT), "core.units.dp", "no operation of core.units.timing has DP_UNIT"},
      {!banks, "core.units.operand_steps", kNoBanks},
      {!banks, "core.units.banks_by_port", kNoBanks},
      {!buffers, "core.branches", kSinglePipeline},
      {!buffers, "core.atomics_hold", kSinglePipeline},
      {!buffers, "core.reductions", kSinglePipeline},
      {!buffers, "core.ports_in_turn", kSinglePipeline},
      {!buffers, "core.skip_empty_groups", kSinglePipeline},
      {!buffers, "memory.hierarchy.l1_instruction.", "core.front_end is THESIS: fetches always hit"},
      {fixed, "clocks.", "memory.fixed counts core cycles"},
      {ideal, "clocks.", kIdeal},
      {ideal, "memory.hierarchy.network.", kIdeal},
      {ideal, "memory.hierarchy.l2.", kIdeal},
      {ideal, "memory.hierarchy.dram.", kIdeal},
      {ideal, "memory.hierarchy.address_map.", kIdeal},
      {ideal, "memory.hierarchy.l2_between_launches", kIdeal},
      {memory.l1_texture().sets() == 0, "memory.hierarchy.l1_texture.", kNoCache},
      {memory.l1_constant().sets() == 0, "memory.hierarchy.l1_constant.", kNoCache},
      {memory.l1_instruction().sets() == 0, "memory.hierarchy.l1_instruction.", kNoCache},
      {memory.l1_data().sets() == 0, "memory.hierarchy.l1_split.", kNoL1ToSplit},
      {memory.l1_split().bytes() == 0, "memory.hierarchy.l1_split.shared_bytes",
       "memory.hierarchy.l1_split.bytes = 0: nothing is split"},
      {memory.l2().slices_per_controller() == 0, "memory.hierarchy.l2.cache.",
       "memory.hierarchy.l2.slices_per_controller = 0: there is no L2"},
      {memory.l1_data().pending_hits() == machine::v1::Cache::OWN_REQUEST, "memory.hierarchy.l1_data.mshr_merges",
       kNoMerging},
      {memory.l1_texture().pending_hits() == machine::v1::Cache::OWN_REQUEST, "memory.hierarchy.l1_texture.mshr_merges",
       kNoMerging},
      {memory.l1_constant().pending_hits() == machine::v1::Cache::OWN_REQUEST,
       "memory.hierarchy.l1_constant.mshr_merges", kNoMerging},
      {memory.l1_instruction().pending_hits() == machine::v1::Cache::OWN_REQUEST,
       "memory.hierarchy.l1_instruction.mshr_merges", kNoMerging},
      {true, "memory.hierarchy.l1_instruction.hit_cycles", "what a fetch finds is decoded in the next cycle"},
      {memory.network().allocator() == machine::v1::Network::ISLIP, "memory.hierarchy.network.seed",
       "only PIM chooses at random"},
      {true, "memory.hierarchy.l2.cache.miss_queue", "it is memory.hierarchy.l2.dram_queue"},
      {true, "memory.hierarchy.l2.cache.banks", kOneBank},
      {true, "memory.hierarchy.l2.cache.ideal_ports", kOneBank},
      {true, "memory.hierarchy.l1_texture.banks", kOneBank},
      {true, "memory.hierarchy.l1_texture.ideal_ports", kOneBank},
      {true, "memory.hierarchy.l1_constant.banks", kOneBank},
      {true, "memory.hierarchy.l1_constant.ideal_ports", kOneBank},
      {true, "memory.hierarchy.l1_instruction.banks", kOneBank},
      {true, "memory.hierarchy.l1_instruction.ideal_ports", kOneBank},
  };
  for (const Unread& one : unread) {
    // What chooses whether a part is there is read; so is the time of what always hits.
    if (!one.here || path.ends_with(".sets") || (one.why == kNoCache && path.ends_with(".hit_cycles"))) continue;
    const bool group = one.path.back() == '.';
    if (group ? path.starts_with(one.path) : path.substr(0, path.find('[')) == one.path) {
      return absl::StrCat(std::string(assignment), " has no effect: ", std::string(one.why));
    }
  }
  return "";
}

}  // namespace heddle::replay
