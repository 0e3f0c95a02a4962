// The SM: threads, registers, front end, execution units.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tools/exchange/gpgpusim/option_reader.h"

namespace heddle::tools {
namespace {

using enum ImportOutcome;

constexpr double kMaxMhz = 100'000;   // of a machine
constexpr int kSpecializedUnits = 8;  // that trace.config has names for

// "CORE:NETWORK:L2:DRAM" in MHz. Only their ratios matter, so that fractions are scaled away.
void ImportClocks(OptionReader& reader) {
  const OptionValue option = reader.Take({"-gpgpu_clock_domains"}, "500.0:2000.0:2000.0:2000.0");
  const std::vector<std::string> parts = absl::StrSplit(option.text, ':');
  constexpr std::array<const char*, 4> kPaths = {"clocks.core_mhz", "clocks.network_mhz", "clocks.l2_mhz",
                                                 "clocks.dram_mhz"};
  if (parts.size() != kPaths.size()) {
    return reader.Error(option, absl::StrCat("\"", option.text, "\" is not CORE:NETWORK:L2:DRAM in MHz"));
  }
  std::array<double, 4> mhz{};
  for (size_t i = 0; i < parts.size(); ++i) {
    if (!absl::SimpleAtod(parts[i], &mhz[i]) || !(mhz[i] >= 0.001 && mhz[i] <= 1e6)) {
      return reader.Error(option, absl::StrCat("\"", parts[i], "\" is not a frequency in MHz"));
    }
  }
  const double fastest = *std::max_element(mhz.begin(), mhz.end());
  for (const uint64_t scale : {1, 10, 100, 1000}) {
    std::array<uint64_t, 4> whole{};
    bool exact = true;
    for (size_t i = 0; i < mhz.size(); ++i) {
      const double scaled = mhz[i] * static_cast<double>(scale);
      whole[i] = static_cast<uint64_t>(std::llround(scaled));
      const double error = scaled - static_cast<double>(whole[i]);
      exact &= error < 1e-6 && error > -1e-6;
    }
    // No finer than a machine takes.
    if (!exact && scale != 1000 && fastest * static_cast<double>(scale) * 10 <= kMaxMhz) continue;
    for (size_t i = 0; i < whole.size(); ++i) reader.Set(kPaths[i], whole[i], option.Source());
    if (!exact) reader.Note(kDifferent, option, absl::StrCat("rounded to 1/", scale, " MHz"));
    if (scale != 1) {
      reader.Note(kDifferent, option, absl::StrCat("stands there times ", scale, ": only the ratios of clocks matter"));
    }
    return;
  }
}

void ImportSms(OptionReader& reader) {
  if (reader.version2()) {
    reader.SetNumber("sms", reader.Take({"-gpgpu_n_shader"}, "8"));
    reader.SetNumber("memory.hierarchy.network.sms_per_port", reader.Take({"-gpu_concentration"}, "1"));
    return;
  }
  const OptionValue clusters = reader.Take({"-gpgpu_n_clusters"}, "10");
  const OptionValue per_cluster = reader.Take({"-gpgpu_n_cores_per_cluster"}, "3");
  reader.Set("sms", reader.Number(clusters) * reader.Number(per_cluster),
             absl::StrCat(clusters.Source(), "; ", per_cluster.Source()));
  reader.Set("memory.hierarchy.network.sms_per_port", reader.Number(per_cluster),
             absl::StrCat(per_cluster.Source(), " (a cluster shares a port)"));
}

void ImportThreads(OptionReader& reader) {
  const bool version2 = reader.version2();
  const OptionValue pipeline = reader.Take({"-gpgpu_shader_core_pipeline"}, version2 ? "256:32:32" : "1024:32");
  const std::vector<std::string> parts = absl::StrSplit(pipeline.text, ':');
  if (parts.size() != 2 && parts.size() != 3) {
    reader.Error(pipeline, absl::StrCat("\"", pipeline.text, "\" is not THREADS:WARP SIZE or THREADS:WARP SIZE:LANES"));
    return;
  }
  reader.Set("core.max_threads", reader.Number(pipeline, parts[0]), pipeline.Source());
  reader.Set("core.warp_size", reader.Number(pipeline, parts[1]), pipeline.Source());
  // Since 3.x a unit takes a whole warp per cycle; the third number, if there, is of 2.x.
  reader.Set("core.simd_width", reader.Number(pipeline, parts.back()),
             absl::StrCat(pipeline.Source(), parts.size() == 2 ? " (a unit takes a whole warp per cycle)" : ""));
  reader.SetNumber("core.max_blocks", reader.Take({"-gpgpu_shader_cta"}, "8"));
  reader.SetNumber("core.registers", reader.Take({"-gpgpu_shader_registers"}, "8192"));
  reader.SetNumber("core.shared_memory_bytes", reader.Take({"-gpgpu_shmem_size"}, "16384"));
  reader.SetNumber("core.schedulers", reader.Take({"-gpgpu_num_sched_per_core"}, "1"));
}

// "a,b,c,...": whole numbers.
std::vector<uint64_t> List(OptionReader& reader, const OptionValue& option, size_t least, const std::string& form) {
  std::vector<uint64_t> numbers;
  for (const absl::string_view part : absl::StrSplit(option.text, ',')) {
    uint64_t number = 0;
    if (!absl::SimpleAtoi(part, &number)) {
      reader.Error(option, absl::StrCat("\"", option.text, "\" is not ", form));
      return std::vector<uint64_t>(least);
    }
    numbers.push_back(number);
  }
  if (numbers.size() < least) {
    reader.Error(option, absl::StrCat("\"", option.text, "\" is not ", form));
    numbers.resize(least);
  }
  return numbers;
}

class Timings {
 public:
  explicit Timings(OptionReader& reader) : reader_(reader) {}

