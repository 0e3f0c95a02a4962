// Options that are no field of a machine: what they are, so that none is passed over in silence.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tools/exchange/gpgpusim/option_reader.h"
#include "traces/base/suggest.h"

namespace heddle::tools {
namespace {

// Names without their dash and "gpgpu_", which came and went between versions.
std::string_view Bare(std::string_view name) {
  if (name.starts_with('-')) name.remove_prefix(1);
  if (name.starts_with("gpgpu_")) name.remove_prefix(6);
  return name;
}

// What the model does not have. An option with its `neutral` value changes nothing.
struct Missing {
  std::string_view name;
  std::string_view neutral;  // empty: every value counts
  std::string_view what;
};
constexpr Missing kMissing[] = {
    {"TB_launch_latency", "0",
     "blocks are dispatched at once: a launch takes dispatch.launch_cycles, whatever its grid"},
    {"cache:dl1PrefL1", "none", "no split of L1 and shared memory by the kernel's preference"},
    {"cache:dl1PrefShared", "none", "no split of L1 and shared memory by the kernel's preference"},
    {"cache_port_per_bank", "", "a bank serves one access per cycle"},
    {"concurrent_kernel_sm", "0", "launches run one after another"},
    {"const_port_per_bank", "", "a bank serves one access per cycle"},
    {"dram_bnk_indexing_policy", "0", "banks are taken from the address map as it is"},
    {"dram_dual_bus_interface", "0", "one command per DRAM cycle"},
    {"dram_elimnate_rw_turnaround", "0", "turning the bus takes its time"},
    {"dram_return_queue_size", "0", "the return queue has no limit"},
    {"dram_seperate_write_queue_enable", "0", "reads and writes share a queue"},
    {"dram_write_queue_size", "", "reads and writes share a queue"},
    {"dual_bus_interface", "0", "one command per DRAM cycle"},
    {"dual_issue_diff_exec_units", "", "a scheduler issues one instruction per cycle"},
    {"enable_specialized_operand_collector", "", "collectors are per class of units"},
    {"gmem_skip_L1D", "0", "global loads go through the L1; without one: --set memory.hierarchy.l1_data.sets=0"},
    {"ignore_resources_limitation", "0", "registers and shared memory limit the blocks of an SM"},
    {"l1_banks_byte_interleaving", "", "banks of the L1 are interleaved by lines"},
    {"l1_banks_hashing_function", "0", "banks of the L1 are taken in turn"},
    {"l1_cache_write_ratio", "0", "no bound on the dirty lines of a set"},
    {"l2_ideal", "0", "for an ideal memory: --set memory.hierarchy.ideal_beyond_l1_cycles=N"},
    {"l2_readoverwrite", "0", "reads do not overtake writes in the L2"},
    {"local_mem_map", "1", "local memory is interleaved by thread"},
    {"max_concurrent_kernel", "", "launches run one after another"},
    {"mem_unit_ports", "1", "the data cache serves one access per bank and cycle"},
    {"n_cluster_ejection_buffer_size", "", "replies leave the network's output buffer as they are used"},
    {"n_ldst_response_buffer_size", "", "replies leave the network's output buffer as they are used"},
    {"num_cta_barriers", "", "any number of barriers per block"},
    {"num_mem_units", "1", "one memory stage per SM"},
    {"occupancy_sm_number", "", "occupancy has one rule: registers in multiples of four per thread"},
    {"partial_write_mask", "", "a store writes the bytes of its segment"},
    {"perf_sim_memcpy", "", "transfers leave nothing in the L2"},
    {"perfect_mem", "0", "for an ideal memory: --set memory.hierarchy.ideal_beyond_l1_cycles=1"},
    {"pipeline_widths", "", "units take instructions as they are free: core.units"},
    {"registers_per_block", "", "the registers of an SM are the limit of a block, too"},
    {"shmem_bkconflict", "1", "conflicts of shared memory's banks always count"},
    {"shmem_per_block", "", "the shared memory of an SM is the limit of a block, too"},
    {"shmem_port_per_bank", "", "a bank serves one word per pass"},
    {"shmem_sizeDefault", "", "one size of shared memory per machine: that of -gpgpu_shmem_size"},
    {"shmem_size_PrefL1", "", "no split of L1 and shared memory by the kernel's preference"},
    {"shmem_size_PrefShared", "", "no split of L1 and shared memory by the kernel's preference"},
    {"simple_dram_model", "0", "the DRAM model is the full one"},
    {"simt_core_sim_order", "", "SMs run in the order of their numbers"},
    {"spread_blocks_across_cores", "", "blocks go round the SMs, one each: the dispatcher thread_blocks"},
    {"tensor_core_avail", "", "tensor operations run where a trace has them"},
    {"dwf_hw", "", "the tables of dynamic warp formation are parameters of the policy: heddle policies dwf"},
    {"trace", "", "the trace is an argument of `heddle replay`"},
    {"thread_swizzling", "", "a parameter of the policy: --divergence dwf:swizzle=..."},
};
constexpr std::string_view kMissingPrefixes[] = {"operand_collector_num_", "specialized_unit_",
                                                 "trace_opcode_latency_initiation_spec"};

// Statistics, power, functional simulation, debugging: no cycle depends on them.
constexpr std::string_view kNoTimingPrefixes[] = {
    "accelwattch",
    "aggregate_power_stats",
    "cflog_interval",
    "clock_gated",
    "compute_capability",
    "cuda_sim",
    "deadlock_detect",
    "dvfs_enabled",
    "enable_ptx_file_line",
    "gpuwattch",
    "heap_size_limit",
    "hw_perf",
    "keep",
    "liveness_message",
    "mem_addr_test",
    "memlatency_stat",
    "n_regfile_gating",
    "power_",
    "ptx_convert",
    "ptx_force_max",
    "ptx_inst_debug",
    "ptx_instruction_class",
    "ptx_save",
    "ptx_sim_mode",
    "ptx_use_cuobjdump",
    "runtime_",
    "save_embedded_ptx",
    "stack_size_limit",
    "steady_",
    "trace_components",
    "trace_enabled",
    "trace_sampling",
    "visualizer",
    "warp_issue_shader",
    "warpdistro_shader",
    "experimental_lib",
};

// Options about the run: what to say to `heddle replay` in their place; empty if this is none.
std::string CommandLine(const ConfigOption& option) {
  const std::string_view name = Bare(option.name);
  if (name == "scheduler") {
    const std::vector<std::string> parts = absl::StrSplit(option.value, ':');
    if (parts[0] == "two_level_active") return "--scheduler two_level";
    if (parts[0] == "warp_limiting") return "--scheduler swl";
    if (parts[0] == "lrr" || parts[0] == "gto") return absl::StrCat("--scheduler ", parts[0]);
    return "--scheduler, see `heddle policies`";
  }
  if (name == "simd_model") {
    constexpr std::array<const char*, 4> kModels = {"nrec", "pdom", "mimd", "dwf"};
    const bool known = option.value.size() == 1 && option.value[0] >= '0' && option.value[0] <= '3';
    return absl::StrCat("--divergence", known ? absl::StrCat(" ", kModels[static_cast<size_t>(option.value[0] - '0')])
                                              : std::string(", see `heddle policies`"));
  }
  if (name == "pdom_sched_type") return "--scheduler, see `heddle policies`";
  if (name == "dwf_heuristic") return "--divergence dwf --scheduler, one of dmaj, dmin, dtime, dpc, dpdpri";
  if (name == "max_cycle") return absl::StrCat("--max-cycles ", option.value);
  if (name == "max_insn" || name == "max_cta" || name == "max_completed_cta") {
    return "record a part of the launch in place of this: heddle capture --help";
  }
  return "";
}

bool HasPrefix(std::string_view name, const auto& prefixes) {
  return std::ranges::any_of(prefixes, [&](std::string_view prefix) { return name.starts_with(prefix); });
}

}  // namespace

void ImportRest(OptionReader& reader) {
  std::vector<std::string> known = reader.asked();
  for (const Missing& missing : kMissing) known.push_back(absl::StrCat("-gpgpu_", std::string(missing.name)));
  const std::vector<ConfigOption> rest = reader.rest();
  for (const ConfigOption& option : rest) {
    const OptionValue value{option.name, option.value, option.place};
    const std::string_view name = Bare(option.name);
    const auto* missing = std::ranges::find(kMissing, name, &Missing::name);
    if (const std::string instead = CommandLine(option); !instead.empty()) {
      reader.Note(ImportOutcome::kCommandLine, value, instead);
    } else if (missing != std::end(kMissing)) {
      const bool neutral = !missing->neutral.empty() && option.value == missing->neutral;
      reader.Note(neutral ? ImportOutcome::kNoTiming : ImportOutcome::kNotRepresented, value,
                  std::string(missing->what));
    } else if (HasPrefix(name, kMissingPrefixes)) {
      reader.Note(ImportOutcome::kNotRepresented, value,
                  "there are SP and SFU units and one memory stage, as core.units says");
    } else if (HasPrefix(name, kNoTimingPrefixes)) {
      reader.Note(ImportOutcome::kNoTiming, value, "");
    } else {
      const std::string close = NearestName(option.name, known);
      reader.Note(ImportOutcome::kUnknown, value,
                  absl::StrCat("unknown", close.empty() ? "" : absl::StrCat(", did you mean ", close, "?")));
    }
  }
}

}  // namespace heddle::tools
