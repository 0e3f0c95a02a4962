#include "tools/study/report/study_json.h"

#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "tools/console/json.h"
#include "tools/study/report/study_profile.h"
#include "tools/study/report/study_series.h"

namespace heddle::tools {
namespace {

using Json = nlohmann::ordered_json;
using machine::v1::Machine;
using result::v1::CacheCounters;
using result::v1::LaunchResult;

// What the roofline view needs: how much the machine could issue and fetch at most.
Json MachineJson(const Study::Machine& entry) {
  const Machine& machine = *entry.machine;
  const machine::v1::Core& core = machine.core();
  const uint64_t warp_size = core.warp_size();
  const uint64_t issue_cycles = core.front_end() == machine::v1::Core::IBUFFER || core.simd_width() == 0
                                    ? 1
                                    : (warp_size + core.simd_width() - 1) / core.simd_width();
  Json json = {{"name", entry.name},
               {"sms", machine.sms()},
               {"warp_size", warp_size},
               {"ports", core.schedulers()},
               {"baseline", entry.baseline},
               {"peak_ipc", static_cast<double>(machine.sms() * core.schedulers() * warp_size) /
                                static_cast<double>(issue_cycles)}};
  if (machine.memory().has_hierarchy() && machine.memory().hierarchy().has_dram()) {
    const machine::v1::Dram& dram = machine.memory().hierarchy().dram();
    const double per_cycle =
        static_cast<double>(dram.controllers()) * dram.chips_per_controller() * dram.bus_bytes() * dram.data_rate();
    const bool clocks = machine.clocks().core_mhz() != 0 && machine.clocks().dram_mhz() != 0;
    const double ratio = clocks ? static_cast<double>(machine.clocks().dram_mhz()) / machine.clocks().core_mhz() : 1.0;
    json["dram_bytes_per_cycle"] = per_cycle * ratio;
    json["dram_access_bytes"] =
        static_cast<uint64_t>(dram.chips_per_controller()) * dram.bus_bytes() * dram.burst_length();
  }
  return json;
}

Json RunJson(const Study::Run& run) {
  Json json = {{"name", run.name},         {"divergence", run.divergence}, {"scheduler", run.scheduler},
               {"dispatch", run.dispatch}, {"fetch", run.fetch},           {"memory", run.memory},
               {"machine", run.machine}};
  Json parameters = Json::object();
  for (const auto& [seam, choice] :
       {std::pair("divergence", &run.first->divergence()), std::pair("scheduler", &run.first->scheduler()),
        std::pair("dispatch", &run.first->dispatch()), std::pair("fetch", &run.first->fetch()),
        std::pair("memory", &run.first->memory())}) {
    if (choice->name().empty()) continue;
    std::map<std::string, std::string> sorted(choice->parameter().begin(), choice->parameter().end());
    parameters[seam] = sorted;
  }
  json["parameters"] = std::move(parameters);
  return json;
}

Json CacheJson(const CacheCounters& cache) {
  return {cache.accesses(), cache.hits(), cache.pending_hits(), cache.misses()};
}

double PerCent(uint64_t part, uint64_t whole) { return 100.0 * static_cast<double>(part) / static_cast<double>(whole); }

// Counts by name, of those that have counted anything.
Json Counters(const google::protobuf::Map<std::string, uint64_t>& counters) {
  Json json = Json::object();
  for (const auto& [name, count] : std::map<std::string, uint64_t>(counters.begin(), counters.end())) {
    if (count != 0) json[name] = count;
  }
  return json;
}

void AddMemory(const Study::Cell& cell, Json& json) {
  const LaunchResult& sum = cell.sum;
  if (sum.l1_data().accesses() != 0) json["l1"] = CacheJson(sum.l1_data());
  if (sum.l2().cache().accesses() != 0) json["l2"] = CacheJson(sum.l2().cache());
  if (sum.has_dram() && sum.dram().cycles() != 0) {
    const result::v1::DramCounters& dram = sum.dram();
    Json& out = json["dram"];
    out["accesses"] = dram.reads() + dram.writes();
    // The sum has the number of controllers once per launch.
    out["bus"] = PerCent(dram.bus_busy(), dram.cycles() * cell.launches[0]->dram().controllers());
    if (const uint64_t requests = dram.read_requests() + dram.write_requests(); requests != 0) {
      out["row_hits"] = PerCent(dram.row_hits(), requests);
    }
    if (dram.active_cycles() != 0) {
      out["banks"] = static_cast<double>(dram.active_banks_sum()) / static_cast<double>(dram.active_cycles());
    }
  }
  const result::v1::MemoryInstructions& memory = sum.memory_instructions();
  if (!sum.has_memory_instructions()) return;
  uint64_t transactions = 0;
  uint64_t loads = 0;
  for (const LaunchResult* launch : cell.launches) {
    for (const auto& size : launch->memory_instructions().transactions()) transactions += size.count();
    for (const auto& bin : launch->memory_instructions().load_to_use()) loads += bin.count();
  }
  Json& out = json["memory"];
  out["accesses"] = memory.data_loads() + memory.data_stores() + memory.data_atomics();
  out["transactions"] = transactions;
  out["bank_conflicts"] = memory.shared_passes() - memory.shared_parts();
  if (loads != 0) out["load_to_use"] = static_cast<double>(memory.load_to_use_sum()) / static_cast<double>(loads);
}

Json CellJson(const Study& study, const Study::Cell& cell) {
  const LaunchResult& sum = cell.sum;
  const uint64_t warp_size = study.machines[study.runs[cell.run].machine].machine->core().warp_size();
  Json json = {{"k", cell.kernel},
               {"r", cell.run},
               {"cycles", cell.mean_cycles()},
               {"wi", sum.warp_instructions()},
               {"ti", sum.thread_instructions()}};
  if (cell.seeds.size() > 1) {
    const auto [least, most] = std::minmax_element(cell.cycles.begin(), cell.cycles.end());
    json["range"] = {*least, *most, cell.seeds.size()};
  }
  if (sum.cycles() != 0)
    json["ipc"] = static_cast<double>(sum.thread_instructions()) / static_cast<double>(sum.cycles());
  if (sum.warp_instructions() != 0) {
    json["activity"] = PerCent(sum.thread_instructions(), sum.warp_instructions() * warp_size);
  }
  if (cell.depth_utilisation.has_value()) json["depth"] = *cell.depth_utilisation;
  json["sizes"] = std::vector<uint64_t>(sum.issues_by_size().begin(), sum.issues_by_size().end());
  const result::v1::SchedulerCycles& ports = sum.scheduler_cycles();
  json["ports"] = {ports.issued(), ports.stall(), ports.memory(), ports.idle()};
  if (sum.has_stalls()) json["stalls"] = StallList(sum.stalls());
  const result::v1::IdleThreads& idle = sum.idle_threads();
  json["threads"] = {idle.dependency(),   idle.barrier(),  idle.inactive(),
                     idle.reconverging(), idle.finished(), idle.ready()};
  AddMemory(cell, json);
  Json counters = Json::object();
  for (const auto& [seam, map] :
       {std::pair("divergence", &sum.divergence_counter()), std::pair("scheduler", &sum.scheduler_counter()),
        std::pair("dispatch", &sum.dispatch_counter()), std::pair("fetch", &sum.fetch_counter()),
        std::pair("memory", &sum.memory_counter())}) {
    if (Json values = Counters(*map); !values.empty()) counters[seam] = std::move(values);
  }
  if (!counters.empty()) json["counters"] = std::move(counters);
  return json;
}

Json KernelJson(const Study::Kernel& kernel, const LaunchResult& any, size_t launches) {
  return {{"name", kernel.name},  {"kernel", kernel.kernel}, {"trace", kernel.trace},    {"digest", kernel.digest},
          {"launches", launches}, {"blocks", any.blocks()},  {"threads", any.threads()}, {"barriers", any.barriers()}};
}

}  // namespace

Json StudyJson(const Study& study, const std::vector<std::string>& source_folders, const StudyLimits& limits) {
  Json json = {{"heddle", HEDDLE_VERSION},
               {"machines", Json::array()},
               {"runs", Json::array()},
               {"kernels", Json::array()},
               {"cells", Json::array()}};
  for (const Study::Machine& machine : study.machines) json["machines"].push_back(MachineJson(machine));
  for (const Study::Run& run : study.runs) json["runs"].push_back(RunJson(run));

  // Courses over time share one width of bins per kernel, so that runs can be laid side by side.
  const size_t with_series =
      static_cast<size_t>(std::count_if(study.cells.begin(), study.cells.end(), [](const Study::Cell& cell) {
        return std::any_of(cell.launches.begin(), cell.launches.end(),
                           [](const auto* l) { return l->has_time_series(); });
      }));
  const size_t with_warps =
      static_cast<size_t>(std::count_if(study.cells.begin(), study.cells.end(), [](const Study::Cell& cell) {
        return std::any_of(cell.launches.begin(), cell.launches.end(),
                           [](const auto* l) { return l->warp_timeline_size() > 0; });
      }));
  const size_t points = std::clamp<size_t>(limits.series_points / std::max<size_t>(with_series, 1), 40, 200);
  const size_t phases = limits.phases / std::max<size_t>(with_warps, 1);

  std::vector<std::vector<const Study::Cell*>> of_kernel(study.kernels.size());
  for (const Study::Cell& cell : study.cells) of_kernel[cell.kernel].push_back(&cell);
  SourceLines sources(source_folders);
  for (size_t k = 0; k < study.kernels.size(); ++k) {
    const Study::Cell& first = *of_kernel[k][0];
    Json kernel = KernelJson(study.kernels[k], first.sum, first.launches.size());
    const HotInstructions hot(of_kernel[k], limits.instructions);
    if (!hot.empty()) kernel["instructions"] = hot.Describe(sources);
    const uint64_t width = SeriesWidth(of_kernel[k], points);
    json["kernels"].push_back(std::move(kernel));
    for (const Study::Cell* cell : of_kernel[k]) {
      Json out = CellJson(study, *cell);
      if (Json profile = hot.Profile(*cell); !profile.is_null()) out["hot"] = std::move(profile);
      if (Json series = SeriesJson(*cell, width); !series.is_null()) out["series"] = std::move(series);
      if (Json warps = WarpsJson(*cell, phases); !warps.is_null()) out["warps"] = std::move(warps);
      json["cells"].push_back(std::move(out));
    }
  }
  json["notes"] = study.notes;
  return json;
}

}  // namespace heddle::tools