  void Add(const std::string& operation, uint64_t latency, uint64_t interval, const std::string& unit,
           const std::string& source) {
    const std::string path = absl::StrCat("core.units.timing[", operation, "]");
    reader_.Set(path + ".latency", latency, source);
    reader_.Set(path + ".initiation_interval", interval, source);
    reader_.Set(path + ".unit", unit, source);
    reader_.SetSource(path, source);
  }

  // Add, max, mul, mad and div of a type. `multiplies`: the operation for mul, if it is another one than add's.
  void AddType(const char* type, const char* defaults, const char* intervals, const std::string& adds,
               const std::string& multiplies, const std::string& divides, const std::string& unit,
               const std::string& multiply_unit) {
    const std::string form = "ADD,MAX,MUL,MAD,DIV in cycles";
    const OptionValue latency = reader_.Take({absl::StrCat("-ptx_opcode_latency_", type)}, defaults);
    const OptionValue interval = reader_.Take({absl::StrCat("-ptx_opcode_initiation_", type)}, intervals);
    const std::vector<uint64_t> cycles = List(reader_, latency, 5, form);
    const std::vector<uint64_t> starts = List(reader_, interval, 5, form);
    const std::string source = absl::StrCat(latency.Source(), "; ", interval.Source());
    Add(adds, cycles[0], starts[0], unit, absl::StrCat(source, " (add)"));
    if (!multiplies.empty()) Add(multiplies, cycles[2], starts[2], multiply_unit, absl::StrCat(source, " (mul)"));
    Add(divides, cycles[4], starts[4], "SFU_UNIT", absl::StrCat(source, " (div)"));
    const size_t other = multiplies.empty() ? 0 : 2;
    if (cycles[1] != cycles[0] || starts[1] != starts[0]) {
      reader_.Note(kDifferent, latency, absl::StrCat("max and min take the figures of add in ", adds));
    }
    if (cycles[3] != cycles[other] || starts[3] != starts[other] || cycles[2] != cycles[other]) {
      reader_.Note(kDifferent, latency,
                   absl::StrCat("multiply-add takes those of ", multiplies.empty() ? "add" : "mul", " in ",
                                multiplies.empty() ? adds : multiplies));
    }
    if (cycles.size() > 5) reader_.Note(kDifferent, latency, "shuffles take the figures of add");
  }

 private:
  OptionReader& reader_;
};

// Which units operations of a class run on: of their own if the configuration has some.
struct UnitNames {
  std::string integer = "SP_UNIT";
  std::string dp = "SFU_UNIT";
  std::string tensor = "SFU_UNIT";
};

// A unit of Accel-Sim's trace.config, "ENABLED,UNITS,MOST CYCLES,COLLECTOR PORTS,UNIT PORTS,NAME", for branches alone.
void ImportBranchUnit(OptionReader& reader, Timings& timings) {
  for (int number = 1; number <= kSpecializedUnits; ++number) {
    const std::string name = absl::StrCat("-specialized_unit_", number);
    if (!reader.Given(name)) continue;
    const std::string text = reader.Peek(name);
    if (!text.starts_with('1') || !text.ends_with(",BRA")) continue;
    const OptionValue unit = reader.Take({name}, "");
    const OptionValue option = reader.Take({absl::StrCat("-trace_opcode_latency_initiation_spec_op_", number)}, "4,4");
    const std::vector<uint64_t> numbers = List(reader, option, 2, "LATENCY,INITIATION in cycles");
    timings.Add("BRANCH", numbers[0], numbers[1], "SFU_UNIT", option.Source());
    reader.Note(kDifferent, unit, "branches share the SFUs, which are as many or more than they need");
    return;
  }
}

// The latencies of Accel-Sim's trace.config, of machine instructions: they replace those of PTX. Divisions have none:
// they are those of the instruction that an exported trace has in their place.
void ImportTraceTimings(OptionReader& reader, const UnitNames& units, Timings& timings) {
  struct Class {
    const char* suffix;
    std::vector<std::string> operations;
    std::string unit;
  };
  const std::vector<Class> classes = {{"int", {"INT_ALU", "INT_MUL", "INT_DIV"}, units.integer},
                                      {"sp", {"FP32"}, "SP_UNIT"},
                                      {"dp", {"FP64"}, units.dp},
                                      {"sfu", {"SFU", "FP32_DIV", "FP64_DIV"}, "SFU_UNIT"},
                                      {"tensor", {"TENSOR"}, units.tensor}};
  for (const Class& one : classes) {
    const std::string name = absl::StrCat("-trace_opcode_latency_initiation_", one.suffix);
    if (!reader.Given(name)) continue;
    const OptionValue option = reader.Take({name}, "");
    const std::vector<uint64_t> numbers = List(reader, option, 2, "LATENCY,INITIATION in cycles");
    for (const std::string& operation : one.operations) {
      timings.Add(operation, numbers[0], numbers[1], one.unit, option.Source());
    }
    reader.Note(kDifferent, option, "figures of machine instructions, used for PTX operations");
  }
  ImportBranchUnit(reader, timings);
}

// How long the operands of an instruction take, and those of a memory instruction on its way to the memory stage.
void ImportOperandReads(OptionReader& reader) {
  const std::string stages = "the stages of GPGPU-Sim's core";
  const OptionValue banks = reader.Take({"-gpgpu_num_reg_banks"}, "8");
  reader.SetNumber("core.units.register_banks", banks);
  const OptionValue steps = reader.Take({"-gpgpu_reg_file_port_throughput"}, "1");
  if (steps.given()) {
    // A step to ask, one to read, and in the one behind it goes to its unit, which takes it in the next cycle and works
    // on it in the one after.
    const uint64_t per_cycle = std::max<uint64_t>(1, reader.Number(steps));
    const std::string source = absl::StrCat(steps.Source(), " (2 steps of collectors, 3 cycles of stages)");
    reader.SetNumber("core.units.operand_steps", steps);
    reader.Set("core.units.operand_read_cycles", 3 + 2 / per_cycle, source);
    reader.Set("core.units.memory_issue_latency", 3 + 2 / per_cycle, source);
  } else {
    reader.Set("core.units.operand_read_cycles", 5, stages);
    // The load-store unit runs last and moves the collectors on: one cycle less than to the other units.
    reader.Set("core.units.memory_issue_latency", 4, stages);
  }
  reader.Set("core.units.write_back_cycles", 1, stages);
  reader.Set("core.units.memory_initiation_interval", 1, "GPGPU-Sim: the load-store unit takes a warp per cycle");
  const OptionValue sub_cores = reader.Take({"-gpgpu_sub_core_model"}, "0");
  if (reader.Flag(sub_cores)) {
    reader.Set("core.units.banks_by_port", "true", sub_cores.Source());
    reader.Note(kDifferent, sub_cores, "schedulers have register banks of their own, but share units and collectors");
  }
  const OptionValue by_warp = reader.Take({"-gpgpu_reg_bank_use_warp_id"}, "0");
  // Since there are steps banks depend on the warp in any case.
  if (!reader.Flag(by_warp) && !steps.given()) {
    reader.Note(kDifferent, by_warp, "the bank of a register depends on the warp, too: (register + warp) mod banks");
  }
  const OptionValue general = reader.Take({"-gpgpu_operand_collector_num_units_gen"}, "0");
  for (const auto& [path, name] : {std::pair{"core.units.sp_collectors", "-gpgpu_operand_collector_num_units_sp"},
                                   std::pair{"core.units.sfu_collectors", "-gpgpu_operand_collector_num_units_sfu"}}) {
    const OptionValue own = reader.Take({name}, "4");
    if (reader.Number(general) == 0 || own.given()) {
      reader.SetNumber(path, own);
    } else {
      reader.SetNumber(path, general);
    }
  }
  if (reader.Number(general) != 0) {
    reader.Note(kDifferent, general, "collectors are per class of units, each class has as many");
  }
}

// Units of their own; none where the configuration has none.
UnitNames ImportOwnUnits(OptionReader& reader) {
  UnitNames names;
  struct Own {
    const char* option;
    const char* path;
    const char* unit;
    std::string& name;
  };
  for (const Own& own : {Own{"-gpgpu_num_int_units", "core.units.integer", "INT_UNIT", names.integer},
                         Own{"-gpgpu_num_dp_units", "core.units.dp", "DP_UNIT", names.dp},
                         Own{"-gpgpu_num_tensor_core_units", "core.units.tensor", "TENSOR_UNIT", names.tensor}}) {
    const OptionValue units = reader.Take({own.option}, "0");
    if (reader.Number(units) == 0) continue;
    reader.SetNumber(own.path, units);
    own.name = own.unit;
  }
  return names;
}

void ImportUnits(OptionReader& reader) {
  reader.SetNumber("core.units.sp", reader.Take({"-gpgpu_num_sp_units"}, "1"));
  reader.SetNumber("core.units.sfu", reader.Take({"-gpgpu_num_sfu_units"}, "1"));
  const UnitNames units = ImportOwnUnits(reader);
  const bool own_integer = units.integer != "SP_UNIT";
  Timings timings(reader);
  // Integer multiplications run on the SFU where there are no integer units.
  timings.AddType("int", "1,1,19,25,145", "1,1,4,4,32", "INT_ALU", "INT_MUL", "INT_DIV", units.integer,
                  own_integer ? units.integer : "SFU_UNIT");
  timings.AddType("fp", "1,1,1,1,30", "1,1,1,1,5", "FP32", "", "FP32_DIV", "SP_UNIT", "");
  timings.AddType("dp", "8,8,8,8,335", "8,8,8,8,130", "FP64", "", "FP64_DIV", units.dp, "");
  const OptionValue sfu = reader.Take({"-ptx_opcode_latency_sfu"}, "8");
  const OptionValue sfu_starts = reader.Take({"-ptx_opcode_initiation_sfu"}, "8");
  timings.Add("SFU", reader.Number(sfu), reader.Number(sfu_starts), "SFU_UNIT",
              absl::StrCat(sfu.Source(), "; ", sfu_starts.Source()));
  if (reader.Given("-ptx_opcode_latency_tesnor") || reader.Given("-ptx_opcode_latency_tensor")) {
    const OptionValue cycles = reader.Take({"-ptx_opcode_latency_tesnor", "-ptx_opcode_latency_tensor"}, "64");
    const OptionValue starts = reader.Take({"-ptx_opcode_initiation_tensor"}, "64");
    timings.Add("TENSOR", reader.Number(cycles), reader.Number(starts), units.tensor,
                absl::StrCat(cycles.Source(), "; ", starts.Source()));
  }
  ImportTraceTimings(reader, units, timings);
  ImportOperandReads(reader);
}

// What Accel-Sim does where it runs traces, and no option says.
void ImportTraceDriven(OptionReader& reader) {
  const std::string source = "Accel-Sim, as trace.config is given: ";
  reader.Set("core.branches", "AT_ISSUE", absl::StrCat(source, "no control hazards"));
  reader.Set("core.atomics_hold", "true", absl::StrCat(source, "a warp waits for its atomics"));
  reader.Set("core.ports_in_turn", "true", absl::StrCat(source, "the first scheduler changes from cycle to cycle"));
  reader.Set("memory.hierarchy.shared.merge_atomics", "true", absl::StrCat(source, "atomics take passes as loads do"));
}

// GPGPU-Sim 3.x and later: instruction buffer, scoreboard, execution units.
void ImportBufferedFrontEnd(OptionReader& reader) {
  const std::string fixed = "GPGPU-Sim";
  reader.Set("core.front_end", "IBUFFER", fixed);
  reader.Set("core.ibuffer.entries", 2, fixed);
  reader.Set("core.ibuffer.fetch_instructions", 2, fixed);
  reader.Set("core.ibuffer.fetch_when", "EMPTY", fixed);
  reader.Set("core.ibuffer.reformed_warp_cycles", 2, "our choice: as long as fetch and decode of others");
  const bool trace_driven = reader.Given("-trace_opcode_latency_initiation_int");
  ImportUnits(reader);
  if (trace_driven) ImportTraceDriven(reader);
  const OptionValue issues = reader.Take({"-gpgpu_max_insn_issue_per_warp"}, "2");
  if (reader.Number(issues) != 1) reader.Note(kNotRepresented, issues, "a scheduler issues one instruction per cycle");
  const OptionValue fetches = reader.Take({"-gpgpu_inst_fetch_throughput"}, "1");
  if (fetches.given()) reader.SetNumber("core.ibuffer.fetches_per_cycle", fetches);
}

// GPGPU-Sim 2.x: one instruction of a warp in flight, as in Fung's thesis.
void ImportSinglePipeline(OptionReader& reader) {
  reader.Set("core.front_end", "THESIS", "GPGPU-Sim 2.x");
  const OptionValue stages = reader.Take({"-gpgpu_pre_mem_stages"}, "0");
  reader.SetNumber("core.thesis.pre_memory_stages", stages);
  reader.Set("core.pipeline_depth", 6 + reader.Number(stages), absl::StrCat("six stages, and ", stages.Source()));
  const OptionValue conflicts = reader.Take({"-gpgpu_reg_bankconflict"}, "0");
  reader.Set("core.thesis.register_bank_penalty", reader.Flag(conflicts) ? "BANK_PENALTY_M" : "BANK_PENALTY_NONE",
             conflicts.Source());
}

}  // namespace

void ImportCore(OptionReader& reader) {
  ImportSms(reader);
  ImportClocks(reader);
  ImportThreads(reader);
  if (reader.version2()) {
    ImportSinglePipeline(reader);
  } else {
    ImportBufferedFrontEnd(reader);
  }
  reader.Set("dispatch.spread_small_grids", "true", "GPGPU-Sim");
  if (!reader.version2()) {
    reader.SetNumber("dispatch.launch_cycles", reader.Take({"-gpgpu_kernel_launch_latency"}, "0"));
  }
}

}  // namespace heddle::tools
